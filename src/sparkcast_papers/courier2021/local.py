"""The paper in small: its full factorial on two cores, really run, and deadlines that real runs met or missed."""

import dataclasses
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import fmean

from sparkcast import api
from sparkcast.api import Data
from sparkcast.replications import PaperPart, PartResult, Row, Section, show
from sparkcast.study import Configuration, Dataset
from sparkcast_papers._local import absent, duration_rows, local_section, mean_of, results_file
from sparkcast_papers.courier2021 import PARTS
from sparkcast_papers.courier2021._printed import FOREST, LAWS, LINEAR, TABLE_3, TIME
from sparkcast_papers.courier2021._runs import FACTORS
from sparkcast_papers.courier2021._slo_models import Task, answer_all, both_responses
from sparkcast_papers.courier2021._slo_played import (
    COURIERS_RULE,
    learned_rules,
    ours_by,
    outcome_rows,
    outcomes_of,
    within_limits,
)
from sparkcast_papers.courier2021._slo_rules import CONFIDENCE
from sparkcast_papers.courier2021._slo_simulation import draw, playable, without_job
from sparkcast_papers.courier2021._techniques import FEWER_TREES

RUNS = "factorial.csv"
_NAMES = {"executors": "cpu", "batch_size": "batch", "jobs": "njobs"}  # ours and the paper's
_MODELS = {"linear": LINEAR, "operational-laws": LAWS, "courier": FOREST, "auto": ""}
_FORMULA = "executors * jobs + batch_size + network"
_DRAWS, _SEED = 1000, 0
_MEAN_OVER_DEVIATION = 3  # the paper's deadlines are N(300, 100)


@PARTS.register("local")
class Local(PaperPart):
    """The paper in small, from real runs: what matters, models, and deadlines by Courier's rule, ours, an oracle."""

    def __init__(
        self, model: str = "auto", beside: str = "courier", trees: int = FEWER_TREES, workers: int | None = None
    ) -> None:
        self._model, self._beside, self._trees, self._workers = model, beside, trees, workers

    def run(self, data: Path | None) -> PartResult:
        path = results_file("courier2021", RUNS, data)
        if path is None:
            return absent(RUNS)
        runs = api.load_data(path)
        deadlines, headline = self._deadlines(runs.dataset)
        sections = (_what_matters(runs), self._models(runs), deadlines)
        note = (
            "in small: 1,000 images of MNIST for 2 epochs on one machine with two cores, two runs of each combination; "
            "the paper trained 10 epochs of 60,000 on three machines with 16 cores each, three times. Where two jobs "
            "of two executors are submitted, the second waits for the first: its training is not slower, its response "
            "is"
        )
        return PartResult(sections, notes=(note,), headlines=(headline,))

    def _models(self, runs: Data) -> Section:
        models = [name if name != "auto" else self._model for name in _MODELS]
        validation = api.validate(runs, "work_s", protocol="loo", models=models)
        rows: list[Row] = []
        for card in validation.scorecards:
            printed = TIME[_MODELS[card.model]][1] if _MODELS.get(card.model) else ""
            rows.append(show(card.model, "R², combination never seen", card.r_squared, printed))
            rows.append(show(card.model, "mean error, %", card.mape))
        notes = ("the paper's R² are of rows whose combination was also learned from (mistake 2)",)
        return local_section("Models of the training time", "Tables 4, 6 and 8", rows, notes)

    def _deadlines(self, runs: Dataset) -> tuple[Section, str]:
        """Each job is left out with all its runs; these then meet or miss the deadline, each replicate by itself."""
        clean = both_responses(in_paper_names(runs))
        jobs = {(*key, number): job for number, one in _replicates(clean) for key, job in playable(one).items()}
        kinds = {key[:-1]: job.candidates for key, job in jobs.items()}
        task = partial(Task, model=self._model, trees=self._trees)
        tasks = [task(without_job(clean, kind), (at,), beside=self._beside) for kind, at in kinds.items()]
        answers = dict(zip(kinds, answer_all(tasks, self._workers), strict=True))
        learned = [learned_rules(answers[key[:-1]], 0, job, self._model, self._beside) for key, job in jobs.items()]
        mean_s = fmean(run.responses["time_s"] for run in clean.successful("time_s"))
        n_candidates = len(next(iter(jobs.values())).candidates)
        deviation_s = mean_s / _MEAN_OVER_DEVIATION
        draws = draw(_DRAWS, len(jobs), n_candidates, _SEED, mean_s, deviation_s)
        outcomes = outcomes_of(learned, jobs, draws)
        rows = [row for name, found in outcomes.items() for row in outcome_rows(name, found)]
        held, n = within_limits(learned, jobs)
        rows.append(show("ours", f"of {n} runs within their {100 * CONFIDENCE:g} % limit", held))
        title = f"{_DRAWS} SLOs from N({mean_s:.1f}, {deviation_s:.1f}) s for {len(kinds)} jobs never seen"
        notes = (
            "a deadline is met when the real run with the chosen batch size was in time; every model learned from the "
            "same runs, all but those of the job in question",
            "the mean of the SLOs is that of the measured times, their deviation a third of it, as in the paper's "
            "N(300, 100)",
        )
        mine, couriers = outcomes[ours_by(self._model)], outcomes[COURIERS_RULE]
        headline = (
            f"in small, really run: of {_DRAWS} deadlines for jobs never seen, Courier's rule meets "
            f"{100 * couriers.met_of_feasible:.1f} % of those that can be met; {ours_by(self._model)} meets "
            f"{100 * mine.met_of_promised:.1f} % of those it promises, {100 * mine.met_of_feasible:.1f} % of all"
        )
        return local_section(title, "section 5.2", rows, notes), headline


def _replicates(runs: Dataset) -> list[tuple[int, Dataset]]:
    numbers = sorted({run.replicate for run in runs.observations})
    return [
        (number, dataclasses.replace(runs, observations=tuple(r for r in runs.observations if r.replicate == number)))
        for number in numbers
    ]


def in_paper_names(runs: Dataset) -> Dataset:
    """The runs with the names of the paper's settings, and nothing but these. Its time is that of the training."""
    observations = tuple(
        dataclasses.replace(
            run, configuration=_renamed(run.configuration), responses=_with_training_time(run.responses)
        )
        for run in runs.observations
    )
    return Dataset(FACTORS, observations, runs.name, ("time_s", "accuracy"))


def _with_training_time(responses: Mapping[str, float]) -> dict[str, float]:
    return {**responses, "time_s": responses["work_s"]} if "work_s" in responses else dict(responses)


def _renamed(configuration: Configuration) -> Configuration:
    found = {_NAMES.get(name, name): level for name, level in configuration.items()}
    return Configuration({name: found[name] for name in FACTORS})


def _what_matters(data: Data) -> Section:
    runs, analysis = data.dataset, api.analyze(data, "work_s", formula=_FORMULA, transform="none")
    rows = duration_rows(runs)
    for term in analysis.rows:
        theirs = ":".join(_NAMES.get(name, name) for name in term.term.split(":"))
        if term.f is not None:
            rows.append(show(theirs, "F, training time", term.f, TABLE_3.get(theirs, ("",))[0]))
    for batch in runs.levels("batch_size"):
        rows.append(show(f"batch {batch}", "seconds, mean", mean_of(runs, "work_s", batch_size=batch)))
        rows.append(show(f"batch {batch}", "accuracy, mean", mean_of(runs, "accuracy", batch_size=batch)))
    for executors in runs.levels("executors"):
        for jobs in runs.levels("jobs"):
            item = f"{executors} executor(s), {jobs} job(s)"
            rows.append(show(item, "seconds, mean", mean_of(runs, "work_s", executors=executors, jobs=jobs)))
    return local_section("What matters", "Table 3", rows)
