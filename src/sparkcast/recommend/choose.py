"""The best settings that keep to a deadline, a budget or an accuracy with the wanted probability."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.learned.curves import EPOCHS, fit_curve, has_curves
from sparkcast.learned.feasibility import Feasibility, fit_feasibility
from sparkcast.learned.saved import SavedModel, constants_in, seen_in
from sparkcast.learned.support import Extrapolating, categories_of
from sparkcast.learned.tabulate import Table, failure_table, is_supported, tabulate
from sparkcast.models import MODELS, Fitted
from sparkcast.recommend import Candidate, Limit, Recommendation
from sparkcast.recommend.explain import alternatives, infeasible, why
from sparkcast.recommend.nearest import Measured
from sparkcast.recommend.pareto import pareto_front
from sparkcast.recommend.question import ACCURACY, COST, TIME, Objective, Question, objective_of
from sparkcast.recommend.standing import Asked, Known, Paid, View, rows_like, same_for_all, significant
from sparkcast.recommend.submit import conf_lines, job_arguments
from sparkcast.registry import did_you_mean
from sparkcast.study import Dataset, Level, Price, same_level, show_configuration
from sparkcast.study.derive import hourly_columns
from sparkcast.study.space import Candidates, Pool

_MOST_OF_THE_FRONT = 50
_PRICE_HINT = "give a price in the study, e.g. price: {core_hour: 0.05}, or --price core_hour=0.05"


def _known(data: Dataset | SavedModel) -> Known:
    if isinstance(data, SavedModel):
        about = data.about
        return Known(about.factors, about.fixed, about.seen, tuple(data.fitted))
    measured = dict.fromkeys(name for run in data.observations if run.ok for name in run.responses)
    return Known(data.factors, constants_in(data), seen_in(data), tuple(measured))


def _feasibility(data: Dataset | SavedModel) -> Feasibility | None:
    return data.feasibility if isinstance(data, SavedModel) else fit_feasibility(data)


def recommend(
    data: Dataset | SavedModel,
    candidates: Pool,
    *,
    price: Price | None = None,
    model: str = "auto",
    extrapolate: bool = False,
    **question: Any,
) -> Recommendation:
    """The candidate that is best for the objective among those that keep to every limit with `confidence`.

    Takes what `Question` has. A candidate that was run and never succeeded is left out, and so is one too far from what
    was measured unless `extrapolate`. Raises InfeasibleError when none keeps to the limits. A model file brings its own
    models.
    """
    return Recommender(data, candidates, price=price, model=model, extrapolate=extrapolate).ask(Question(**question))


class Recommender:
    """Answers many questions about the same candidates: models are fitted and asked once, at the first that needs them.

    Settings that are fixed to a value make other candidates, which are looked at once as well.
    """

    def __init__(
        self,
        data: Dataset | SavedModel,
        candidates: Pool,
        *,
        price: Price | None = None,
        model: str = "auto",
        extrapolate: bool = False,
    ) -> None:
        self._data, self._pool, self._price, self._model = data, candidates, price, model
        self._extrapolate = extrapolate
        self.known = _known(data)
        self._runs = {self.known.key(seen.configuration): seen.ok for seen in self.known.seen}
        self.measured = Measured(self.known)
        self._fitted: dict[tuple[str, bool], tuple[str, Fitted]] = {}
        self._hopeless: set[str] = set()  # responses that no question needed and that could not be learned
        self._failures: Feasibility | None = None
        self._views: dict[tuple[tuple[str, str], ...], View] = {}

    def ask(self, question: Question) -> Recommendation:
        objective = objective_of(question, self.known.responses)
        asked = self._asked(*self._view(question.fix), question, objective)
        if not asked.meets.any():
            raise infeasible(asked, self._freed(question))
        return _answer(self, asked)

    def probabilities(self, question: Question) -> tuple[Candidates, Any]:
        """Every candidate, and the probability that it keeps to all limits."""
        import numpy as np

        asked = self._asked(*self._view(question.fix), question, objective_of(question, self.known.responses))
        rows = np.flatnonzero(asked.allowed)
        return asked.view.candidates.take(rows), asked.probability(rows)

    def _freed(self, question: Question) -> list[tuple[str, Candidate]]:
        """Which fixed setting alone stands in the way: its name, and what would be chosen without it."""
        found = []
        for name in question.fix:
            others = {other: value for other, value in question.fix.items() if other != name}
            try:
                chosen = self.ask(replace(question, fix=others, most=1)).chosen
            except (InfeasibleError, NotEnoughDataError):
                continue
            found.append((name, chosen))
        return found

    def forget_candidates(self) -> None:
        """Look at the candidates anew when the next question is asked."""
        self._views.clear()

    # ------------------------------------------------------------ what is known of the candidates

    def _view(self, fix: Mapping[str, Level]) -> tuple[View, Any]:
        """Candidates, and which of them have the fixed settings.

        Those that were looked at already serve again when they have the fixed settings among others.
        """
        import numpy as np

        whole = self._views.get(())
        if whole is not None and fix and (like := _having(whole.candidates, fix, self.known)).any():
            return whole, like
        key = tuple(sorted((name, str(value)) for name, value in fix.items()))
        if key not in self._views:
            self._views[key] = self.view_of(candidates_of(self._pool, fix, self.known), fix)
        return self._views[key], np.ones(len(self._views[key].candidates), dtype=bool)

    def view_of(self, candidates: Candidates, fix: Mapping[str, Level]) -> View:
        import numpy as np

        if not len(candidates):
            raise _nothing_left(self._pool, fix)
        broke = np.zeros(len(candidates), dtype=bool)
        proven = broke.copy()
        for seen in self.known.seen:
            if seen.failed:
                like = rows_like(candidates, seen.configuration, self.known.factors)
                broke |= like & (seen.ok == 0)
            elif self._has_failures():
                proven |= rows_like(candidates, seen.configuration, self.known.factors)
        if broke.all():
            raise InfeasibleError(
                f"all {len(candidates)} candidates failed when they were run",
                hint="try settings with more memory or time",
            )
        return View(candidates, broke, proven)

    def table(self, view: View, response: str) -> Table:
        if response not in view.tables:
            _, fitted = self.fitted(response, view.is_by_epoch(self.known))
            supported = is_supported(fitted, view.candidates)
            if not (~view.broke & supported).any():
                first = int(view.broke.argmin())
                [error] = fitted.beyond([view.candidates.configuration(first)])
                raise error or NotEnoughDataError("no candidate is near what was measured", hint="run more of them")
            view.supported[response] = supported
            view.tables[response] = tabulate(fitted, view.candidates)
        return view.tables[response]

    def fitted(self, response: str, is_by_epoch: bool) -> tuple[str, Fitted]:
        key = (response, is_by_epoch)
        if key not in self._fitted:
            name, found = self._fit_by_epoch(response) if is_by_epoch else self._fit(response)
            if self._extrapolate:
                categories = categories_of([seen.configuration for seen in self.known.seen], self.known.factors)
                found = Extrapolating(found, response, categories)
            self._fitted[key] = (name, found)
        return self._fitted[key]

    def _require(self, response: str) -> None:
        if response in self.known.responses:
            return
        if response == COST:
            raise StudyError("the cost is unknown without a price", hint=_PRICE_HINT)
        lacks = "the model file has no model of" if isinstance(self._data, SavedModel) else "no run has a response"
        raise StudyError(f"{lacks} {response!r}", hint=did_you_mean(response, self.known.responses))

    def _fit(self, response: str) -> tuple[str, Fitted]:
        if not isinstance(self._data, SavedModel):
            return self._model, MODELS.get(self._model)().fit(self._data, response)
        return self._data.about.responses[response].model, self._data.fitted[response]

    def _fit_by_epoch(self, response: str) -> tuple[str, Fitted]:
        if isinstance(self._data, Dataset) and has_curves(self._data, response):
            return "curve", fit_curve(self._data, response)
        if isinstance(self._data, SavedModel) and response in self._data.curves:
            return "curve", self._data.curves[response]
        raise NotEnoughDataError(
            f"the runs do not tell {response} by epoch, so the number of epochs cannot be free",
            hint="make the number of epochs a factor, or measure with a workload that reports every epoch",
        )

    def _has_failures(self) -> bool:
        return any(seen.failed for seen in self.known.seen)

    def failures(self, view: View) -> Any:
        """How likely each candidate fails, or None when no run has failed: a rule of thumb would exclude everything."""
        if view.failure is None and self._has_failures():
            if self._failures is None:
                self._failures = _feasibility(self._data)
            view.failure = None if self._failures is None else failure_table(self._failures, view.candidates)
        return view.failure

    # ------------------------------------------------------------ one question

    def _asked(self, view: View, wanted: Any, question: Question, objective: Objective) -> Asked:
        must = {objective.response, *(limit.response for limit in question.limits)}
        if self._price is not None and COST in must:
            must = must - {COST} | {TIME}
        for response in must:
            self._require(response)
        tables = {response: self.table(view, response) for response in sorted(must)}
        for response in (TIME, ACCURACY):  # worth telling wherever it is known
            if response in self.known.responses and response not in {*tables, *self._hopeless}:
                try:
                    tables[response] = self.table(view, response)
                except (NotEnoughDataError, StudyError):
                    self._hopeless.add(response)
        if self._price is not None and TIME in tables:
            if view.per_second is None:
                view.per_second = hourly_columns(view.candidates, self.known.constants, self._price) / 3600
            tables[COST] = Paid(tables[TIME], view.per_second)
        _check_accuracy(question, tables)
        order = [r for r in (TIME, ACCURACY, COST, objective.response) if r in tables]
        asked = Asked(
            question, objective, {r: tables[r] for r in dict.fromkeys(order)}, self.failures(view), view, wanted
        )
        if not asked.allowed.any():
            raise NotEnoughDataError(
                f"no candidate is near enough to what was measured for all of {', '.join(asked.tables)}",
                hint="run more configurations; --extrapolate answers all the same, with wide intervals",
            )
        return asked

    def candidates(self, asked: Asked, rows: Any) -> list[Candidate]:
        import numpy as np

        chances = asked.probability(np.asarray(rows)).tolist()
        failure = [None] * len(chances) if asked.failure is None else asked.failure[rows].tolist()
        listed = asked.view.candidates.take(np.asarray(rows))
        parts = zip(
            listed.configurations(), asked.predictions(rows), chances, self._runs_of(listed), failure, strict=True
        )
        return [Candidate(*part) for part in parts]

    def _runs_of(self, candidates: Candidates) -> list[int]:
        """How often each was run, as it is: also for as many epochs."""
        keys = {name: [same_for_all(level) for level in levels] for name, levels in candidates.levels.items()}
        columns = [[keys[name][code] for code in candidates.position(name).tolist()] for name in self.known.factors]
        runs = [self._runs.get(key, 0) for key in zip(*columns, strict=True)]
        if EPOCHS not in candidates.levels or EPOCHS in self.known.factors:
            return runs
        whole = [_is_repeated(self.known, EPOCHS, level) for level in candidates.levels[EPOCHS]]
        return [n if whole[code] else 0 for n, code in zip(runs, candidates.position(EPOCHS).tolist(), strict=True)]

    def models(self, asked: Asked) -> dict[str, str]:
        is_by_epoch = asked.view.is_by_epoch(self.known)
        return {r: self._fitted[r, is_by_epoch][0] for r in asked.tables if (r, is_by_epoch) in self._fitted}


def _check_accuracy(question: Question, tables: Mapping[str, Table]) -> None:
    wanted = question.min_accuracy
    if wanted is not None and wanted > 1 and tables[ACCURACY].values.max() <= 1:
        raise StudyError(
            f"an accuracy of {wanted:g} is never reached: accuracies here are shares", hint=f"write {wanted / 100:g}"
        )


def _answer(recommender: Recommender, asked: Asked) -> Recommendation:
    import numpy as np

    question = asked.question
    good = asked.order[asked.meets[asked.order]]
    listed = good[: max(question.most, 2)]
    if len(good) < question.most:
        listed = np.concatenate([good, asked.nearest_misses(question.most - len(good))])
    front = _front(asked)
    candidates = recommender.candidates(asked, [*listed.tolist(), *front])
    chosen, row = candidates[0], int(good[0])
    margin_s = None
    if question.within_s is not None:
        deadline = Limit(TIME, question.within_s)
        margin_s = float(asked.kept_value(deadline)[row] - asked.values[TIME][row])
    settings = {**recommender.known.constants, **chosen.configuration}
    return Recommendation(
        objective=str(asked.objective),
        within_s=question.within_s,
        confidence=question.confidence,
        models=recommender.models(asked),
        chosen=chosen,
        runner_up=candidates[1] if len(good) > 1 else None,
        candidates=tuple(candidates[: len(listed)]),
        why=why(asked, row, chosen, margin_s),
        margin_s=margin_s,
        conf=conf_lines(settings),
        arguments=job_arguments(settings),
        limits=question.limits,
        n_candidates=int(asked.kept.sum()),
        alternatives=alternatives(asked, row, lambda at: recommender.candidates(asked, [at])[0]),
        pareto=tuple(candidates[len(listed) :]),
        nearest=recommender.measured.nearest(chosen.configuration),
    )


def _front(asked: Asked) -> list[int]:
    """The rows that are not beaten in time, cost and accuracy at once, by time; some of them if they are many."""
    import numpy as np

    signs = {TIME: 1, COST: 1, ACCURACY: -1}
    compared = [response for response in signs if response in asked.values]
    if len(compared) < 2:
        return []
    key = (*asked.tables, asked.question.max_failure, *sorted(asked.question.fix.items()))
    if key not in asked.view.fronts:
        losses = np.column_stack([signs[r] * significant(asked.values[r]) for r in compared])
        rows = np.flatnonzero(asked.kept)
        front = rows[pareto_front(losses[rows])]
        front = front[np.argsort(asked.values[compared[0]][front], kind="stable")]
        some = np.unique(np.linspace(0, len(front) - 1, _MOST_OF_THE_FRONT).round().astype(int))
        asked.view.fronts[key] = front[some].tolist()
    return asked.view.fronts[key]


# ---------------------------------------------------------------- candidates


def candidates_of(pool: Pool, fix: Mapping[str, Level], known: Known) -> Candidates:
    """The candidates with the fixed settings, which may have values that no candidate has by itself."""
    given = {name: value for name, value in fix.items() if not _is_repeated(known, name, value)}
    for name, value in given.items():
        if name in known.factors or (name == EPOCHS and name in known.constants):
            continue
        if name in known.constants:
            raise _never_varied(name, value, known.constants[name])
        names = tuple(dict.fromkeys((*known.factors, *known.constants)))
        raise StudyError(f"cannot fix {name!r}: there is no such setting", hint=did_you_mean(name, names))
    return _as_known(pool.fixing(given).candidates(), known)


def _as_known(candidates: Candidates, known: Known) -> Candidates:
    """The candidates by the settings that models know; others must be what every run had."""
    kept = list(known.factors)
    for name, levels in candidates.levels.items():
        others = [level for level in levels if not _is_repeated(known, name, level)]
        if name == EPOCHS and others and name not in kept:
            kept.append(name)
        elif name not in kept and name in known.constants and others:
            raise _never_varied(name, others[0], known.constants[name])
    for name in kept:
        if name not in candidates.levels:
            raise StudyError(f"a candidate has no value for {name!r}", hint="give every varied setting")
    return candidates if kept == list(candidates.levels) else candidates.only(kept)


def measured_epochs(data: Dataset | SavedModel) -> tuple[int, ...]:
    """1 to the longest run; raises NotEnoughDataError when no run tells its epochs."""
    if isinstance(data, SavedModel):
        known = [axis.numbers for curve in data.curves.values() for axis in curve.domain.axes if axis.name == EPOCHS]  # type: ignore[attr-defined]
        last = max((int(numbers[-1]) for numbers in known if numbers), default=0)
    else:
        last = max((epoch.number for run in data.observations if run.ok for epoch in run.curve), default=0)
    if last < 1:
        raise NotEnoughDataError(
            "no run tells its epochs, so their number cannot be free",
            hint="make the number of epochs a factor, or measure with a workload that reports every epoch",
        )
    return tuple(range(1, last + 1))


def _having(candidates: Candidates, fix: Mapping[str, Level], known: Known) -> Any:
    """Which candidates have the fixed settings; none when one of these is not among their settings."""
    import numpy as np

    given = {name: value for name, value in fix.items() if not _is_repeated(known, name, value)}
    if not given.keys() <= candidates.levels.keys():
        return np.zeros(len(candidates), dtype=bool)
    return rows_like(candidates, given, tuple(given))


def _is_repeated(known: Known, name: str, value: Level) -> bool:
    """Whether this only says what every run had."""
    return name not in known.factors and name in known.constants and same_level(value, known.constants[name])


def _never_varied(name: str, value: Level, seen: Level) -> NotEnoughDataError:
    return NotEnoughDataError(
        f"every run has {name} = {seen}, so nothing is known about {name} = {value}",
        hint=f"run the study with {name} = {value} as another level",
    )


def _nothing_left(pool: Pool, fix: Mapping[str, Level]) -> InfeasibleError:
    """No candidate is left: which fixed setting or which rule alone stands in the way."""
    hints = [
        f"leave out --fix {name}={fix[name]}"
        for name in fix
        if len(pool.fixing({other: value for other, value in fix.items() if other != name}).candidates())
    ]
    relaxed = pool.fixing(fix).without_each_rule()
    hints += [f"change the rule {rule.text!r}" for rule, left in relaxed if len(left.candidates())]
    given = f" with {show_configuration(fix)}" if fix else ""
    return InfeasibleError(
        f"the rules leave no candidate{given}", hint=", or ".join(hints) or "more than one of the rules must change"
    )
