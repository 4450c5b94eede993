"""The paper's final evaluation: five jobs with an SLO each, run three times with the batch size that Courier chose."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from sparkcast.data import read_csv
from sparkcast.errors import StudyError
from sparkcast.learned.knowledge import Knowledge
from sparkcast.recommend import Recommendation
from sparkcast.replications import Row, Section, compare, data_file, show
from sparkcast.study import Configuration, Dataset, Observation
from sparkcast_papers.courier2021 import _printed
from sparkcast_papers.courier2021._runs import (
    BOOSTING,
    BOOSTING_ACCURACY,
    BOOSTING_WRONG,
    COURIER,
    COURIER_ACCURACY,
    FACTORS,
    without_rows,
)
from sparkcast_papers.courier2021._slo_models import BOOSTED_3, COURIERS, OURS, Said, both_responses
from sparkcast_papers.courier2021._slo_rules import CONFIDENCE, recommended
from sparkcast_papers.courier2021._slo_simulation import JOB, job_of

KNOWN, BOOSTINGS_CHOICE = "fullfact_all_known_rows.csv", "authors_gb_predictions.csv"
_FLAG, _JOB_SET = "time_equals_previous_row", "courier_exp"
_OTHERS = "computed independently"


@dataclass(frozen=True, slots=True)
class Asked:
    """One job of the evaluation, and what is known of it."""

    candidates: tuple[Configuration, ...]
    slo_s: float
    runs: tuple[Observation, ...]  # with the batch size that Courier chose
    boostings_batch: int
    answer: Recommendation | None  # ours; None: infeasible
    actual: tuple[Observation, ...]  # of what ours chose; empty where nobody ran it

    @property
    def name(self) -> str:
        job = ", ".join(f"{name} {self.candidates[0][name]}" for name in JOB[:2])
        return f"{job}, {self.candidates[0][JOB[2]]}, within {self.slo_s:g} s"

    @property
    def ran_ours(self) -> bool:
        return bool(self.actual) and self.actual == self.runs


def known_before(data: Path) -> Dataset:
    """Every single run of the full factorial that is public, without those whose time is that of the row before."""
    path = data_file(data, KNOWN)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or _FLAG not in rows[0]:
        raise StudyError(f"{path.name} has no column {_FLAG!r}", hint="True where a time repeats the previous row")
    stale = tuple(number for number, row in enumerate(rows, start=1) if row[_FLAG] == "True")
    return both_responses(without_rows(read_csv(path, FACTORS, ("time_s",)), stale))


def boostings_batches(data: Path) -> dict[tuple[object, ...], int]:
    """What boosting, told the right network, chose for each job of the evaluation."""
    path = data_file(data, BOOSTINGS_CHOICE)
    found = read_csv(path, (*JOB, "job_set"), ("chosen_batch",)).observations
    return {
        job_of(run.configuration): int(run.responses["chosen_batch"])
        for run in found
        if run.configuration["job_set"] == _JOB_SET
    }


def by_asked_job(evaluated: Dataset) -> dict[tuple[object, ...], list[Observation]]:
    jobs: dict[tuple[object, ...], list[Observation]] = {}
    for run in evaluated.observations:
        jobs.setdefault(job_of(run.configuration), []).append(run)
    return jobs


def in_order(evaluated: Dataset) -> list[Configuration]:
    """The settings of every run, job by job."""
    return [run.configuration for runs in by_asked_job(evaluated).values() for run in runs]


def ask(evaluated: Dataset, known: Dataset, model: Knowledge, boostings: dict[tuple[object, ...], int]) -> list[Asked]:
    batches = sorted({int(run.configuration["batch"]) for run in known.observations})
    found = []
    for job, runs in by_asked_job(evaluated).items():
        if job not in boostings:
            raise StudyError(f"{BOOSTINGS_CHOICE} has no line for {job}", hint=f"with job_set {_JOB_SET}")
        candidates = tuple(runs[0].configuration | {"batch": batch} for batch in batches)
        slo_s = runs[0].responses["slo_s"]
        answer = recommended(model, candidates, slo_s)
        actual = () if answer is None else _runs_of(answer.chosen.configuration, (evaluated, known))
        found.append(Asked(candidates, slo_s, tuple(runs), boostings[job], answer, actual))
    return found


def _runs_of(configuration: Configuration, where: Sequence[Dataset]) -> tuple[Observation, ...]:
    """The runs of these settings in the first data that have some."""
    for runs in where:
        same = tuple(run for run in runs.observations if run.configuration == configuration)
        if same:
            return same
    return ()


# ---------------------------------------------------------------- what was chosen


def chosen_section(asked: Sequence[Asked], n_known: int) -> Section:
    rows = tuple(row for job in asked for row in (*_choices(job), *_boostings(job), *_runs(job)))
    notes = (
        "'printed' is Courier, 'ours' is what sparkcast recommend says with the default model and a confidence of "
        f"{CONFIDENCE:g}, trained on the {n_known} single runs that are public and not stale, all made before "
        "the evaluation; Courier and boosting were trained on three replicates",
        _where_actuals_come_from(asked),
        "one of the times was entered by hand in the authors' notebooks because its log could not be read",
        *_other_slos(asked),
    )
    return Section("Final evaluation, job by job", "Table 9", rows, notes)


def _choices(job: Asked) -> list[Row]:
    run = job.runs[0]
    batch, time, accuracy = (
        str(run.configuration["batch"]),
        f"{run.responses[COURIER]:.2f}",
        f"{run.responses[COURIER_ACCURACY]:.4f}",
    )
    if job.answer is None:
        return [show(job.name, "batch (ours: infeasible)", None, batch)]
    best = job.answer.chosen
    return [
        show(job.name, "batch", float(best.configuration["batch"]), batch),
        show(job.name, "predicted time, s", best.predicted("time_s").value, time),
        show(job.name, "predicted accuracy", best.predicted("accuracy").value, accuracy),
        show(job.name, "stated probability", best.probability),
    ]


def _boostings(job: Asked) -> list[Row]:
    said = job.runs[0].responses
    return [
        show(job.name, "boosting: batch", job.boostings_batch),
        show(job.name, "boosting: predicted time, s", said[BOOSTING]),
        show(job.name, "boosting: predicted accuracy", said[BOOSTING_ACCURACY]),
    ]


def _runs(job: Asked) -> list[Row]:
    batch, times = job.runs[0].configuration["batch"], [run.responses["time_s"] for run in job.runs]
    rows = [show(job.name, f"run {i} with {batch}, s", time) for i, time in enumerate(times, start=1)]
    met = sum(time <= job.slo_s for time in times)
    accuracy = fmean(run.responses["accuracy"] for run in job.runs)
    return [
        *rows,
        show(job.name, f"of {len(times)} runs on time", met),
        show(job.name, "mean accuracy of the runs", accuracy),
    ]


def _where_actuals_come_from(asked: Sequence[Asked]) -> str:
    others = [job for job in asked if not job.ran_ours]
    if not others:
        return f"ours chooses the batch that was run for all {len(asked)} jobs, so its outcome is known"
    parts = []
    for job in others:
        if job.answer is None:
            parts.append(f"{job.name}: infeasible, so nothing would have been run")
            continue
        batch = job.answer.chosen.configuration["batch"]
        times = ", ".join(f"{run.responses['time_s']:.0f} s" for run in job.actual)
        ran = f"the full factorial that it was trained on has {times}" if times else "that was never run"
        parts.append(f"{job.name}: ours would choose {batch}; {ran}")
    return f"ours does not choose the batch that was run for {len(others)} of {len(asked)} jobs. {'. '.join(parts)}"


def _other_slos(asked: Sequence[Asked]) -> list[str]:
    """Jobs with another SLO in Table 9 than in the experiment."""
    notes = []
    for job in asked:
        printed = _printed.TABLE_9_SLO.get(tuple(job.runs[0].configuration[name] for name in FACTORS[:3]))
        if printed is not None:
            mean = fmean(run.responses["time_s"] for run in job.runs)
            notes.append(
                f"{job.name}: Table 9 has an SLO of {printed} s for this job; the mean of its runs is {mean:.0f} s"
            )
    return notes


# ---------------------------------------------------------------- how good that was


def summary_section(asked: Sequence[Asked], known: Dataset, said: Mapping[str, Said], model: str) -> Section:
    """`said`: of every run, job by job, by those who learned from the same runs as ours."""
    runs = [run for job in asked for run in job.runs]
    names = {OURS: f"ours ({model})", COURIERS: f"{COURIERS}, same runs", BOOSTED_3: f"{BOOSTED_3}, same runs"}
    rows = [*_printed_errors(runs), *(row for who, name in names.items() for row in _errors(name, said[who], runs))]
    rows += _met(asked)
    return Section(
        "Final evaluation: errors where it was run, and SLOs met",
        _OTHERS,
        tuple(rows),
        _why(asked, known),
        is_printed=False,
    )


def _printed_errors(runs: Sequence[Observation]) -> list[Row]:
    said = {"Courier": COURIER, "boosting, given the wrong network": BOOSTING_WRONG, "boosting": BOOSTING}
    rows = [
        compare(who, "MSE of time", printed, _mse(_column(runs, column), runs, "time_s"))
        for (who, column), printed in zip(said.items(), _printed.EVALUATION, strict=True)
    ]
    accuracies = {"Courier": COURIER_ACCURACY, "boosting": BOOSTING_ACCURACY}
    rows += [
        show(who, "mean error of time, s", fmean(_column(runs, said[who])) - fmean(_column(runs, "time_s")))
        for who in accuracies
    ]
    return rows + [
        show(who, "MSE of accuracy", _mse(_column(runs, column), runs, "accuracy"))
        for who, column in accuracies.items()
    ]


def _errors(who: str, said: Said, runs: Sequence[Observation]) -> list[Row]:
    return [
        show(who, "MSE of time", _mse(said.times_s, runs, "time_s")),
        show(who, "mean error of time, s", fmean(said.times_s) - fmean(_column(runs, "time_s"))),
        show(who, "MSE of accuracy", _mse(said.accuracies, runs, "accuracy")),
    ]


def _column(runs: Sequence[Observation], name: str) -> list[float]:
    return [run.responses[name] for run in runs]


def _mse(said: Sequence[float], runs: Sequence[Observation], response: str) -> float:
    return fmean((value - run.responses[response]) ** 2 for value, run in zip(said, runs, strict=True))


def _met(asked: Sequence[Asked]) -> list[Row]:
    """Single runs, for who is promised a deadline has one job and not a mean of three."""
    ran = [(run, job.slo_s) for job in asked for run in job.runs]
    means = sum(fmean(run.responses["time_s"] for run in job.runs) <= job.slo_s for job in asked)
    same = all(job.boostings_batch == job.runs[0].configuration["batch"] for job in asked)
    rows = [
        show("Courier", f"of {len(asked)} means of three runs on time", means),
        *_in_time("Courier and boosting" if same else "Courier", ran),
    ]
    rows += _in_time("ours, where known", [(run, job.slo_s) for job in asked for run in job.actual])
    answers = [job.answer for job in asked if job.answer is not None]
    if answers:
        rows.append(show("ours", "mean stated probability", fmean(answer.chosen.probability for answer in answers)))
    rows.append(show("ours", f"of {len(asked)} jobs infeasible", len(asked) - len(answers)))
    return rows


def _in_time(who: str, ran: Sequence[tuple[Observation, float]]) -> list[Row]:
    met = sum(run.responses["time_s"] <= slo_s for run, slo_s in ran)
    accuracies = [run.responses["accuracy"] for run, _ in ran if "accuracy" in run.responses]
    rows = [show(who, f"of {len(ran)} single runs on time", met)]
    return rows + ([show(who, "mean accuracy", fmean(accuracies))] if accuracies else [])


def _why(asked: Sequence[Asked], known: Dataset) -> tuple[str, ...]:
    notes = [
        "like Courier, boosting chooses among four batch sizes, so it has the same runs where it made the same choice",
        _known_accuracies(known),
    ]
    ratios = [ratio for job in asked for ratio in _slower(job, known)]
    if ratios:
        notes.append(
            f"the times of the {len(ratios)} runs whose configuration is in the training data differ from these by "
            f"{100 * (fmean(ratios) - 1):+.0f} % in the mean ({100 * (min(ratios) - 1):+.0f} to "
            f"{100 * (max(ratios) - 1):+.0f} %), on other clusters (mistake 6): the closer a model follows its "
            "training data, the more its answers differ as well, and a probability learned on one cluster does "
            "not transfer to another. What helps is more replicates on the cluster where jobs will run"
        )
    return tuple(notes)


def _known_accuracies(known: Dataset) -> str:
    runs = [run for run in known.successful("accuracy") if run.configuration["network"] == "simplenet"]
    batches = sorted({int(run.configuration["batch"]) for run in runs})
    return (
        f"{len(runs)} accuracies of simplenet are public, with batches of "
        f"{', '.join(map(str, batches)) or 'no size'}: for the others ours can only extrapolate from lenet5. "
        "The choice rests on the order of the batch sizes alone"
    )


def _slower(job: Asked, known: Dataset) -> list[float]:
    """The times of the job's runs relative to the mean of earlier ones with the same settings, where there are any."""
    before = [run.responses["time_s"] for run in _runs_of(job.runs[0].configuration, (known,))]
    return [run.responses["time_s"] / fmean(before) for run in job.runs] if before else []
