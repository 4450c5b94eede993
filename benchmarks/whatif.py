"""How exact replays of event logs are: against real runs of the same job on other clusters.

    python benchmarks/whatif.py --self DIR [DIR ...]     every log replayed on its own cluster
    python benchmarks/whatif.py --run DIR [--local]      make the logs first (20 minutes or more; `--repeats`, `--jobs`)
    python benchmarks/whatif.py DIR                      judge the logs of DIR: run once, judge often
    python benchmarks/whatif.py --speed                  seconds of CPU for many tasks and configurations

Every number of slots is predicted from every other, by repeat, and from all others together. Beside each error: the
noise of repeats (how much two runs of the same configuration differ), Sparklens' way (run times of tasks on other
slots, jobs in sequence), perfect scaling, no change, and the schedule alone (given the target's own task times).
"""

import argparse
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import exp, log, log2
from pathlib import Path
from statistics import mean

import numpy as np
from _event_logs import write_log
from _whatif_jobs import JOBS, WARM_UP, run_all

from sparkcast.errors import NotEnoughDataError
from sparkcast.eventlogs import find_logs, read_log
from sparkcast.facts import facts_of
from sparkcast.replay import (
    JobWork,
    Played,
    Recorded,
    RecordedWork,
    StageWork,
    WhatIfQuestion,
    play,
    recorded,
    what_if,
)
from sparkcast.replay.change import changed
from sparkcast.replay.cluster import Node, ReplayCluster
from sparkcast.replay.intervals import ReplaySpread, prior_spread
from sparkcast.replay.settling import settled
from sparkcast.replay.whatif import play_at

_QUIET = 0.05  # repeats that differ by less are judged


@dataclass(frozen=True)
class Run:
    """One log: the time of each job of each repeat, and who it was."""

    source: Recorded
    job: str
    slots: int
    data: int
    spans: dict[tuple[str, int], float]  # ("loop", 2) -> seconds, from its first Spark job to the end of its last

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self.spans}


def spans_of(jobs: Sequence[JobWork], times: Sequence[tuple[float, float]]) -> dict[tuple[str, int], float]:
    """From the first submission to the last end of the jobs of each description."""
    found: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    for job, span in zip(jobs, times, strict=True):
        name, _, repeat = job.description.rpartition(" ")
        if job.description != WARM_UP and repeat.isdigit():
            found[name, int(repeat)].append(span)
    return {key: max(end for _, end in spans) - min(start for start, _ in spans) for key, spans in found.items()}


def read_runs(folder: Path) -> list[Run]:
    runs = []
    for place in find_logs(folder):
        read = read_log(place)
        if not read.was_read or not read.application.has_ended or not len(read.tasks):
            continue
        source = recorded(read, facts_of(read))
        job, _, data = read.application.name.split("-")
        measured = [(one.started_s, one.ended_s) for one in source.facts.timeline.jobs]
        spans = spans_of(source.work.jobs, measured)
        runs.append(Run(source, job, source.slots, int(data), spans))
    return sorted(runs, key=lambda run: (run.job, run.data, run.slots))


# ---------------------------------------------------------------- ways to predict


def by_replay(run: Run, slots: int) -> dict[tuple[str, int], float]:
    source = run.source
    executors, cores = (1, slots) if source.facts.shape.is_local else (slots // source.cores, source.cores)
    played = play_at(source, executors, cores, WhatIfQuestion())
    return spans_of(source.work.jobs, played.jobs)


def launch_to_finish(run: Run, slots: int) -> dict[tuple[str, int], float]:
    """Without splitting a task's time into work and surroundings."""
    work = changed(run.source.work, slots, keep_surroundings=True)
    return spans_of(work.jobs, play(work, _slots(slots)).jobs)


def sparklens(run: Run, slots: int) -> dict[tuple[str, int], float]:
    """Run times of tasks on other slots, stages by their parents, jobs in sequence, driver time as it was."""
    work = run.source.work
    stages = tuple(_bare(stage) for stage in work.stages)
    jobs = tuple(replace(job, after=(place - 1,) if place else (), tail_s=0.0) for place, job in enumerate(work.jobs))
    played = play(replace(work, stages=stages, jobs=jobs), _slots(slots))
    return spans_of(jobs, played.jobs)


def _bare(stage: StageWork) -> StageWork:
    return replace(stage, around_s=np.zeros(stage.n_tasks), delay_s=0.0, tail_s=0.0, reads_cached=-1)


def perfect(run: Run, slots: int) -> dict[tuple[str, int], float]:
    return {key: took * run.slots / slots for key, took in run.spans.items()}


def no_change(run: Run, slots: int) -> dict[tuple[str, int], float]:
    return run.spans


def schedule_alone(run: Run, target: Run) -> dict[tuple[str, int], float]:
    """The source's schedule with the target's total task time of each stage, and its driver time."""
    work = changed(run.source.work, target.slots, keep_surroundings=True)
    real = target.source.work
    stages = tuple(_as_long_as(one, other) for one, other in zip(work.stages, real.stages, strict=True))
    gaps = [job.gap_s for job in real.jobs]
    jobs = tuple(replace(job, gap_s=gap) for job, gap in zip(work.jobs, gaps, strict=True))
    return spans_of(jobs, play(replace(work, stages=stages, jobs=jobs), _slots(target.slots)).jobs)


def _as_long_as(stage: StageWork, other: StageWork) -> StageWork:
    ratio = (other.work_s.sum() + other.around_s.sum()) / (stage.work_s.sum() + stage.around_s.sum())
    work, around = stage.work_s * ratio, stage.around_s * ratio
    return replace(stage, work_s=work, around_s=around, delay_s=other.delay_s, tail_s=other.tail_s)


def _slots(slots: int) -> ReplayCluster:
    return ReplayCluster((Node(slots, float(slots)),))


WAYS: dict[str, Callable[[Run, int], dict[tuple[str, int], float]]] = {
    "replay": by_replay,
    "replay, launch to finish": launch_to_finish,
    "Sparklens' way": sparklens,
    "perfect scaling": perfect,
    "no change": no_change,
}


# ---------------------------------------------------------------- judging


def noise(runs: Sequence[Run]) -> dict[tuple[int, str], float]:
    """By slots and job: the mean difference of two repeats."""
    found = {}
    for run in runs:
        for name in sorted(run.names):
            times = [took for (job, _), took in run.spans.items() if job == name]
            pairs = [abs(a / b - 1) for a, b in permutations(times, 2)]
            found[run.slots, name] = mean(pairs) if pairs else 0.0
    return found


def judge(job: str, runs: Sequence[Run]) -> None:
    loud = noise(runs)
    names = sorted({name for run in runs for name in run.names})
    print(f"\n{job}: {len(runs)} logs, {', '.join(str(run.slots) for run in runs)} slots; jobs {', '.join(names)}")
    errors: dict[str, list[float]] = defaultdict(list)
    quiet: dict[str, list[float]] = defaultdict(list)
    held: dict[str, list[bool]] = defaultdict(list)
    for target in runs:
        others = [run for run in runs if run.slots != target.slots]
        predicted = {run.slots: {way: make(run, target.slots) for way, make in WAYS.items()} for run in others}
        for run in others:
            predicted[run.slots]["schedule alone"] = schedule_alone(run, target)
        for (name, repeat), real in target.spans.items():
            is_quiet = loud[target.slots, name] < _QUIET
            for run in others:
                for way, found in predicted[run.slots].items():
                    _note(
                        errors, quiet, way, found[name, repeat] / real - 1, is_quiet and loud[run.slots, name] < _QUIET
                    )
                distance = log2(target.slots / run.slots)
                center, sd = prior_spread().at([log(predicted[run.slots]["replay"][name, repeat])], [distance], 1.0)
                held["one log"].append(abs(log(real) - center) <= 1.645 * sd)
            logs = [log(predicted[run.slots]["replay"][name, repeat]) for run in others]
            distances = [log2(target.slots / run.slots) for run in others]
            spread = _spread(others, name)
            center, sd = spread.at(logs, distances, 1.0)
            _note(errors, quiet, "all other logs", exp(center) / real - 1, is_quiet)
            held["all other logs"].append(abs(log(real) - center) <= 1.645 * sd)
    print(f"  {'':28}{'mean error':>12}{'bias':>9}{'quiet only':>12}{'pairs':>8}")
    print(f"  {'noise of repeats':28}{100 * mean(loud.values()):11.1f}%")
    for way, all_of_it in errors.items():
        still = quiet[way]
        shown = f"{100 * mean(map(abs, still)):11.1f}%{len(still):8}" if still else f"{'-':>12}{0:8}"
        print(f"  {way:28}{100 * mean(map(abs, all_of_it)):11.1f}%{100 * mean(all_of_it):+8.1f}%{shown}")
    for way, inside in held.items():
        print(f"  90% interval, {way}: holds {100 * mean(inside):.0f}% of {len(inside)}")


def _note(all_: dict[str, list[float]], quiet: dict[str, list[float]], way: str, error: float, is_quiet: bool) -> None:
    all_[way].append(error)
    if is_quiet:
        quiet[way].append(error)


_SPREADS: dict[tuple[tuple[int, ...], str], ReplaySpread] = {}


def _spread(others: Sequence[Run], name: str) -> ReplaySpread:
    """What the other logs say of each other, about one job."""
    from sparkcast.replay.intervals import measured_spread

    key = (tuple(run.slots for run in others), name)
    if key not in _SPREADS:
        pairs = []
        for source, target in permutations(others, 2):
            found = _replayed(source, target.slots)
            errors = [log(real / found[at]) for at, real in target.spans.items() if at[0] == name]
            pairs.append(_Pair(mean(errors), log2(target.slots / source.slots)))
        _SPREADS[key] = measured_spread(pairs)
    return _SPREADS[key]


@dataclass(frozen=True)
class _Pair:
    error: float
    distance: float


_REPLAYS: dict[tuple[str, int], dict[tuple[str, int], float]] = {}


def _replayed(run: Run, slots: int) -> dict[tuple[str, int], float]:
    key = (run.source.facts.log, slots)
    if key not in _REPLAYS:
        _REPLAYS[key] = by_replay(run, slots)
    return _REPLAYS[key]


def judge_counts(runs: Sequence[Run]) -> None:
    """Is the number of tasks of each stage predicted exactly on other cores, from one log and from two others?"""
    for n_logs in (1, 2):
        right = total = 0
        wrong = []
        for logs, target in _groups(runs, n_logs):
            work = settled([run.source.work for run in logs])[0]
            real = _counts(target.source.work)
            for name, numbers in _counts(changed(work, target.slots)).items():
                if len(numbers) != len(real.get(name, ())):  # AQE left out stages of one of them
                    continue
                right += sum(one == other for one, other in zip(numbers, real[name], strict=True))
                total += len(numbers)
                if numbers != real[name]:
                    wrong.append(f"{name}: {logs[0].slots} -> {target.slots} cores {numbers}, in truth {real[name]}")
        print(f"  numbers of tasks from {n_logs} log{'s' * (n_logs > 1)}: {right} of {total} exact")
        print("".join(f"    {one}\n" for one in wrong), end="")


def _groups(runs: Sequence[Run], n_logs: int) -> list[tuple[tuple[Run, ...], Run]]:
    return [(group[:-1], group[-1]) for group in permutations(runs, n_logs + 1)]


def _counts(work: RecordedWork) -> dict[str, list[int]]:
    """The tasks of each stage, by the description of its job."""
    found: dict[str, list[int]] = defaultdict(list)
    for stage in work.stages:
        if (name := work.jobs[stage.job].description) != WARM_UP:
            found[name].append(stage.n_partitions)
    return found


def judge_data(runs: Sequence[Run]) -> None:
    """From 1x to more data: the error, and whether the flipped plan is refused."""
    print("\ndata")
    for source in runs:
        for target in (run for run in runs if run.data > source.data):
            factor = target.data / source.data
            try:
                played = play_at(
                    source.source, source.source.executors, source.source.cores, WhatIfQuestion(data=factor)
                )
            except NotEnoughDataError as error:
                print(f"  {factor:g}x: refused: {error.problem}")
                continue
            found = spans_of(source.source.work.jobs, played.jobs)
            names = sorted({name for name, _ in found})
            for name in names:
                errors = [
                    found[key] / real - 1 for key, real in target.spans.items() if key[0] == name and key in found
                ]
                print(f"  {source.data}x -> {target.data}x {name:12} error {100 * mean(errors):+.1f}%")
            _print_refusal(source, factor)


def _print_refusal(source: Run, factor: float) -> None:
    from sparkcast.replay.plans import broadcasts_of

    flips = [one for one in broadcasts_of(source.source.log, source.source.facts) if one.flips(factor)]
    for one in flips[:1]:
        print(f"     refused by whatif: query {one.query_id} broadcasts {one.size_bytes * factor:,.0f} bytes then")


# ---------------------------------------------------------------- every log on its own cluster


def self_replay(folders: Sequence[Path]) -> None:
    wall, in_jobs = [], []
    print(f"{'application':32}{'tasks':>8}{'slots':>7}{'wall (s)':>10}{'error':>9}{'in jobs':>9}  waves")
    for folder in folders:
        for place in find_logs(folder):
            read = read_log(place)
            if not read.was_read or not read.application.has_ended or not len(read.tasks):
                continue
            source = recorded(read, facts_of(read))
            played = play(source.work, source.cluster)
            real, jobs = source.facts.span.wall_s, source.facts.span.time_s or 0.0
            has_waves = any(stage.n_tasks > source.slots for stage in source.work.stages)
            error, job_error = played.wall_s / real - 1, _in_jobs(played, jobs)
            wall.append(abs(error))
            in_jobs += [abs(job_error)] if has_waves else []
            name = (source.facts.application.name or read.log)[:30]
            print(
                f"{name:32}{len(read.tasks):8,}{source.slots:7}{real:10.1f}{100 * error:+8.2f}%{100 * job_error:+8.2f}%"
                f"  {'yes' if has_waves else 'no'}"
            )
    if wall:
        print(f"mean of {len(wall)}: {100 * mean(wall):.2f}% of wall time (worst {100 * max(wall):.2f}%)", end="")
        waves = (
            f"; in jobs, with waves: {100 * mean(in_jobs):.2f}% (worst {100 * max(in_jobs):.2f}%)" if in_jobs else ""
        )
        print(waves)


def _in_jobs(played: Played, real: float) -> float:
    return played.in_jobs_s / real - 1 if real else 0.0


# ---------------------------------------------------------------- speed


def speed() -> None:
    """Logs that were made up, read and answered as `sparkcast whatif` does, with intervals, knee, floor and traps."""
    for n_tasks, n_shapes in ((10_000, 64), (1_000_000, 16)):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "log"
            write_log(place, n_tasks, is_full=False)
            begun = time.process_time()
            read = read_log(place)
        after_reading, held = time.process_time(), _peak_mib()
        source = recorded(read, facts_of(read))
        ready = time.process_time()
        what_if([source], WhatIfQuestion(executors=tuple(range(4, 4 * n_shapes + 1, 4))))
        print(
            f"{n_tasks:,} tasks: read {after_reading - begun:.2f} s ({held:,.0f} MiB), understood "
            f"{ready - after_reading:.2f} s, {n_shapes} configurations {time.process_time() - ready:.2f} s of CPU "
            f"({_peak_mib():,.0f} MiB)"
        )


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--self", action="store_true", dest="is_self")
    parser.add_argument("--run", type=Path, metavar="DIR")
    parser.add_argument("--local", action="store_true", help="threads of one process instead of executors")
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--stretch", type=int, default=1, help="how many times as long the tasks that wait take")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--python", default=sys.executable, help="whose pyspark to use")
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    if options.run:
        jobs = options.jobs.split(",")
        run_all(options.run, jobs, options.repeats, options.python, is_local=options.local, stretch=options.stretch)
    elif options.speed:
        speed()
    elif options.is_self:
        self_replay(options.folders)
    else:
        runs = [run for folder in options.folders for run in read_runs(folder)]
        for job, scale in sorted({(run.job, run.data) for run in runs if run.job != "scans"}):
            own = [run for run in runs if (run.job, run.data) == (job, scale)]
            if job == "counts":
                print(f"\ncounts: on {', '.join(str(run.slots) for run in own)} cores")
            else:
                judge(job, own)
            if job in ("counts", "follows"):
                judge_counts(own)
        if data := [run for run in runs if run.job == "scans"]:
            judge_data(data)


if __name__ == "__main__":
    main()
