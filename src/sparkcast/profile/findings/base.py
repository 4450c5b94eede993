"""What a finding is, and what families look at."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sparkcast.eventlogs import LogRead, Stage
from sparkcast.facts import AppFacts, Attribution, CoreHours, StageFacts
from sparkcast.facts.attribution import StageKey
from sparkcast.profile.thresholds import Thresholds
from sparkcast.study.application import Part

# Public prices of machines that are composed freely: a core costs about as much as 7.5 GiB of memory.
GIB_PER_CORE = 7.5
RUN = (Part.CPU, Part.GC, Part.FETCH_WAIT, Part.SHUFFLE_WRITE, Part.SPILL, Part.UNINSTRUMENTED)
_MOST_STAGES = 3  # named in one sentence


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that could be better. It costs seconds of the application's life, or core-hours, or both."""

    name: str  # "skew", "spill", ...: stable, for programs
    problem: str  # a sentence with the numbers
    fix: str  # what to do: the setting or the change, as a sentence
    cost_s: float = 0.0
    cost_core_hours: float = 0.0
    evidence: Mapping[str, float] | None = None
    stage_ids: tuple[int, ...] = ()
    is_failure: bool = False  # something broke: told first
    is_news: bool = False  # told even when it cost little this time: an executor died, a job failed
    operator: str = ""  # of a query, that it is about: "SortMergeJoin customer_id"
    values: Mapping[str, str] = field(default_factory=dict)  # that the fix names: settings, or arguments of calls


@dataclass(frozen=True)
class Evidence:
    log: LogRead
    facts: AppFacts
    thresholds: Thresholds

    @property
    def attribution(self) -> Attribution:
        return self.facts.attribution

    @property
    def stages(self) -> tuple[StageFacts, ...]:
        return self.facts.stages

    @property
    def cores(self) -> CoreHours:
        return self.facts.core_hours

    @property
    def wall_s(self) -> float:
        return self.facts.span.wall_s

    @property
    def n_slots(self) -> float:
        """The most there were at once."""
        return max(self.facts.shape.slots, 1.0)

    @cached_property
    def settings(self) -> Mapping[str, str]:
        return self.log.environment.spark

    def setting(self, name: str, default: str) -> str:
        """As the last query has it: a session can change what an application was started with."""
        for query in reversed(self.log.sql_executions):
            if name in query.modified_configs:
                return query.modified_configs[name]
        return self.settings.get(name, default)

    @cached_property
    def streaming_jobs(self) -> frozenset[int]:
        """Micro-batches: Spark describes them by the query's and the run's id."""
        return frozenset(job.job_id for job in self.log.jobs if "\nrunId = " in job.description)

    def is_stream(self) -> bool:
        return len(self.streaming_jobs) * 2 > len(self.log.jobs)

    @cached_property
    def logged(self) -> Mapping[StageKey, Stage]:
        return {stage.key: stage for stage in self.log.stages}

    def seconds(self, *parts: Part) -> float:
        return sum(self.attribution.total[part] for part in parts)

    @property
    def at_work_s(self) -> float:
        """The time in which stages run."""
        return self.attribution.at_work_s

    def weight(self, finding: Finding) -> float:
        """Its cost as a share of what there was."""
        of_time = finding.cost_s / self.wall_s
        paid = self.cores.paid + self.cores.gib_hours / GIB_PER_CORE
        of_cores = finding.cost_core_hours / paid if paid > 0 else 0.0
        return of_time or of_cores

    def is_worth_telling(self, finding: Finding) -> bool:
        weight, limits = self.weight(finding), self.thresholds
        return weight >= limits.cost and weight * self.wall_s >= limits.cost_s

    def is_local(self) -> bool:
        return self.facts.shape.is_local

    def by_place(self, *, cluster: str, local: str) -> str:
        """Advice for a cluster, or for local mode, in which the driver is the one executor."""
        return local if self.is_local() else cluster


def part_of(stage: StageFacts, *parts: Part) -> float:
    return sum(stage.parts[part.value] for part in parts)


def costliest(stages: Iterable[StageFacts], cost: Callable[[StageFacts], float]) -> list[StageFacts]:
    return sorted(stages, key=lambda stage: -cost(stage))


def named(stages: Sequence[StageFacts]) -> str:
    """`stage 3`, or `stages 3, 5, 9 and 4 more`."""
    ids = [str(number) for number in dict.fromkeys(stage.stage_id for stage in stages)]
    if len(ids) == 1:
        return f"stage {ids[0]}"
    shown, rest = ids[:_MOST_STAGES], len(ids) - _MOST_STAGES
    return (
        f"stages {', '.join(shown)} and {rest} more" if rest > 0 else f"stages {', '.join(shown[:-1])} and {shown[-1]}"
    )


def stages_have(stages: Sequence[StageFacts]) -> str:
    """The beginning of a sentence: `Stage 3 has`, or `42 stages have`."""
    n = len({stage.stage_id for stage in stages})
    return f"Stage {stages[0].stage_id} has" if n == 1 else f"{n} stages have"


def ids(stages: Iterable[StageFacts]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(stage.stage_id for stage in stages))


def of(count: float, noun: str) -> str:
    """`1 task`, `1,200 tasks`."""
    return f"{count:,.0f} {noun}" + ("" if round(count) == 1 else "s")
