"""Two real jobs that recur: each is run 60 times on the embedded cluster, with more and less input, and one day a
setting of each changes. What their history tells, against what was measured.

    python benchmarks/recurring.py run --logs LOGS [--runs 60] [--minutes 13]   submits the runs that LOGS does not have
    python benchmarks/recurring.py ask --logs LOGS [--runs 60]                  asks the history that they make

The setting changes with the run after two thirds of them. Tasks mostly sleep (see `_recurring_jobs`); starting the
applications does not, so a busy machine is part of the noise.

Each run is forecast from those before it; `eta` is asked with its log cut at 25, 50 and 75 % of its time, and with the
runs before it. The priors are those that are shipped: two jobs are no fleet. Beside them: the last run again, the mean
of the past, and for the time that is left, the mean of the past less what is over.
"""

import argparse
import json
import math
import random
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from sparkcast import api
from sparkcast.api.history import _record_in_progress as record_in_progress
from sparkcast.engines import ENGINES, Engine, SparkJob
from sparkcast.engines.handle import wait_for
from sparkcast.errors import NotEnoughDataError
from sparkcast.eventlogs.codecs import decompressed
from sparkcast.history import JobHistory, histories_of
from sparkcast.history.changes import LEAST, changes_of, unusual_places
from sparkcast.history.model import JobModel, ScoredRun
from sparkcast.history.points import points_of
from sparkcast.history.prior import FleetPrior
from sparkcast.history.remaining import Eta, eta_of
from sparkcast.store import open_store
from sparkcast.study import SparkOptions

_MOST_PARTS = 12
_FIRST = 8  # runs that are not scored
_SHARES = (0.25, 0.5, 0.75)
_BEGIN = datetime(2026, 8, 3, tzinfo=UTC)


@dataclass(frozen=True)
class RecurringJob:
    name: str
    style: str  # of the names of its applications
    before: Mapping[str, str]
    since: Mapping[str, str]

    @property
    def changed(self) -> set[str]:
        return {name for name in self.since if self.since[name] != self.before.get(name)}


_COMMON = {
    "spark.executor.instances": "2",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.executor.memory": "600m",
    "spark.driver.memory": "700m",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "true",
    "spark.eventLog.compression.codec": "zstd",
    "spark.ui.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.files.maxPartitionBytes": "120k",
    "spark.sql.files.openCostInBytes": "1k",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
JOBS = (
    RecurringJob("orders", "orders_{day:%Y-%m-%d}", _COMMON, {**_COMMON, "spark.sql.files.maxPartitionBytes": "64m"}),
    RecurringJob("scores", "scores #{number}", _COMMON, {**_COMMON, "spark.sql.shuffle.partitions": "1"}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "ask"))
    parser.add_argument("--logs", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=60, help="of each job")
    parser.add_argument("--minutes", type=float, default=math.inf, help="submit nothing more after this time")
    options = parser.parse_args()
    if options.what == "run":
        submit_all(options.logs, options.runs, options.minutes)
    else:
        ask(options.logs, change_of(options.runs))


# ---------------------------------------------------------------- running


def change_of(n_runs: int) -> int:
    """The run with which the setting changes."""
    return n_runs * 2 // 3


def submit_all(logs: Path, n_runs: int, minutes: float) -> None:
    until = time.monotonic() + 60 * minutes
    logs.mkdir(parents=True, exist_ok=True)
    done = logs / "done.json"
    known = set(json.loads(done.read_text())) if done.exists() else set()
    waiting = [(job, number) for number in range(n_runs) for job in JOBS if f"{job.name} {number}" not in known]
    data = logs.absolute().parent / "data"
    with ENGINES.get("embedded")(SparkOptions()) as engine, tempfile.TemporaryDirectory() as scratch:
        script, log = Path(__file__).with_name("_recurring_jobs.py"), Path(scratch) / "driver.log"
        if not data.exists():
            arguments = ("data", str(data), str(_MOST_PARTS))
            _submit(engine, SparkJob(script, arguments, {"spark.cores.max": "2"}, "data"), log)
        for job, number in waiting:
            if time.monotonic() > until:
                break
            conf = {
                **(job.since if number >= change_of(n_runs) else job.before),
                "spark.eventLog.dir": logs.absolute().as_uri(),
            }
            name = job.style.format(day=_BEGIN + timedelta(days=number), number=number + 1)
            arguments = (job.name, str(data), str(parts_of(job, number)))
            _submit(engine, SparkJob(script, arguments, conf, name), log)
            known.add(f"{job.name} {number}")
            done.write_text(json.dumps(sorted(known)))


def parts_of(job: RecurringJob, number: int) -> int:
    """How much a run reads: more with the months, less on weekends, and a little at random."""
    weekly = 0.6 if number % 7 >= 5 else 1.0
    wanted = 6.0 * (1 + number / 120) * weekly * random.Random(f"{job.name} {number}").lognormvariate(0.0, 0.2)
    return max(2, min(_MOST_PARTS, round(wanted)))


def _submit(engine: Engine, job: SparkJob, log: Path) -> None:
    defaults = engine.defaults()
    submission = engine.submission(SparkJob(job.application, job.arguments, {**defaults, **job.conf}, job.name))
    end = wait_for(engine.start(submission, log))
    if end.code:
        raise SystemExit(f"{job.name} failed with {end.code}:\n{log.read_text()[-3000:]}")


# ---------------------------------------------------------------- asking


def ask(logs: Path, changed: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        store = Path(scratch) / "recurring.results"
        found = api.watch([logs / "[al]*"], store)
        opened = open_store(store)
        histories = {one.name: one for one in histories_of(opened)}
        opened.close()
    print(
        f"{sum(found.counts.get(word, 0) for word in ('new', 'finished'))} logs, jobs found: {', '.join(histories)}\n"
    )
    for job in JOBS:
        show_job(job, histories[job.name], changed)


def show_job(job: RecurringJob, history: JobHistory, changed: int) -> None:
    model = JobModel(points_of(history.runs), FleetPrior())
    scored = model.scored[_FIRST:]
    times = [math.exp(one.value) for one in model.scored]
    print(f"{job.name}: {len(history.complete)} runs of {min(times):.0f} to {max(times):.0f} s")
    settled = [one for place, one in enumerate(model.scored) if place >= _FIRST and not changed <= place < changed + 5]
    for title, some in (("each run", scored), ("without 5 runs from the change on", settled)):
        _show_forecast(title, some)
    naive = [abs(times[n - 1] / times[n] - 1) for n in range(_FIRST, len(times))]
    mean = [abs(np.mean(times[:n]) / times[n] - 1) for n in range(_FIRST, len(times))]
    print(f"  {'the last run again':<36}{np.mean(naive):>6.1%} MAPE   mean of the past{np.mean(mean):>7.1%}")
    changes = changes_of(job.name, model)
    for one in changes:
        place = next(n for n, each in enumerate(model.scored) if each.point.run_id == one.run_id)
        causes = {cause.name for cause in one.causes}
        told = model.shifts[[shift.place for shift in model.shifts].index(place)].found
        right = "its setting named" if job.changed & causes else "its setting not named"
        print(f"  change at run {place} (true: {changed}), told with run {told}, {right}: {one.sentence}")
    if not changes:
        print(f"  no change found; true: run {changed}")
    before, after = (np.median(_per_part(model.scored[n:m])) for n, m in ((changed - 15, changed), (changed, None)))
    print(f"  time at the same input since the change: {after / before - 1:+.0%} (medians, by the law of the model)")
    false = [n for n in unusual_places(model) if not changed <= n < changed + 5]
    false += [one.found for one in model.shifts if abs(one.log_ratio) >= LEAST and not 0 <= one.place - changed < 15]
    print(f"  alarms elsewhere: {len(false)} in {len(model.scored)} runs")
    _show_eta(history)
    print()


def _show_forecast(title: str, scored: Sequence[ScoredRun]) -> None:
    errors = [abs(math.expm1(-one.error)) for one in scored]
    inside = np.mean([one.is_calibrated for one in scored])
    print(
        f"  {title:<36}{np.mean(errors):>6.1%} MAPE {np.median(errors):>6.1%} MdAPE, {inside:.0%} in the 90% interval"
    )


def _per_part(scored: Iterable[ScoredRun]) -> list[float]:
    return [math.exp(one.value) / (one.point.input_size or 1.0) for one in scored]


def _show_eta(history: JobHistory) -> None:
    """Each run from those before it, with its log cut where a share of its time is over."""
    for share in _SHARES:
        rows = []
        for number in range(_FIRST, len(history.runs)):
            run = history.runs[number]
            record = run.record
            assert record is not None
            at_s = record.started_s + share * record.wall_s
            cut = _cut(Path(run.origin.log), at_s) if run.origin else None
            past = JobHistory(history.name, history.key, history.runs[:number])
            try:
                answer = _eta(cut, past, at_s)
            except NotEnoughDataError:
                continue
            low, high = answer.remaining.interval(0.9)
            truth = (1 - share) * record.wall_s
            lives = [one.record.wall_s for one in past.complete if one.record is not None]
            naive = max(float(np.mean(lives)) - share * record.wall_s, 1.0)
            error = abs(answer.remaining.median / truth - 1)
            rows.append((error, abs(naive / truth - 1), low <= truth <= high, (high - low) / record.wall_s))
        ours, others, inside, width = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
        mine = f"{ours.mean():.1%} MAPE, {np.median(ours):.1%} MdAPE, {inside.mean():.0%} in the 90% interval"
        theirs = f"mean of the past {others.mean():.1%}, {np.median(others):.1%}"
        print(f"  eta at {share:.0%}: {mine}, which is {np.median(width):.0%} of the run wide; {theirs}")


def _eta(log: str | None, past: JobHistory, now_s: float) -> Eta:
    assert log is not None
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "application.inprogress"
        path.write_text(log)
        return eta_of(past, record_in_progress(path), now_s)


_MOMENTS = ("Timestamp", "Submission Time", "Completion Time", "time")


def _cut(log: Path, at_s: float) -> str:
    """The lines that were written until then."""
    with log.open("rb", buffering=0) as raw:
        lines = b"".join(decompressed(raw)).decode().splitlines()
    kept = []
    for line in lines:
        event = json.loads(line)
        stage, task = event.get("Stage Info", {}), event.get("Task Info", {})
        is_end = "End" in event["Event"] or "Completed" in event["Event"]
        moments = [event.get(name) for name in _MOMENTS]
        moments += [stage.get("Completion Time" if is_end else "Submission Time")]
        moments += [task.get("Finish Time" if is_end else "Launch Time")]
        if any(moment and moment > at_s * 1000 for moment in moments):
            break
        kept.append(line)
    return "".join(f"{line}\n" for line in kept)


if __name__ == "__main__":
    main()
