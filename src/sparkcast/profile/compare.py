"""Two runs side by side: what changed in settings, and where the time went that one has more than the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkcast.display import Displayed, frame_of, plain_row
from sparkcast.facts.stages import StageFacts, short_name
from sparkcast.profile.profile import Profile

# Differ from run to run and change nothing: where a run happened, not how.

if TYPE_CHECKING:
    import pandas as pd

_OF_THE_RUN = (
    *("spark.app.id", "spark.app.startTime", "spark.app.submitTime", "spark.app.initial", "spark.driver.host"),
    *("spark.driver.port", "spark.driver.bindAddress", "spark.executorEnv.SPARK_DRIVER_POD_IP", "spark.ui"),
    *("spark.eventLog", "spark.history", "spark.yarn.app", "spark.org.apache.hadoop.yarn", "spark.repl.class"),
    *("spark.sql.warehouse.dir", "spark.kubernetes.submitInDriver", "spark.kubernetes.driver.pod.name"),
    *("spark.kubernetes.executor.label", "spark.kubernetes.driver.label", "spark.kubernetes.executor.podNamePrefix"),
    *("spark.executor.extraJavaOptions", "spark.driver.extraJavaOptions", "spark.submit", "spark.executor.id"),
    "spark.yarn.historyServer",
)


@dataclass(frozen=True, slots=True)
class SettingChange:
    name: str
    before: str | None  # None where it is not set
    after: str | None


@dataclass(frozen=True, slots=True)
class StageChange:
    """A stage in both runs, or in one. Seconds are those of the application's life."""

    name: str
    before_id: int | None
    after_id: int | None
    before_s: float
    after_s: float
    parts: Mapping[str, float]  # after minus before

    @property
    def more_s(self) -> float:
        return self.after_s - self.before_s

    @property
    def short_name(self) -> str:
        return short_name(self.name)


@dataclass(frozen=True, slots=True)
class LogComparison(Displayed):
    """What is different in `after`; `parts` and `stages` explain `more_s`, and each adds up to it."""

    before: Profile
    after: Profile
    more_s: float
    more_share: float  # of the time before
    parts: Mapping[str, float]
    settings: tuple[SettingChange, ...]
    stages: tuple[StageChange, ...]  # the largest changes first
    outside_stages_s: float  # the driver's, before and between jobs

    def frame(self) -> "pd.DataFrame":
        """A row for each stage, with the seconds that its parts take more."""
        return frame_of({**plain_row(stage), "more_s": stage.more_s, **stage.parts} for stage in self.stages)


def compare(before: Profile, after: Profile) -> LogComparison:
    stages = _stage_changes(before.stages, after.stages)
    more = after.wall_s - before.wall_s
    return LogComparison(
        before=before,
        after=after,
        more_s=more,
        more_share=more / before.wall_s,
        parts={part: after.parts[part] - before.parts[part] for part in before.parts},
        settings=setting_changes(before.settings, after.settings),
        stages=stages,
        outside_stages_s=more - sum(stage.more_s for stage in stages),
    )


def setting_changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[SettingChange, ...]:
    names = [name for name in sorted({*before, *after}) if not is_of_the_run(name)]
    return tuple(
        SettingChange(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    )


def is_of_the_run(name: str) -> bool:
    """A property that says where and when a run happened, not how."""
    return name.startswith(_OF_THE_RUN)


def _stage_changes(before: Sequence[StageFacts], after: Sequence[StageFacts]) -> tuple[StageChange, ...]:
    """Stages of one name are matched in the order in which they ran: their numbers shift when a job is added."""
    waiting: dict[str, list[StageFacts]] = {}
    for stage in before:
        waiting.setdefault(stage.name, []).append(stage)
    changes = []
    for stage in after:
        same = waiting.get(stage.name)
        changes.append(_change(same.pop(0) if same else None, stage))
    changes += [_change(stage, None) for stages in waiting.values() for stage in stages]
    return tuple(sorted(changes, key=lambda change: -abs(change.more_s)))


def _change(before: StageFacts | None, after: StageFacts | None) -> StageChange:
    one = after or before
    assert one is not None
    parts = {
        part: (after.parts[part] if after else 0.0) - (before.parts[part] if before else 0.0) for part in one.parts
    }
    return StageChange(
        one.name,
        before.stage_id if before else None,
        after.stage_id if after else None,
        before.wall_s if before else 0.0,
        after.wall_s if after else 0.0,
        parts,
    )
