"""The runs of a job as numbers: when, how long, how much input, on what."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sparkcast.study import AppRecord, ClusterSpeed, Level, Observation, Role
from sparkcast.study.application import CORE_HOURS, GIB_HOURS, INPUT_BYTES, INPUT_RECORDS, TIME, TOTAL_TIME
from sparkcast.units import as_number
from sparkcast.workloads import CLUSTER_SETTINGS

NAMES = {setting.role: setting.name for setting in CLUSTER_SETTINGS}
# Properties that a run has whether or not anybody chose them, or that speak of one run alone.
_NOT_CHOSEN = ("spark.sql.execution.", "spark.sql.session.", "spark.driver.host", "spark.driver.port")
_DYNAMIC = "spark.dynamicAllocation.enabled"


@dataclass(frozen=True, slots=True)
class RunPoint:
    """One run that ended well."""

    run_id: str
    started_s: float  # since the Unix epoch
    total_s: float  # from submission to exit
    work_s: float  # from the first to the last Spark job
    input_size: float  # bytes; records where no bytes were recorded; 0 where neither was
    executors: int | None  # None: Spark decided, or nobody knows
    cores: int | None  # of an executor
    core_hours: float | None
    gib_hours: float | None
    cluster: str  # that it ran on; "" where nobody knows
    speed: ClusterSpeed | None = field(repr=False)  # of its cluster, where it was measured
    settings: Mapping[str, str] = field(repr=False)  # all that was chosen and says how the job ran
    responses: Mapping[str, float] = field(repr=False)
    record: AppRecord | None = field(default=None, repr=False)

    @property
    def slots(self) -> int | None:
        return self.executors * self.cores if self.executors and self.cores else None


def points_of(runs: Iterable[Observation]) -> tuple[RunPoint, ...]:
    """The runs that ended well, in the order in which they began."""
    found = [_point(run) for run in runs if _is_whole(run)]
    return tuple(sorted(found, key=lambda point: (point.started_s, point.run_id)))


def _is_whole(run: Observation) -> bool:
    is_over = run.origin is None or run.origin.is_complete
    return run.ok and is_over and run.responses.get(TOTAL_TIME, 0.0) > 0 and run.responses.get(TIME, 0.0) > 0


def _point(run: Observation) -> RunPoint:
    told, record = run.responses, run.record
    is_dynamic = is_dynamic_run(run)
    bytes_read = told.get(INPUT_BYTES) or (record.input_bytes if record else 0) or 0
    records = told.get(INPUT_RECORDS) or (record.input_records if record else 0) or 0
    return RunPoint(
        run_id=run.run_id,
        started_s=run.started_at or (record.started_s if record else 0.0),
        total_s=told[TOTAL_TIME],
        work_s=told[TIME],
        input_size=float(bytes_read or records),
        executors=None if is_dynamic else whole(run.configuration.get(NAMES[Role.MACHINES])),
        cores=whole(run.configuration.get(NAMES[Role.CORES])),
        core_hours=told.get(CORE_HOURS),
        gib_hours=told.get(GIB_HOURS),
        cluster=place_of(run),
        speed=run.fingerprint.speed if run.fingerprint is not None else None,
        settings=chosen_settings(run),
        responses=told,
        record=record,
    )


def place_of(run: Observation) -> str:
    """The cluster that it ran on; "" where nothing tells it: a loopback address says nothing."""
    return run.fingerprint.cluster if run.fingerprint is not None else ""


def is_dynamic_run(run: Observation) -> bool:
    """Whether Spark itself decided how many executors there were."""
    if run.record is not None:
        return run.record.is_dynamic
    return run.origin is not None and run.origin.properties.get(_DYNAMIC, "").lower() == "true"


def chosen_settings(run: Observation) -> dict[str, str]:
    """The executors that it had, and the properties that say how it ran."""
    given = run.origin.properties if run.origin is not None else {}
    found = {name: value for name, value in given.items() if not name.startswith(_NOT_CHOSEN)}
    skipped = {NAMES[Role.MACHINES]} if is_dynamic_run(run) else set()
    moved = {INPUT_BYTES, INPUT_RECORDS}  # how much there was to read is no choice
    found |= {n: str(v) for n, v in run.configuration.items() if n not in skipped and n not in moved}
    return found


def whole(level: Level | None) -> int | None:
    number = None if level is None else as_number(level)
    return int(number) if number is not None and number >= 1 else None


def usual(values: Sequence[int | None]) -> int | None:
    """The most frequent one of the last runs; of several the latest."""
    counted = Counter(values[-10:])
    return max(reversed(values[-10:]), key=lambda value: counted[value]) if values else None
