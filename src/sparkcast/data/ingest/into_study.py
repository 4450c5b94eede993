"""Into a study: runs of its job, by its settings, beside those that it measures itself.

A study is about one job. An application belongs to it when its log tells everything that the study varies, and does not
contradict what that holds fixed. Numbers between and beyond the levels of the study are welcome: there is more to learn
from. No trial is filled: trials are run in a random order, on one cluster.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sparkcast.data.ingest.destination import IngestedTable, job_of
from sparkcast.data.ingest.observations import configuration_of, observations_beside
from sparkcast.data.ingest.settings import Pattern
from sparkcast.errors import StudyError
from sparkcast.store import results_place
from sparkcast.study import Configuration, Factor, Level, Observation, Role, Study
from sparkcast.units import as_number
from sparkcast.workloads import CLUSTER_SETTINGS, is_property, workload_of


class IntoStudy:
    """The store of a study file."""

    def __init__(self, study: Study) -> None:
        assert study.path is not None
        self._study, self._workload = study, workload_of(study)
        self._place = results_place(study)
        self._names = (*(factor.name for factor in study.factors), *study.fixed)
        self.patterns = tuple(self._arguments())
        self.earlier: Mapping[str, Observation] = {}
        if self._place.exists:
            store = self._place.open()
            try:
                self.earlier = {run.run_id: run for run in store.ingested(study.name)}
            finally:
                store.close()

    def _arguments(self) -> Iterator[Pattern]:
        """How the job is given its settings by the study: that is where they stand on other command lines too."""
        for setting in self._workload.settings:
            option = setting.argument.removesuffix("{}").rstrip(" =")
            if setting.name in self._names and option and "{}" not in option:
                yield Pattern(setting.name, rf"(?:^|\s){re.escape(option)}[ =](\S+)", is_required=False)

    def refuse(self, runs: Sequence[Observation], *, is_chosen: bool) -> Mapping[str, str]:
        reasons = {run.run_id: reason for run in runs if (reason := self._mismatch(run))}
        jobs = Counter(job_of(run) for run in runs if run.run_id not in reasons)
        known = next((job_of(run) for run in self.earlier.values()), None)
        if is_chosen or not jobs:
            return reasons
        if known is None and len(jobs) > 1:
            listed = ", ".join(f"{job!r} ({count})" for job, count in jobs.most_common(5))
            raise StudyError(
                f"the logs are of {len(jobs)} jobs, and study {self._study.name!r} is about one: {listed}",
                hint=f"say which: `job={f'^{re.escape(jobs.most_common(1)[0][0])}$'!r}`",
            )
        own = known or next(iter(jobs))
        return reasons | {
            run.run_id: f"of another job, {job_of(run)!r}; the study has {own!r}"
            for run in runs
            if run.run_id not in reasons and job_of(run) != own
        }

    def _mismatch(self, run: Observation) -> str:
        """Why the settings of a run are not the study's; "" when they are."""
        found = configuration_of(self._in_our_words(run), self._names)
        if missing := [name for name in self._names if name not in found]:
            return f"the log does not say {', '.join(missing)}: add `settings=['{missing[0]}=REGEX']`"
        for name, level in self._study.fixed.items():
            if found[name] != level:
                return f"{name} is {found[name]}, and {level} in the study"
        return next((reason for factor in self._study.factors if (reason := _foreign(factor, found))), "")

    def adapt(self, run: Observation) -> Observation:
        return self._in_our_words(run)

    def _in_our_words(self, run: Observation) -> Observation:
        """Under the study's own names for executors, cores and memory.

        Taken for granted: that it ran alone, and what the study holds fixed and the log does not tell.
        """
        words = self._study.vocabulary
        settings: dict[str, Level] = dict(run.configuration)
        for usual in CLUSTER_SETTINGS:
            name = words.first(usual.role) or usual.name
            if usual.name in settings and name != usual.name:
                settings[name] = settings.pop(usual.name)
            if usual.role is Role.JOBS:
                settings.setdefault(name, 1)
        held = {name: level for name, level in self._study.fixed.items() if not is_property(name)}
        return replace(run, configuration=Configuration({**held, **settings}))

    def write(self, runs: Mapping[str, Observation]) -> tuple[IngestedTable, ...]:
        if not runs:
            return ()
        study = self._study
        changed = [run for run in runs.values() if run != self.earlier.get(run.run_id)]
        if changed:
            store = self._place.open_to_write()
            try:
                store.keep_ingested(study.name, study.measured_definition(), changed)
            finally:
                store.close()
        belonging = observations_beside((), runs.values(), self._names, study.fixed)
        if not belonging:
            return ()
        varied = [f.name for f in study.factors if len({one.configuration[f.name] for one in belonging}) > 1]
        job = job_of(next(iter(runs.values())))
        return (IngestedTable(str(study.path), study.name, job, len(belonging), tuple(varied)),)


def _foreign(factor: Factor, found: Configuration) -> str:
    """A word where the study has numbers, or a category that it does not have."""
    level, is_number = found[factor.name], as_number(found[factor.name]) is not None
    if all(as_number(known) is not None for known in factor.levels):
        return "" if is_number else f"{factor.name} is {level!r}, and a number in the study"
    listed = ", ".join(map(str, factor.levels))
    return "" if level in factor.levels else f"{factor.name} is {level!r}, and one of {listed} in the study"
