"""What the history of a fleet tells, against the laws that made it: forecasts, changes, alarms and savings.

    python benchmarks/fleet.py --data FOLDER_OF_LOGS [--small] [--seed 1] [--real FOLDER]

`--data` has the event logs of which the fleet is made (see `_fleet`). Priors are learned from half of the jobs, and
every number is of the other half, in turn. Each run is forecast from the runs before it. Beside the changes found: two
rules that people use, mean + 3 standard deviations of the runs before, and 10 % more than the last run.
"""

import argparse
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _fleet import BEGIN, Fleet, make_fleet, read_templates
from _fleet_runs import histories
from _fleet_savings import history_of_job, make_jobs

from sparkcast.history.changes import LEAST, changes_of, unusual_places
from sparkcast.history.learn import learn_prior
from sparkcast.history.model import TOTAL, WORK, JobModel, RunQuantity
from sparkcast.history.points import RunPoint, points_of
from sparkcast.history.prior import FleetPrior
from sparkcast.history.resembling import NewJob, resembling, words_of
from sparkcast.history.savings import savings_of

_OWN_NAMES = {"spark.executor.instances": "executors", "spark.executor.memory": "memory"}
_FIRST = 8  # runs of a job that are not scored


@dataclass(frozen=True)
class Truth:
    kind: str  # regression, setting or ""
    first: int | None  # the first run that is different
    factor: float
    stage: str
    setting: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with event logs of Spark SQL applications")
    parser.add_argument("--small", action="store_true", help="40 jobs and 60 days")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", type=Path, help="the folder with the public measurements (enel, flora)")
    options = parser.parse_args()
    n_jobs, days = (40, 60) if options.small else (200, 90)
    fleet = make_fleet(read_templates(options.data), jobs=n_jobs, days=days, seed=options.seed)
    points = {job: points_of(one.runs) for job, one in histories(fleet).items()}
    print(f"{n_jobs} jobs, {days} days, {sum(map(len, points.values()))} runs, seed {options.seed}\n")
    show_forecasts(fleet, points)
    show_savings(20 if options.small else 60, options.seed)
    if options.real is not None:
        from _fleet_real import show_clusters, show_remaining

        show_remaining(options.real / "enel")
        show_clusters(options.real / "flora")


# ---------------------------------------------------------------- forecasts and changes


def show_forecasts(fleet: Fleet, points: Mapping[str, Sequence[RunPoint]]) -> None:
    begun = time.process_time()
    priors = priors_of(points)
    learned = time.process_time() - begun
    print("Forecast of each run from those before it   MdAPE   MAPE   in 90% interval   below the 90th percentile")
    models: dict[str, JobModel] = {}
    for quantity in (TOTAL, WORK):
        begun = time.process_time()
        made = {job: JobModel(own, priors[job], quantity) for job, own in points.items()}
        took = time.process_time() - begun
        models = models or made
        show_errors(quantity, made)
    show_first_runs(models)
    show_new_jobs(points)
    naive = [abs(a.total_s / b.total_s - 1) for own in points.values() for a, b in zip(own[8:], own[7:], strict=False)]
    print(f"  {'the last run again':<42}{np.median(naive):>6.1%}{np.mean(naive):>7.1%}")
    print(
        f"  CPU: {learned:.1f} s to learn the priors, {took:.1f} s to forecast {sum(map(len, points.values()))} runs\n"
    )
    show_changes(fleet, points, models)


def priors_of(points: Mapping[str, Sequence[RunPoint]]) -> dict[str, FleetPrior]:
    """Of each job, what the jobs of the other half have in common."""
    halves = [[own for number, own in enumerate(points.values()) if number % 2 == side] for side in (0, 1)]
    learned = [learn_prior(half) for half in halves]
    return {job: learned[1 - number % 2] for number, job in enumerate(points)}


def show_errors(quantity: RunQuantity, models: Mapping[str, JobModel]) -> None:
    scored = [one for model in models.values() for one in model.scored[_FIRST:]]
    errors = [abs(math.expm1(-one.error)) for one in scored]
    inside, below = (np.mean([one.is_calibrated for one in scored]), np.mean([one.below < 0.9 for one in scored]))
    print(f"  {quantity.name:<42}{np.median(errors):>6.1%}{np.mean(errors):>7.1%}{inside:>14.1%}{below:>22.1%}")


def show_first_runs(models: Mapping[str, JobModel]) -> None:
    """Of jobs that have hardly run: from the other jobs alone, and from one or two runs of their own."""
    for n in range(3):
        scored = [model.scored[n] for model in models.values() if len(model.scored) > n]
        errors = [abs(math.expm1(-one.error)) for one in scored]
        inside, below = (np.mean([one.is_calibrated for one in scored]), np.mean([one.below < 0.9 for one in scored]))
        name = f"{TOTAL.name}, after {n} run{'' if n == 1 else 's'}"
        print(f"  {name:<42}{np.median(errors):>6.1%}{np.mean(errors):>7.1%}{inside:>14.1%}{below:>22.1%}")


def show_new_jobs(points: Mapping[str, Sequence[RunPoint]]) -> None:
    """The first run of each job from those of all others that resemble it."""
    errors, inside = [], []
    for job, own in points.items():
        asked = NewJob(own[0].input_size, own[0].slots, words=words_of(job))
        found = resembling({name: runs for name, runs in points.items() if name != job}, asked)
        if found is not None:
            low, high = found.time.distribution().interval(0.9)
            errors.append(abs(math.exp(found.time.mean) / own[0].total_s - 1))
            inside.append(low <= own[0].total_s <= high)
    title = "a job that never ran, from those alike"
    print(f"  {title:<42}{np.median(errors):>6.1%}{np.mean(errors):>7.1%}{np.mean(inside):>14.1%}")


def truth_of(fleet: Fleet, job: str, points: Sequence[RunPoint]) -> Truth:
    days = [(point.started_s - BEGIN.timestamp()) // 86400 for point in points]
    for regression in fleet.regressions:
        if regression.job == job:
            first = next((n for n, day in enumerate(days) if day >= regression.day), None)
            return Truth("regression", first, regression.factor, f"stage {regression.stage}", "")
    for change in fleet.changes:
        if change.job == job:
            first = next((n for n, day in enumerate(days) if day >= change.day), None)
            return Truth("setting", first, change.factor, "", change.name)
    return Truth("", None, 1.0, "", "")


def show_changes(fleet: Fleet, points: Mapping[str, Sequence[RunPoint]], models: Mapping[str, JobModel]) -> None:
    sigma = {job.job: job.sigma for job in fleet.jobs}
    truths = {job: truth_of(fleet, job, own) for job, own in points.items()}
    ours = {job: alarms_of(job, model) for job, model in models.items()}
    rules = {
        "changes and unusual runs": ours,
        "changes alone": {job: shifts_of(model) for job, model in models.items()},
        "mean + 3 standard deviations": {job: above_mean(own) for job, own in points.items()},
        "last run + 10 %": {job: above_last(own) for job, own in points.items()},
    }
    print(
        "Regressions of 20 % and more found     noise < 8 %, in 5 runs   else, in 15 runs   false alarms in 1,000 runs"
    )
    for name, alarms in rules.items():
        quiet = [hit(alarms[job], truth, 5) for job, truth in truths.items() if is_big(truth) and sigma[job] < 0.08]
        noisy = [hit(alarms[job], truth, 15) for job, truth in truths.items() if is_big(truth) and sigma[job] >= 0.08]
        false = sum(is_false(n, truths[job]) for job, own in alarms.items() for n in own)
        rate = 1000 * false / sum(map(len, points.values()))
        print(f"  {name:<36}{told(quiet):>22}{told(noisy):>19}{rate:>20.2f}")
    show_causes(truths, models)


def alarms_of(job: str, model: JobModel) -> list[int]:
    return sorted({*shifts_of(model), *unusual_places(model)})


def shifts_of(model: JobModel) -> list[int]:
    return [shift.found for shift in model.shifts if abs(shift.log_ratio) >= LEAST]


def above_mean(points: Sequence[RunPoint]) -> list[int]:
    times = [point.total_s for point in points]
    return [n for n in range(5, len(times)) if times[n] > np.mean(times[:n]) + 3 * np.std(times[:n], ddof=1)]


def above_last(points: Sequence[RunPoint]) -> list[int]:
    times = [point.total_s for point in points]
    return [n for n in range(5, len(times)) if times[n] > 1.1 * times[n - 1]]


def is_big(truth: Truth) -> bool:
    return truth.kind == "regression" and truth.factor >= 1.2 and truth.first is not None


def hit(alarms: Sequence[int], truth: Truth, within: int) -> bool:
    return truth.first is not None and any(truth.first <= n < truth.first + within for n in alarms)


def is_false(place: int, truth: Truth) -> bool:
    """Of a job that has not changed, or not yet, or whose change was long ago."""
    return truth.first is None or not truth.first <= place < truth.first + 30


def told(found: Sequence[bool]) -> str:
    return f"{sum(found)} of {len(found)}"


def show_causes(truths: Mapping[str, Truth], models: Mapping[str, JobModel]) -> None:
    right, dated, seen = 0, 0, 0
    sizes: list[bool] = []
    errors: list[float] = []
    settings, named = 0, 0
    for job, truth in truths.items():
        if truth.first is None:
            continue
        found = [
            one for one in changes_of(job, models[job]) if abs(place_of(models[job], one.run_id) - truth.first) <= 5
        ]
        if not found:
            continue
        texts = [cause.name for cause in found[0].causes]
        if truth.kind == "regression":
            seen += 1
            right += truth.stage in texts
            dated += abs(place_of(models[job], found[0].run_id) - truth.first) <= 1
            true = more_of(models[job], truth)
            sizes.append(found[0].low <= true <= found[0].high)
            errors.append(abs(found[0].change - true))
        else:
            settings += 1
            named += _OWN_NAMES.get(truth.setting, truth.setting) in texts
    print(f"  of {seen} regressions found: stage named right {right}, date within a run {dated}, ", end="")
    print(f"size in 90% interval {sum(sizes)}, size off by {np.mean(errors) if errors else 0:.1%} on average")
    print(f"  of {settings} changes of settings that changed the time: setting named {named}\n")


def more_of(model: JobModel, truth: Truth) -> float:
    """By how much the whole run takes longer: stages are a part of it."""
    assert truth.first is not None
    before = [point for point in model.points[: truth.first] if point.record is not None]
    shares = [sum(stage.wall_s for stage in one.record.stages) / one.total_s for one in before if one.record]
    return (truth.factor - 1) * float(np.median(shares))


def place_of(model: JobModel, run_id: str) -> int:
    return next(n for n, one in enumerate(model.scored) if one.point.run_id == run_id)


# ---------------------------------------------------------------- savings


def show_savings(n_jobs: int, seed: int) -> None:
    """Of jobs whose tasks are played on the executors that were advised."""
    jobs = make_jobs(n_jobs, seed)
    all_points = {job.name: points_of(history_of_job(job).runs) for job in jobs}
    prior = learn_prior(all_points.values())
    promised, true, real, inside, n, memory, enough = 0.0, 0.0, 0, 0, 0, 0, 0
    for job in jobs:
        points = all_points[job.name]
        for saving in savings_of(job.name, JobModel(points, prior), points[0].started_s, None):
            if saving.what == "executors":
                fewer = int(saving.properties["spark.executor.instances"])
                got = sum(run.core_hours(run.executors) - run.core_hours(fewer) for run in job.runs)
                n, promised, true = n + 1, promised + saving.core_hours, true + got
                real += got > 0.5 * saving.core_hours
                inside += saving.low_core_hours <= got <= saving.high_core_hours
            elif saving.what == "memory":
                memory += 1
                gib = int(saving.properties["spark.executor.memory"][:-1])
                enough += max(job.future_peaks) <= gib
    print(f"Savings on {n_jobs} jobs whose tasks are played on the executors that were advised")
    print(f"  executors: {n} advised, {real} bring at least half of what was told ({real / max(n, 1):.0%}); ", end="")
    print(f"90% interval right for {inside}")
    print(f"  sum: {promised:.1f} core-hours told, {true:.1f} true ({promised / true - 1 if true else 0:+.0%})")
    print(f"  memory: {memory} advised, enough for 200 runs to come in {enough}\n")


if __name__ == "__main__":
    main()
