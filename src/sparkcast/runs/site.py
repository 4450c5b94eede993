"""Where a study runs, before anything does."""

from collections.abc import Sequence
from pathlib import Path

from sparkcast.engines import ClusterCapacity, Engine, engine_for
from sparkcast.engines.conf import shape_with
from sparkcast.errors import CapacityError, SparkcastError, StudyError
from sparkcast.runs.control import require_control
from sparkcast.runs.room import require_room
from sparkcast.runs.stream import configurations_of, with_arrivals
from sparkcast.study import Configuration, Study
from sparkcast.study.arrivals import ARRIVAL_RATE
from sparkcast.workloads import (
    Shape,
    Submitted,
    Workload,
    complete,
    is_property,
    settings_of,
    shape_of,
    vocabulary_of,
    workload_of,
)


class Site:
    """Where a study runs, before anything does: its workload, its cluster, and what these cannot do."""

    def __init__(self, study: Study) -> None:
        self.study = with_arrivals(study)
        self.workload = workload_of(study)
        self._engine: Engine | None = None
        self._capacity: ClusterCapacity | None = None
        self._accepted: list[Configuration] = []  # jobs among which settings of the cluster vary as they may
        self.notes: tuple[str, ...] = ()  # what to know of runs here

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            self._engine = engine_for(self.study.spark)
        return self._engine

    def require(self, configurations: Sequence[Configuration], waiting: Sequence[Configuration] | None = None) -> None:
        """Raise when one of these cannot be run: StudyError for the workload, CapacityError for the cluster.

        The cluster is shaped for all of them; room is needed only for those `waiting` to run, by default all.
        """
        jobs = self._jobs(configurations)
        for configuration in jobs:
            checked(self.workload, configuration)
        self.notes = require_control(self.study, self.workload, jobs)
        self._shape(configurations)
        if self._capacity is not None:
            trials = [[self.shape(job) for job in self._jobs([one])] for one in waiting or configurations]
            require_room(vocabulary_of(self.workload), self._capacity, trials)

    def shape(self, job: Configuration) -> Shape:
        """What a job asks of the cluster, the user's own properties included."""
        return shape_with(shape_of(self.workload, job), self.study.spark.conf)

    def possible(self, configurations: Sequence[Configuration]) -> list[Configuration]:
        """Those that can be run of what the rules allow; the cluster is shaped for them.

        Raises StudyError when settings that vary among them would have no effect.
        """
        self._accepted = self._jobs(configurations)
        self.notes = require_control(self.study, self.workload, self._accepted)
        self._shape(configurations)
        found = [configuration for configuration in configurations if self._obstacle(configuration) is None]
        self._shape(found)
        return found

    def refusal(self, configuration: Configuration) -> SparkcastError | None:
        """Why these settings cannot be run: a level, a rule, the workload or the size of the cluster. Else None."""
        try:
            excluding = [rule.text for rule in self.study.rules if not rule.evaluate(configuration)]
        except StudyError as error:
            return error
        if excluding:
            return StudyError(f"the rule {excluding[0]!r} excludes it")
        return self._obstacle(configuration) or self._ineffective(configuration)

    def _ineffective(self, configuration: Configuration) -> StudyError | None:
        """Settings that no candidate has may differ from theirs where that changes nothing."""
        try:
            require_control(self.study, self.workload, [*self._accepted[:1], *self._jobs([configuration])])
        except StudyError as error:
            return error
        return None

    def _obstacle(self, configuration: Configuration) -> SparkcastError | None:
        known = {setting.name: setting for setting in settings_of(self.workload)}
        try:
            for name, level in configuration.items():
                if not is_property(name) and name != ARRIVAL_RATE:
                    known[name].check(level)
            for job in self._jobs([configuration]):
                checked(self.workload, job)
                if self._capacity is not None:
                    self._capacity.require(self.shape(job))
        except (StudyError, CapacityError) as error:
            return error
        return None

    def _shape(self, configurations: Sequence[Configuration]) -> None:
        self._capacity = self.engine.capacity([self.shape(job) for job in self._jobs(configurations)])

    def _jobs(self, configurations: Sequence[Configuration]) -> list[Configuration]:
        """The settings of single jobs: those of a stream may differ."""
        return [job for configuration in configurations for job in configurations_of(self.study, configuration)]


def checked(workload: Workload, configuration: Configuration) -> Configuration:
    """The complete settings; raises StudyError when the workload cannot run them."""
    settings = complete(workload, configuration)
    workload.check(settings)
    if isinstance(workload, Submitted):
        workload.application(settings, Path())  # is it there?
    return settings
