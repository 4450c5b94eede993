"""A generated fleet: recurring jobs whose laws are known, as real event log files.

What is real: every line is a line of a log that Spark wrote (`--data DIR`, logs of Spark SQL applications), with other
ids, moments, sizes and names. What is made up: the laws below, from which moments and sizes follow.

- A job is 2 to 6 queries of the logs, in an order of its own. Each of its stages has a share of the job's work.
- It runs on 97 % of days, at its own hour, on 2 to 16 executors of 1 to 4 cores.
- It reads `base_gb * (1 + growth) ** (day / 30) * weekday * lognormal(10%)`: growth of -2 to 10 % a month, on weekends
  30 to 100 %.
- A stage takes `(fixed_s + work_s * gb / base_gb / slots) * noise`, work spread over its tasks. The noise is lognormal
  with one sigma of 3 to 15 % for each job, the same for all stages of a run.
- 30 regressions: from a day on, the stage with the most work takes so much longer that all stages of the job together
  take 10 to 50 % longer at the same input.
- 20 changes of settings, at other jobs: spark.sql.shuffle.partitions (stages take a factor of 0.8 to 1.3), executors
  (work is spread over twice the slots), spark.executor.memory (nothing changes).
- Ten jobs have the same application name; names carry dates, ids and counters in a dozen ways, and some a number that
  means something (`export_eu_3`).
"""

import copy
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sparkcast.eventlogs import find_logs
from sparkcast.eventlogs.codecs import decompressed

BEGIN = datetime(2026, 8, 3, tzinfo=UTC)  # a Monday
GIB = 1024**3
SHARED_NAME = "pipeline"
_NAMES = {  # how the application of a run is called: job, day, number of the run, random hexadecimal digits
    "plain": "{job}",
    "date": "{job}_{day:%Y-%m-%d}",
    "date-first": "{day:%Y%m%d}-{job}",
    "stamp": "{job} {day:%Y-%m-%dT%H:%M:%S}",
    "stamp-underscores": "{job}_{day:%Y_%m_%d_%H_%M_%S}",
    "epoch": "{job}-{epoch}",
    "uuid": "{job} {hex8}-{hex4}-4{hex3}-a{hex3}-{hex12}",
    "commit": "{job}@{hex7}a1",
    "counter": "{job} #{number}",
    "run": "{job} run {number}",
    "airflow": "scheduled__{day:%Y-%m-%dT%H:%M:%S}+00:00.{job}",
    "suffix": "{job}-{number}",
}
_WORDS = (
    "orders clicks users sessions invoices events ads stock returns payments search carts sensors tickets emails churn "
    "fraud pricing catalog shipments"
).split()
_DEEDS = "load clean join score train export dedupe aggregate index report".split()


@dataclass(frozen=True)
class StageLaw:
    fixed_s: float
    work_s: float  # core-seconds at the base input
    shuffle: float  # bytes written to the shuffle, for a byte of input


@dataclass(frozen=True)
class FleetJob:
    number: int
    job: str  # the truth: what all of its runs are
    style: str  # of its names
    shared: bool  # called as other jobs are
    blocks: tuple[int, ...]
    stages: tuple[StageLaw, ...]  # of all its blocks
    base_gb: float
    growth: float
    weekend: float
    sigma: float
    hour: float
    executors: int
    cores: int
    memory_gb: int
    partitions: int
    first_number: int  # of its counter


@dataclass(frozen=True)
class Regression:
    job: str
    day: int  # the first on which it shows
    factor: float  # of the time of the job at the same input
    stage: int


@dataclass(frozen=True)
class SettingChange:
    job: str
    day: int
    name: str
    before: str
    after: str
    factor: float  # of the work of every stage, beside what other slots do


@dataclass(frozen=True)
class FleetRun:
    """One application, with the truth about it."""

    job: FleetJob
    number: int
    app_id: str
    name: str
    started: datetime
    input_bytes: int
    executors: int
    properties: Mapping[str, str]
    stage_s: tuple[float, ...]
    noise: float
    expected_s: float  # the time of its stages without noise

    @property
    def time_s(self) -> float:
        return sum(self.stage_s)


@dataclass(frozen=True)
class Fleet:
    jobs: tuple[FleetJob, ...]
    regressions: tuple[Regression, ...]
    changes: tuple[SettingChange, ...]
    days: int
    seed: int
    _regression: Mapping[str, Regression] = field(default_factory=dict, repr=False)
    _change: Mapping[str, SettingChange] = field(default_factory=dict, repr=False)

    def runs(self) -> list[FleetRun]:
        """All runs, in order of their start."""
        made = [run for job in self.jobs for run in self._runs_of(job)]
        return sorted(made, key=lambda run: run.started)

    def _runs_of(self, job: FleetJob) -> Iterator[FleetRun]:
        draw = random.Random(f"{self.seed}/{job.number}")
        number = job.first_number
        for day in range(self.days):
            if draw.random() < 0.03:  # a day off
                continue
            yield self._run(job, day, number, draw)
            number += 1

    def _run(self, job: FleetJob, day: int, number: int, draw: random.Random) -> FleetRun:
        started = BEGIN + timedelta(days=day, hours=job.hour, seconds=draw.randrange(900))
        weekly = job.weekend if started.weekday() >= 5 else 1.0
        gb = job.base_gb * (1 + job.growth) ** (day / 30) * weekly * draw.lognormvariate(0.0, 0.1)
        change = self._change.get(job.job)
        changed = change if change is not None and day >= change.day else None
        executors, properties, factor = _settings(job, changed)
        slots = executors * job.cores
        times = [one.fixed_s + one.work_s * gb / job.base_gb / slots * factor for one in job.stages]
        regression = self._regression.get(job.job)
        if regression is not None and day >= regression.day:
            times[regression.stage] += (regression.factor - 1) * sum(times)
        noise = draw.lognormvariate(0.0, job.sigma)
        digits = f"{draw.getrandbits(160):040x}"
        name = _NAMES[job.style].format(
            job=SHARED_NAME if job.shared else job.job,
            day=started,
            number=number,
            epoch=int(started.timestamp()),
            hex12=digits[:12],
            hex8=digits[12:20],
            hex4=digits[20:24],
            hex3=digits[24:27],
            hex7=digits[27:34],
        )
        return FleetRun(
            job,
            number,
            f"application_{int(BEGIN.timestamp() * 1000)}_{job.number:03d}{day:03d}",
            name,
            started,
            int(gb * GIB),
            executors,
            properties,
            tuple(one * noise for one in times),
            noise,
            sum(times),
        )


def _settings(job: FleetJob, change: SettingChange | None) -> tuple[int, dict[str, str], float]:
    executors = job.executors
    properties = {
        "spark.executor.cores": str(job.cores),
        "spark.executor.memory": f"{job.memory_gb}g",
        "spark.sql.shuffle.partitions": str(job.partitions),
    }
    if change is None:
        return executors, properties | {"spark.executor.instances": str(executors)}, 1.0
    if change.name == "spark.executor.instances":
        executors = int(change.after)
    return (
        executors,
        properties | {"spark.executor.instances": str(executors), change.name: change.after},
        change.factor,
    )


def make_fleet(templates: "Templates", *, jobs: int = 200, days: int = 90, seed: int = 1, shared: int = 10) -> Fleet:
    """The first `shared` jobs have one name. A job has at most one regression or change, in the middle of the days."""
    draw = random.Random(f"fleet {seed}")
    made = tuple(_job(number, number < shared, templates, draw) for number in range(jobs))
    order = draw.sample(made, jobs)
    n_regressions, n_changes = round(0.15 * jobs), round(0.10 * jobs)
    regressions = tuple(_regression(job, days, draw) for job in order[:n_regressions])
    changes = tuple(_change(job, days, draw) for job in order[n_regressions : n_regressions + n_changes])
    return Fleet(
        made,
        regressions,
        changes,
        days,
        seed,
        {one.job: one for one in regressions},
        {one.job: one for one in changes},
    )


def _job(number: int, shared: bool, templates: "Templates", draw: random.Random) -> FleetJob:
    blocks = tuple(draw.sample(range(len(templates.blocks)), draw.randint(2, min(6, len(templates.blocks)))))
    n_stages = sum(len(templates.blocks[block].stages) for block in blocks)
    cores, executors = draw.choice((1, 2, 4)), draw.choice((2, 3, 4, 6, 8, 12, 16))
    total_s = draw.lognormvariate(5.5, 0.9)  # four minutes in the middle
    shares = [draw.expovariate(1.0) + 0.05 for _ in range(n_stages)]
    stages = tuple(
        StageLaw(
            0.1 * total_s * one / sum(shares), 0.9 * total_s * executors * cores * one / sum(shares), draw.random()
        )
        for one in shares
    )
    deed, word = draw.choice(_DEEDS), draw.choice(_WORDS)
    job = (
        f"{deed}_{word}_{number % 7}"
        if number % 5 == 4
        else f"{deed} {word} {chr(97 + number % 26)}{chr(97 + number // 26)}"
    )
    return FleetJob(
        number,
        job if number % 5 != 4 else f"{job}{chr(97 + number // 26)}_{number % 9 + 1}",
        "plain" if shared else "plain" if number % 5 == 4 else draw.choice(list(_NAMES)),
        shared,
        blocks,
        stages,
        draw.lognormvariate(3.0, 1.2),
        draw.uniform(-0.02, 0.10),
        draw.uniform(0.3, 1.0),
        draw.uniform(0.03, 0.15),
        draw.uniform(0.0, 23.5),
        executors,
        cores,
        draw.choice((4, 8, 16)),
        draw.choice((100, 200, 400)),
        draw.randrange(1, 500),
    )


def _regression(job: FleetJob, days: int, draw: random.Random) -> Regression:
    longest = max(range(len(job.stages)), key=lambda place: job.stages[place].work_s)
    return Regression(job.job, draw.randrange(days // 5, days * 4 // 5), draw.uniform(1.1, 1.5), longest)


def _change(job: FleetJob, days: int, draw: random.Random) -> SettingChange:
    day = draw.randrange(days // 5, days * 4 // 5)
    kind = draw.randrange(3)
    if kind == 0:
        more = str(job.partitions * draw.choice((2, 4)))
        name, before, after, factor = "spark.sql.shuffle.partitions", str(job.partitions), more, draw.uniform(0.8, 1.3)
    elif kind == 1:
        name, before, after, factor = "spark.executor.instances", str(job.executors), str(2 * job.executors), 1.0
    else:
        name, before, after, factor = "spark.executor.memory", f"{job.memory_gb}g", f"{2 * job.memory_gb}g", 1.0
    return SettingChange(job.job, day, name, before, after, factor)


# ---------------------------------------------------------------- logs


@dataclass(frozen=True)
class Block:
    """One query of a log: its lines as documents, tasks left out, and a task of each of its stages."""

    events: tuple[dict[str, Any], ...]
    stages: tuple[int, ...]
    tasks: Mapping[int, dict[str, Any]]
    shuffles: frozenset[int]  # stages that write to the shuffle
    reader: int | None  # a stage that reads nothing from the cache


@dataclass(frozen=True)
class Templates:
    head: tuple[dict[str, Any], ...]  # log start, resource profile, environment, application start
    executor: dict[str, Any]
    blocks: tuple[Block, ...]


_IDS = {  # what numbers mean that have to be others in every block
    "Stage ID": "stage",
    "Parent IDs": "",
    "Stage IDs": "stage",
    "Job ID": "job",
    "executionId": "query",
    "rootExecutionId": "query",
    "RDD ID": "rdd",
    "accumulatorId": "accumulator",
    "ID": "accumulator",
}


def read_templates(folder: Path) -> Templates:
    """The queries of all logs of Spark SQL applications in the folder that ran without errors and have few tasks."""
    head: dict[str, dict[str, Any]] = {}
    executor: dict[str, Any] = {}
    blocks: list[Block] = []
    for log in sorted(find_logs(folder), key=lambda one: one.name):
        events = _events(log.files)
        if len(events) > 3000:
            continue  # plans of megabytes
        for event in events:
            kind = _kind(event)
            if kind in ("LogStart", "ResourceProfileAdded", "EnvironmentUpdate", "ApplicationStart"):
                head[kind] = event
            elif kind == "ExecutorAdded" and event["Executor ID"] != "driver":
                executor = event
        blocks += _blocks(events)
    order = ("LogStart", "ResourceProfileAdded", "EnvironmentUpdate", "ApplicationStart")
    assert executor, "no log of a cluster among the templates"
    unlike = {json.dumps(_shape_of(block)): block for block in blocks}
    return Templates(tuple(head[kind] for kind in order), executor, tuple(unlike.values()))


def _shape_of(block: Block) -> list[Any]:
    plan = next(event for event in block.events if _kind(event) == "SQLExecutionStart")
    return [len(block.stages), plan["physicalPlanDescription"].splitlines()[:30]]


def _events(files: tuple[str, ...]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for file in files:
        with Path(file).open("rb", buffering=0) as raw:
            data = b"".join(decompressed(raw))
        found += [json.loads(line) for line in data.splitlines()]
    return found


def _kind(event: Mapping[str, Any]) -> str:
    return str(event["Event"]).rpartition(".")[2].removeprefix("SparkListener")


def _blocks(events: list[dict[str, Any]]) -> Iterator[Block]:
    for start in (event for event in events if _kind(event) == "SQLExecutionStart"):
        query = start["executionId"]
        jobs = [e for e in events if _kind(e) == "JobStart" and _query_of(e) == query]
        ids = {job["Job ID"] for job in jobs}
        ends = [e for e in events if _kind(e) == "JobEnd" and e["Job ID"] in ids]
        stages = {stage for job in jobs for stage in job["Stage IDs"]}
        of_query = [event for event in events if _belongs(event, query, ids, stages)]
        ran = [e["Stage Info"]["Stage ID"] for e in of_query if _kind(e) == "StageSubmitted"]
        tasks: dict[int, dict[str, Any]] = {}
        shuffles = set()
        for event in events:
            if (
                _kind(event) == "TaskEnd"
                and event["Stage ID"] in ran
                and event["Task End Reason"]["Reason"] == "Success"
            ):
                tasks.setdefault(event["Stage ID"], event)
                if event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"]:
                    shuffles.add(event["Stage ID"])
        went_well = all(end["Job Result"]["Result"] == "JobSucceeded" for end in ends)
        if ran and went_well and len(set(ran)) == len(ran) and set(ran) == set(tasks):
            yield Block(tuple(of_query), tuple(ran), tasks, frozenset(shuffles), _reader(of_query))


def _reader(events: list[dict[str, Any]]) -> int | None:
    for event in events:
        if _kind(event) == "StageSubmitted":
            info = event["Stage Info"]
            if not any(rdd["Storage Level"]["Use Memory"] for rdd in info["RDD Info"]):
                return int(info["Stage ID"])
    return None


def _query_of(job: Mapping[str, Any]) -> int:
    return int((job.get("Properties") or {}).get("spark.sql.execution.id", -1))


def _belongs(event: Mapping[str, Any], query: int, jobs: set[int], stages: set[int]) -> bool:
    kind = _kind(event)
    if "executionId" in event:
        return bool(event["executionId"] == query)
    if kind in ("JobStart", "JobEnd"):
        return event["Job ID"] in jobs
    return kind in ("StageSubmitted", "StageCompleted") and event["Stage Info"]["Stage ID"] in stages


def write_log(run: FleetRun, templates: Templates, folder: Path, *, tasks: int = 8, zstd: bool = False) -> Path:
    """The event log of a run. `tasks`: in each of its stages."""
    body = "".join(f"{line}\n" for line in log_lines(run, templates, tasks)).encode()
    path = folder / (f"{run.app_id}.zstd" if zstd else run.app_id)
    if zstd:
        import zstandard

        body = zstandard.ZstdCompressor(level=1).compress(body)
    path.write_bytes(body)
    return path


def log_lines(run: FleetRun, templates: Templates, tasks: int) -> Iterator[str]:
    now = int(run.started.timestamp() * 1000)
    yield from _head(run, templates, now)
    now += 8000  # until the first query
    offsets = {"stage": 0, "job": 0, "query": 0, "rdd": 0, "accumulator": 0}
    place, next_task = 0, 0
    reading = next((n for n in run.job.blocks if templates.blocks[n].reader is not None), run.job.blocks[0])
    for number in run.job.blocks:
        block = templates.blocks[number]
        reader = (block.reader or block.stages[0]) if number == reading else None
        renamed = _Renaming(block, offsets, run, reader)
        pending = dict(zip(block.stages, range(place, place + len(block.stages)), strict=True))
        place += len(block.stages)
        begun: dict[int, int] = {}
        for event in block.events:
            kind = _kind(event)
            if kind == "StageSubmitted":
                begun[event["Stage Info"]["Stage ID"]] = now
            if kind == "StageCompleted":
                stage = event["Stage Info"]["Stage ID"]
                took = max(int(run.stage_s[pending[stage]] * 1000), 1)
                yield from renamed.tasks(stage, now, took, next_task, tasks, run.job.stages[pending[stage]])
                next_task += tasks
                now += took
            yield renamed.line(event, now, begun, tasks)
        now += 200
    yield json.dumps({"Event": "SparkListenerApplicationEnd", "Timestamp": now + 1000})


def _head(run: FleetRun, templates: Templates, now: int) -> Iterator[str]:
    for event in templates.head:
        made = copy.deepcopy(event)
        if _kind(event) == "ResourceProfileAdded":
            wanted = made["Executor Resource Requests"]
            wanted["cores"]["Amount"], wanted["memory"]["Amount"] = run.job.cores, run.job.memory_gb * 1024
        if _kind(event) == "EnvironmentUpdate":
            spark = made["Spark Properties"]
            for name in [name for name in spark if name.startswith("spark.dynamicAllocation.")]:
                del spark[name]
            spark |= {**run.properties, "spark.app.name": run.name, "spark.app.id": run.app_id}
            spark |= {"spark.app.submitTime": str(now - 4000), "spark.master": "yarn", "spark.yarn.queue": "default"}
            made["System Properties"]["sun.java.command"] = "org.apache.spark.deploy.SparkSubmit job.py"
        if _kind(event) == "ApplicationStart":
            made |= {"App Name": run.name, "App ID": run.app_id, "Timestamp": now, "User": "etl"}
        yield json.dumps(made)
    for number in range(run.executors):
        made = copy.deepcopy(templates.executor)
        made |= {"Timestamp": now + 3000, "Executor ID": str(number + 1)}
        made["Executor Info"] |= {"Total Cores": run.job.cores, "Host": f"node{number + 1}"}
        yield json.dumps(made)


class _Renaming:
    """The lines of a block with ids of their own and the moments of a run."""

    def __init__(self, block: Block, offsets: dict[str, int], run: FleetRun, reader: int | None) -> None:
        self._block, self._run, self._reader = block, run, reader
        self._before = dict(offsets)
        self._most = dict(offsets)
        self._offsets = offsets

    def line(self, event: Mapping[str, Any], now: int, begun: Mapping[int, int], n_tasks: int) -> str:
        made, kind = self._renamed(event), _kind(event)
        if kind == "SQLExecutionStart" or kind == "SQLExecutionEnd":
            made["time"] = now
        elif kind == "JobStart":
            made["Submission Time"] = now
            made["Properties"]["spark.sql.execution.id"] = str(made["_query"])
            made["Properties"]["spark.sql.shuffle.partitions"] = self._run.properties["spark.sql.shuffle.partitions"]
            del made["_query"]
        elif kind == "JobEnd":
            made["Completion Time"] = now
        elif kind in ("StageSubmitted", "StageCompleted"):
            info = made["Stage Info"]
            info["Number of Tasks"] = n_tasks
            info["Submission Time"] = begun[event["Stage Info"]["Stage ID"]]
            if kind == "StageCompleted":
                info["Completion Time"] = now
        for name, value in self._most.items():
            self._offsets[name] = value
        return json.dumps(made)

    def tasks(self, stage: int, begun: int, took: int, first: int, n_tasks: int, law: StageLaw) -> Iterator[str]:
        """Tasks in waves over all slots, which fill the time of the stage."""
        slots = self._run.executors * self._run.job.cores
        waves = -(-n_tasks // slots)
        end = self._renamed(self._block.tasks[stage])
        each = took // waves
        read = self._run.input_bytes // n_tasks if stage == self._reader else 0
        moved = int(law.shuffle * self._run.input_bytes / n_tasks) if stage in self._block.shuffles else 0
        metrics = end["Task Metrics"]
        metrics["Executor CPU Time"] = int(0.7e6 * each)
        metrics["Executor Run Time"] = int(0.97 * each)
        metrics["Executor Deserialize Time"] = min(5, each // 100)
        metrics["JVM GC Time"] = each // 50
        metrics["Result Serialization Time"] = 0
        metrics["Input Metrics"] = {"Bytes Read": read, "Records Read": read // 100}
        metrics["Shuffle Write Metrics"] |= {"Shuffle Bytes Written": moved, "Shuffle Write Time": 10**4 * each}
        metrics["Shuffle Read Metrics"]["Fetch Wait Time"] = 0
        info = end["Task Info"]
        for number in range(n_tasks):
            wave, slot = divmod(number, slots)
            launch = begun + wave * each
            executor = slot // self._run.job.cores + 1
            told: dict[str, Any] = {
                "Task ID": first + number,
                "Index": number,
                "Partition ID": number,
                "Launch Time": launch,
            }
            told |= {"Executor ID": str(executor), "Host": f"node{executor}", "Attempt": 0}
            started = {**info, **told, "Finish Time": 0, "Accumulables": []}
            stage_of = {"Stage ID": end["Stage ID"], "Stage Attempt ID": 0}
            yield json.dumps({"Event": "SparkListenerTaskStart", **stage_of, "Task Info": started})
            info |= told | {"Finish Time": launch + each, "Getting Result Time": 0}
            yield json.dumps(end)

    def _renamed(self, value: Any) -> Any:
        made = self._walk(value, "")
        if isinstance(value, Mapping) and value.get("Event") == "SparkListenerJobStart":
            made["_query"] = self._shift("query", _query_of(value))
        return made

    def _walk(self, value: Any, key: str) -> Any:
        if isinstance(value, dict):
            parents = "rdd" if "RDD ID" in value else "stage"
            return {k: self._walk(v, parents if k == "Parent IDs" else _IDS.get(k, "")) for k, v in value.items()}
        if isinstance(value, list):
            return [self._walk(one, key) for one in value]
        if key and isinstance(value, int) and not isinstance(value, bool):
            return self._shift(key, value)
        return value

    def _shift(self, kind: str, number: int) -> int:
        moved = self._before[kind] + number
        self._most[kind] = max(self._most[kind], moved + 1)
        return moved


def small(fleet: Fleet, jobs: int) -> Fleet:
    """The same fleet with its first jobs alone."""
    return replace(fleet, jobs=fleet.jobs[:jobs])
