"""Where a study runs, before anything does."""

from collections.abc import Sequence
from pathlib import Path

from sparkcast.engines import Capacity, Engine, engine_for
from sparkcast.errors import CapacityError, SparkcastError, StudyError
from sparkcast.runs.stream import configurations_of, with_arrivals
from sparkcast.study import Configuration, Study
from sparkcast.study.arrivals import ARRIVAL_RATE
from sparkcast.workloads import Shape, Submitted, Workload, complete, is_property, settings_of, shape_of, workload_of


class Site:
    """Where a study runs, before anything does: its workload, its cluster, and what these cannot do."""

    def __init__(self, study: Study) -> None:
        self.study = with_arrivals(study)
        self.workload = workload_of(study)
        self._engine: Engine | None = None
        self._capacity: Capacity | None = None

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            self._engine = engine_for(self.study.spark)
        return self._engine

    def require(self, configurations: Sequence[Configuration]) -> None:
        """Raise when one of these cannot be run: StudyError for the workload, CapacityError for the cluster."""
        jobs = self._jobs(configurations)
        for configuration in jobs:
            checked(self.workload, configuration)
        require_capacity(self.engine, [shape_of(self.workload, configuration) for configuration in jobs])

    def possible(self, configurations: Sequence[Configuration]) -> list[Configuration]:
        """Those that can be run of what the rules allow; the cluster is shaped for them."""
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
        return StudyError(f"the rule {excluding[0]!r} excludes it") if excluding else self._obstacle(configuration)

    def _obstacle(self, configuration: Configuration) -> SparkcastError | None:
        known = {setting.name: setting for setting in settings_of(self.workload)}
        try:
            for name, level in configuration.items():
                if not is_property(name) and name != ARRIVAL_RATE:
                    known[name].check(level)
            for job in self._jobs([configuration]):
                checked(self.workload, job)
                if self._capacity is not None:
                    self._capacity.require(shape_of(self.workload, job))
        except (StudyError, CapacityError) as error:
            return error
        return None

    def _shape(self, configurations: Sequence[Configuration]) -> None:
        self._capacity = self.engine.capacity([shape_of(self.workload, c) for c in self._jobs(configurations)])

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


def require_capacity(engine: Engine, shapes: Sequence[Shape]) -> None:
    capacity = engine.capacity(shapes)
    for shape in shapes:
        if capacity is not None:
            capacity.require(shape)
