"""The runs that make a model's coefficients most certain, among all that the rules allow."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from sparkcast.arrays import Floats, Ints
from sparkcast.designs import DESIGNS, Chosen, TimeOf
from sparkcast.designs._center import center_points
from sparkcast.designs._exchange import ExchangeProblem, best_runs, best_within, cheapest_basis
from sparkcast.designs._size import require_few_runs
from sparkcast.designs.feasible import feasible
from sparkcast.designs.run_time import RunTime
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.study import Configuration, Role, Study, Vocabulary
from sparkcast.study.derive import time_cost
from sparkcast.study.formula import Formula, make_formula, read_formula
from sparkcast.study.matrix import Coding, model_matrix
from sparkcast.study.setting import SIZES
from sparkcast.units import as_number, parse_seconds, show_money, show_seconds

if TYPE_CHECKING:
    import pandas as pd

ERNEST = "ernest"  # Venkataraman et al., NSDI 2016


@DESIGNS.register("optimal")
@dataclass(frozen=True, slots=True)
class Optimal:
    """The D- or A-optimal runs for a model, for a number of runs or a budget, within the rules.

    runs: 20; in each replicate
    budget: 2h is a time, 3.50 is money at the study's price; for all replicates together
    formula: executors * batch_size + I(batch_size**2), or ernest; default: pairs of factors, and bends of numbers
    criterion: D (the volume of the coefficients' confidence region) or A (the mean of their variances)
    time: 5m, 30 + 600 / executors, or earlier.csv with runs to learn it from; default: limits.trial

    A combination may be chosen more than once; it is then run as often. Without runs and budget: half as many runs
    again as the model has coefficients.
    """

    runs: int | None = None
    budget: str | int | float | None = None
    formula: str | None = None
    criterion: Literal["D", "A"] = "D"
    time: str | int | float | None = None

    def __post_init__(self) -> None:
        if self.runs is not None and self.runs < 2:
            raise StudyError(f"design.runs = {self.runs} is less than 2", hint="e.g. runs: 20")
        require_few_runs(self.runs or 0, f"design.runs = {self.runs}")
        if self.runs is not None and self.budget is not None:
            raise StudyError("design.runs and design.budget contradict each other", hint="use only one of them")
        if isinstance(self.budget, str):
            parse_seconds(self.budget)
        elif self.budget is not None and self.budget <= 0:
            raise StudyError(
                f"design.budget = {self.budget} is not positive", hint="budget: 2h, or budget: 3.50 for money"
            )
        if self.time is not None:
            RunTime(self.time).check()

    def choose(self, study: Study, time_of: TimeOf | None = None) -> Chosen:
        candidates = feasible(study)
        model = self._model(study, candidates.configurations)
        rows, notes = model.rows, (*candidates.notes, *model.notes)
        if self.budget is None:
            runs = self.runs or math.ceil(1.5 * rows.shape[1])
            if runs < rows.shape[1]:
                raise _too_few(study, "runs", f"{runs} runs", rows.shape[1], model.text)
            problem = ExchangeProblem(rows, np.ones(len(rows)), self.criterion)
            chosen = best_runs(problem, runs, study.design.seed)
        else:
            costs = np.array([self._cost(study, c, time_of) for c in candidates.configurations])
            problem = ExchangeProblem(rows, costs, self.criterion)
            chosen = self._within_budget(study, problem, model.text, time_of)
        note = (
            f"{self.criterion}-optimal among {len(rows):,} combinations for {model.text} ({rows.shape[1]} coefficients)"
        )
        return Chosen([candidates.configurations[i] for i in chosen], (note, *notes))

    # ------------------------------------------------------------ the model

    def _model(self, study: Study, configurations: Sequence[Configuration]) -> "_Model":
        if self.formula is not None and self.formula.strip().lower() == ERNEST:
            return _ernest(study, configurations)
        coding = Coding.of({f.name: [c[f.name] for c in configurations] for f in study.factors})
        frame = coding.frame(configurations)
        if self.formula is None:
            return _default_model(coding, frame)
        is_number = {name: coding.is_number(name) for name in coding.factors}
        try:
            formula = read_formula(self.formula, study.responses[0].name, coding.factors, is_number)
            rows = model_matrix(formula, frame)
        except StudyError as error:
            raise StudyError(f"{study.where('design', 'formula')}{error.problem}", hint=error.hint) from error
        if _rank(rows) < rows.shape[1]:
            raise StudyError(
                f"{study.where('design', 'formula')}no choice of runs can separate the terms of {formula.text!r}",
                hint="use fewer terms, or relax a rule that ties settings together",
            )
        return _Model(formula.text, rows)

    # ------------------------------------------------------------ money and time

    def _cost(self, study: Study, configuration: Configuration, time_of: TimeOf | None) -> float:
        """What a run takes out of the budget: seconds or money."""
        seconds = self._run_time(study, configuration, time_of)
        if isinstance(self.budget, str):
            return seconds
        if study.price is None:
            raise StudyError(
                f"{study.where('design', 'budget')}design.budget = {self.budget} is an amount of money, but the "
                "study has no price",
                hint="add price: {core_hour: 0.05}, or write a time: budget: 2h",
            )
        cost = time_cost(seconds, configuration, study.price, study.vocabulary)
        if cost <= 0:
            raise StudyError(
                f"{study.where('price')}at the study's price every run is free", hint="price: {core_hour: 0.05}"
            )
        return cost

    def _run_time(self, study: Study, configuration: Configuration, time_of: TimeOf | None) -> float:
        if time_of is not None:
            return time_of(configuration)
        if self.time is not None and not RunTime(self.time).file:
            return RunTime(self.time).of(study, configuration)
        if self.time is not None:
            raise StudyError(
                f"{study.where('design', 'time')}times from {self.time} need a model that predicts them",
                hint="pass make_plan a function that predicts the time of a run",
            )
        if study.limits.trial_s is None:
            raise StudyError(
                f"{study.where('design', 'budget')}a budget needs an estimate of the time of one run",
                hint="add time: 5m or time: 30 + 600 / executors to the design, or limits: {trial: 5m}",
            )
        return study.limits.trial_s

    def _within_budget(self, study: Study, problem: ExchangeProblem, text: str, time_of: TimeOf | None) -> Ints:
        assert self.budget is not None
        total = parse_seconds(self.budget) if isinstance(self.budget, str) else float(self.budget)
        center = sum(self._cost(study, c, time_of) for c in center_points(study).configurations)
        budget = total / study.design.replicates - center
        found = best_within(problem, budget, study.design.seed)
        if found is None:
            affordable = int(budget // problem.costs.min())
            needed = float(problem.costs[cheapest_basis(problem)].sum() + center) * study.design.replicates
            currency = study.price.currency if study.price else ""
            show = show_seconds if isinstance(self.budget, str) else partial(show_money, currency=currency, up=True)
            raise _too_few(
                study,
                "budget",
                f"the budget of {show(total)} pays for only {max(0, affordable)} of the cheapest runs",
                problem.rows.shape[1],
                text,
                f"budget: at least {show(needed)}, or a formula with fewer terms",
            )
        return found


@dataclass(frozen=True, slots=True)
class _Model:
    text: str
    rows: Floats
    notes: tuple[str, ...] = ()


def _too_few(study: Study, option: str, given: str, coefficients: int, text: str, hint: str = "") -> StudyError:
    return StudyError(
        f"{study.where('design', option)}{given}, fewer than the {coefficients} coefficients of {text}",
        hint=hint or f"runs: {coefficients} or more, or a formula with fewer terms",
    )


def _default_model(coding: Coding, frame: "pd.DataFrame") -> _Model:
    """Main effects and bends, and the pairs that the feasible combinations can tell apart."""
    names = coding.varied
    formula = make_formula(coding, names)
    rows = model_matrix(formula, frame)
    if _rank(rows) < rows.shape[1]:
        raise NotEnoughDataError(
            f"no choice of runs can tell the terms of {formula.text} apart: the rules tie settings together",
            hint="relax a rule, or use fewer terms: formula: a + b",
        )
    pairs = list(combinations(names, 2))
    whole = make_formula(coding, names, pairs)
    rows = model_matrix(whole, frame)
    if _rank(rows) == rows.shape[1]:
        return _Model(whole.text, rows)
    kept: list[tuple[str, str]] = []
    best: tuple[Formula, Floats] = (formula, model_matrix(formula, frame))
    for pair in pairs:
        larger = make_formula(coding, names, [*kept, pair])
        rows = model_matrix(larger, frame)
        if _rank(rows) == rows.shape[1]:
            kept.append(pair)
            best = (larger, rows)
    lost = ", ".join(f"{a}:{b}" for a, b in pairs if (a, b) not in kept)
    return _Model(
        best[0].text, best[1], (f"the combinations that the rules allow cannot estimate {lost}: left out of the model",)
    )


def _ernest(study: Study, configurations: Sequence[Configuration]) -> _Model:
    """Ernest's terms that vary: 1, size / machines, log(machines), machines."""
    words = study.vocabulary
    machines = np.array([_first(words, c, Role.MACHINES) * _first(words, c, Role.CORES) for c in configurations])
    sizes = np.array([_first(words, c, *SIZES) for c in configurations])
    if (machines <= 0).any() or (sizes <= 0).any():
        raise StudyError(
            f"{study.where('design', 'formula')}ernest needs a positive number of machines and a positive data size",
            hint="check the settings, or use another formula",
        )
    terms = {
        "1": np.ones(len(machines)),
        "size / machines": sizes / machines,
        "log(machines)": np.log(machines),
        "machines": machines,
    }
    kept: dict[str, Floats] = {}
    for name, column in terms.items():
        scaled = np.stack([*kept.values(), column / np.abs(column).max() if np.abs(column).max() else column], axis=1)
        if _rank(scaled) == scaled.shape[1]:
            kept[name] = scaled[:, -1]
    if len(kept) < 2:
        raise StudyError(
            f"{study.where('design', 'formula')}formula: ernest needs a setting for machines or data size that varies",
            hint="vary one of them; roles: {NAME: machines} or {NAME: data-size} says which setting is which",
        )
    return _Model(" + ".join(kept), np.stack(list(kept.values()), axis=1))


def _first(words: Vocabulary, configuration: Configuration, *roles: Role) -> float:
    numbers = [name for name, level in configuration.items() if as_number(level) is not None]
    name = words.first(*roles, among=numbers)
    return 1.0 if name is None else as_number(configuration[name]) or 0.0


def _rank(rows: Floats) -> int:
    return int(np.linalg.matrix_rank(rows.T @ rows, hermitian=True))
