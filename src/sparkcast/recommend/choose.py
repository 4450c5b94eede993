"""The best settings that keep to every limit with the wanted probability."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from sparkcast.arrays import Bools, Floats
from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.fitting.answering import AnswerTable
from sparkcast.learned.feasibility import NoFailure
from sparkcast.learned.knowledge import Knowledge
from sparkcast.learned.support import Extrapolating, categories_of
from sparkcast.learned.tabulate import KeptTable, failure_table, is_near, is_supported, tabulate
from sparkcast.models import Fitted
from sparkcast.recommend import Candidate, Considered, Limit, Prediction, Recommendation
from sparkcast.recommend.amounts import WholeData, whole_data
from sparkcast.recommend.comparison import apart, likely_better, noise_in
from sparkcast.recommend.evaluation import Asked, CostTable, RunRecord, View, rows_like, runs_at, significant
from sparkcast.recommend.explain import alternatives, excluded, infeasible, spends, why
from sparkcast.recommend.identifiable import untold_note
from sparkcast.recommend.launch import launch_of_table
from sparkcast.recommend.neighbors import MeasuredPoints
from sparkcast.recommend.own_runs import OwnRuns, own_runs
from sparkcast.recommend.pareto import pareto_front
from sparkcast.recommend.pool import candidates_of, having, is_repeated, nothing_left
from sparkcast.recommend.question import Objective, Question, limits_of, objective_of
from sparkcast.recommend.resources import Resources, resources_of
from sparkcast.recommend.small_samples import ENOUGH, few_note, is_by_errors, most_teaching
from sparkcast.recommend.ties import select
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Kind, Level, Price, Vocabulary
from sparkcast.study.derive import billed, hourly_columns
from sparkcast.study.names import COST
from sparkcast.study.space import Candidates, Pool

_MOST_OF_THE_FRONT = 50
_MOST_VIEWS = 64  # that are kept: a service answers for weeks
_PRICE_HINT = "give a price in the study, e.g. price: {core_hour: 0.05}, or `price=Price(core_hour=0.05)`"


class Recommender:
    """Answers many questions about the same candidates: models are fitted and asked once, at the first that needs them.

    Settings that are fixed to a value make other candidates, which are looked at once as well.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        candidates: Pool,
        *,
        price: Price | None = None,
        extrapolate: bool = False,
        given: Collection[str] = (),
    ) -> None:
        """`given`: settings whose values to choose from somebody gave; also amounts of data are chosen then."""
        self._knowledge, self._pool, self._price, self._extrapolate = knowledge, candidates, price, extrapolate
        self._given = given
        self.known = RunRecord.of(knowledge)
        self.words = self.known.words if price is None else self.known.words.in_currency(COST, price.currency)
        found = resources_of(self.known.words, self.known.factors, self.known.constants)
        self.resources = None if found is None or found.name in self.known.responses else found
        self._runs = {seen.configuration: (seen.ok, seen.failed + seen.lost) for seen in self.known.seen}
        self._has_failures = any(seen.failed for seen in self.known.seen)
        self._n_ok = sum(seen.ok for seen in self.known.seen)
        self.measured = MeasuredPoints(self.known)
        self._fitted: dict[tuple[str, bool], tuple[str, Fitted]] = {}
        self._noises: dict[str, float | None] = {}
        self._own_runs: dict[str, OwnRuns | None] = {}
        self._hopeless: set[str] = set()  # responses that no question needed and that could not be learned
        self._views: dict[Configuration, View] = {}
        # What the price is paid for is a time of its own, of which only costs are told.
        self._billed: str | None = None
        self._bills = knowledge
        if price is not None:
            runs, self._billed = billed(knowledge.runs, price)
            if self._billed not in self.known.responses:
                self._bills = Knowledge(runs, knowledge.model)

    def limits(self, question: Question) -> tuple[Limit, ...]:
        """Of the responses known here."""
        known = dict.fromkeys((*self.known.responses, *(response.name for response in self.words.responses)))
        return limits_of(question, self.words, tuple(known))

    def ask(self, question: Question) -> Recommendation:
        asked, data = self.standing(question)
        if not asked.meets.any():
            raise infeasible(asked, self._freed(question), data.settings)
        return replace(_answer(self, asked), held=data.settings, notes=(*self.notes(asked), *data.notes))

    def standing(self, question: Question) -> tuple[Asked, WholeData]:
        """Every candidate's standing in a question, and the amounts of data that it is asked at."""
        limits = self.limits(question)
        data = self._whole_data(question, limits)
        whole = replace(question, fix={**question.fix, **data.settings})
        return self._asked(*self._view(whole.fix), whole, limits), data

    def _whole_data(self, question: Question, limits: Sequence[Limit]) -> WholeData:
        given = {**dict.fromkeys(self._given), **question.fix}
        return whole_data(self.known, given, self._objective(question, limits), limits, self.words)

    def _objective(self, question: Question, limits: Sequence[Limit]) -> Objective:
        return objective_of(
            self.words,
            maximize=question.maximize,
            minimize=question.minimize,
            limited=[limit.response for limit in limits],
            resources=None if self.resources is None else self.resources.name,
        )

    def probabilities(self, question: Question) -> tuple[Candidates, Floats]:
        """Every candidate, and the probability that it keeps to all limits."""
        asked, _ = self.standing(question)
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

    def whole_view(self) -> View:
        """What questions without fixed settings choose from."""
        return self._view({})[0]

    def row_of(self, view: View, settings: Configuration) -> int | None:
        """The place of these settings among the candidates of a view."""
        if view.places is None:
            view.places = {one: row for row, one in enumerate(view.candidates.configurations())}
        return view.places.get(settings)

    def forget_candidates(self) -> None:
        """Look at the candidates anew when the next question is asked."""
        self._views.clear()

    # ------------------------------------------------------------ what is known of the candidates

    def _view(self, fix: Mapping[str, Level]) -> tuple[View, Bools]:
        """Candidates, and which of them have the fixed settings.

        Those that were looked at already serve again when they have the fixed settings among others.
        """
        whole = self._views.get(Configuration())
        if (
            whole is not None
            and not whole.is_sample
            and fix
            and (like := having(whole.candidates, fix, self.known)).any()
        ):
            return whole, like
        key = Configuration(fix)
        if key not in self._views:
            view = self.view_of(candidates_of(self._pool, fix, self.known), fix)
            pool = self._pool.fixing(fix) if self._pool.is_sample else self._pool
            view.description, view.is_sample = pool.description, pool.is_sample
            self._views[key] = view
            if len(self._views) > _MOST_VIEWS:
                self._views.pop(next(own for own in self._views if len(own)))
        return self._views[key], np.ones(len(self._views[key].candidates), dtype=bool)

    def view_of(self, candidates: Candidates, fix: Mapping[str, Level]) -> View:
        if not len(candidates):
            raise nothing_left(self._pool, fix)
        broke = np.zeros(len(candidates), dtype=bool)
        proven = broke.copy()
        for seen in self.known.seen:
            if seen.failed:
                like = rows_like(candidates, seen.configuration, self.known.factors)
                broke |= like & (seen.ok == 0)
            elif self._has_failures:
                proven |= rows_like(candidates, seen.configuration, self.known.factors)
        if broke.all():
            raise InfeasibleError(
                f"all {len(candidates)} candidates failed every time they were run",
                hint="try settings with more memory or time",
            )
        ran = [(seen.configuration, seen.ok) for seen in self.known.seen]
        n_runs = runs_at(candidates, ran, self.known.factors)
        near = None if self._extrapolate or (n_runs > 0).all() else self.measured.is_near(candidates)
        return View(candidates, broke, proven, n_runs=n_runs, near=near)

    def table(self, view: View, response: str) -> AnswerTable:
        if response not in view.tables:
            _, fitted = self.fitted(response, view.is_by_epoch(self.known))
            supported = is_supported(fitted, view.candidates)
            if not (~view.broke & supported).any():
                [error] = fitted.beyond([view.first_left()])
                raise error or NotEnoughDataError("no candidate is close to what was measured", hint="run more of them")
            view.supported[response] = supported
            view.tables[response] = KeptTable.of(self._judged(view, response, tabulate(fitted, view.candidates)))
        return view.tables[response]

    def _judged(self, view: View, response: str, table: AnswerTable) -> AnswerTable:
        """What the model says, and where there are runs what these say."""
        if view.is_by_epoch(self.known):
            return table
        if response not in self._own_runs:
            known = self._knower(response)
            _, fitted = self.fitted(response, is_by_epoch=False)
            self._own_runs[response] = own_runs(known.runs, known.about.vocabulary.response(response), fitted)
        own = self._own_runs[response]
        if own is None:
            return table
        view.missed[response] = dict(zip(own.configurations, own.missed.tolist(), strict=True))
        places = [(configuration, place) for place, configuration in enumerate(own.configurations, start=1)]
        return own.judge(table, runs_at(view.candidates, places, self.known.factors) - 1)

    def fitted(self, response: str, is_by_epoch: bool) -> tuple[str, Fitted]:
        key = (response, is_by_epoch)
        if key not in self._fitted:
            known = self._knower(response)
            name, found = (known.curve_of if is_by_epoch else known.model_of)(response)
            if self._extrapolate:
                categories = categories_of([seen.configuration for seen in self.known.seen], self.known.factors)
                found = Extrapolating(found, self.words.response(response), categories)
            self._fitted[key] = (name, found)
        return self._fitted[key]

    def _knower(self, response: str) -> Knowledge:
        return self._bills if response == self._billed else self._knowledge

    def _require(self, response: str) -> None:
        if response == self._billed:
            return
        if response == COST and response not in self.known.responses:
            raise StudyError("the cost is unknown without a price", hint=_PRICE_HINT)
        if response not in self.known.responses:
            self._knowledge.model_of(response)  # says what it has instead

    def _check(self, view: View, limits: Sequence[Limit], responses: Iterable[str]) -> None:
        """Say what is wrong with the question before anybody waits for a model."""
        _check_shares(limits, self.words, self._largest)
        for response in sorted(set(responses) - view.tables.keys()):  # what was answered before was asked rightly
            domain = None if self._extrapolate else self._knower(response).domain_of(response)
            if domain is None or (~view.broke & is_near(domain, view.candidates)).any():
                continue
            if (error := domain.beyond(view.first_left().only(self.known.factors))) is not None:
                raise error

    def _largest(self, response: str) -> float:
        """The largest value that was measured."""
        runs = self._knowledge.runs.successful(response)
        return max((run.responses[response] for run in runs), default=math.inf)

    def failures(self, view: View) -> Floats | None:
        """How likely each candidate fails, or None when no run has failed: a rule of thumb would exclude everything."""
        if view.failure is None and self._has_failures and self._knowledge.feasibility is not None:
            view.failure = failure_table(self._knowledge.feasibility, view.candidates)
        return view.failure

    # ------------------------------------------------------------ one question

    def _asked(self, view: View, wanted: Bools, question: Question, limits: tuple[Limit, ...]) -> Asked:
        words, resources, objective = self.words, self.resources, self._objective(question, limits)
        setting = self._setting(objective, view)
        responses = {objective.response, *(limit.response for limit in limits)}
        must = self._learned(responses if setting is None else responses - {objective.response}, objective)
        for response in must:
            self._require(response)
        self._check(view, limits, must)
        tables = {response: self.table(view, response) for response in sorted(must)}
        for told in (words.time, words.quality):  # worth telling wherever it is known
            if told is not None and told not in tables and (answers := self._told(view, told)) is not None:
                tables[told] = answers
        if self._billed is not None and words.time in tables:
            answers = self._told(view, self._billed)
            tables |= {} if answers is None else {COST: self._cost_table(view, self._billed, answers)}
        if resources is not None and objective.response == resources.name:
            tables[resources.name] = self._resources_table(view, resources, tables[words.required_time()])
        _check_shares(limits, words, lambda response: float(tables[response].values.max()))
        limited = [limit.response for limit in limits]
        order = [r for r in (words.time, words.quality, words.money, objective.response, *limited) if r in tables]
        known = {response: tables[response] for response in dict.fromkeys(order)}
        settings = {} if setting is None else {objective.response: setting}
        failure = self.failures(view)
        spending = self._spending(view, objective, tables)
        asked = Asked(question, limits, objective, known, failure, view, wanted, words, settings, self._noise, spending)
        if not asked.allowed.any():
            raise NotEnoughDataError(
                f"no candidate is close enough to what was measured for all of {', '.join(asked.tables)}",
                hint="run more configurations; `extrapolate=True` answers anyway, with wide intervals",
            )
        return asked

    def _spending(
        self, view: View, objective: Objective, tables: Mapping[str, AnswerTable]
    ) -> tuple[str, AnswerTable] | None:
        """What is saved where candidates are equally good: money, else machines or cores by the time, else time."""
        words, time = self.words, tables.get(self.words.time or "")
        is_of_time = objective.response in (words.money, None if self.resources is None else self.resources.name)
        if words.money is not None and words.money in tables and words.money != objective.response:
            return words.money, tables[words.money]
        if self.resources is not None and time is not None and not is_of_time and objective.response in tables:
            return self.resources.name, self._resources_table(view, self.resources, time)
        return None if time is None or words.time in (None, objective.response) else (words.time, time)

    def _told(self, view: View, response: str) -> AnswerTable | None:
        """What is known of a response that no question needs."""
        if response not in self._hopeless:
            try:
                return self.table(view, response)
            except (NotEnoughDataError, StudyError):
                self._hopeless.add(response)
        return None

    def _learned(self, responses: Set[str], objective: Objective) -> Set[str]:
        """What models must tell for these: the time, or what is paid for, where they are computed from it."""
        if self.resources is not None and objective.response == self.resources.name:
            responses = responses - {objective.response} | {self.words.required_time()}
        if self._price is not None and COST in responses:
            responses = responses - {COST} | {self._billed or self.words.required_time()}
        return responses

    def _noise(self, response: str) -> float | None:
        """How much repeated runs scatter; what is computed from the time scatters like that."""
        name = response if response in self.known.responses else self.words.required_time()
        if name not in self._noises:
            self._noises[name] = noise_in(self._knowledge.runs, name)
        return self._noises[name]

    def _setting(self, objective: Objective, view: View) -> Floats | None:
        """The numbers of the setting that is the objective; None where it is a response."""
        name = objective.response
        if name in self.known.responses or name not in {*view.candidates.levels, *self.known.constants}:
            return None
        numbers = [factor for factor in view.candidates.levels if view.candidates.column(factor).dtype != object]
        if name not in view.candidates.levels:
            raise StudyError(
                f"every run has {name} = {self.known.constants[name]}, so it cannot be chosen",
                hint=did_you_mean(name, tuple(numbers)),
            )
        if name not in numbers:
            raise StudyError(f"{name} is not a number, so it has no smallest level", hint=f"`fix={{{name!r}: LEVEL}}`")
        return view.candidates.column(name).astype(float)

    def _resources_table(self, view: View, resources: Resources, time: AnswerTable) -> CostTable:
        if view.held is None:
            view.held = resources.held(view.candidates, self.known)
        return CostTable(time, view.held * self.words.response(self.words.required_time()).seconds(1.0))

    def _cost_table(self, view: View, name: str, time: AnswerTable) -> CostTable:
        assert self._price is not None
        if view.per_second is None:
            hourly = hourly_columns(view.candidates, self.known.constants, self._price, self.words)
            view.per_second = hourly / 3600
        return CostTable(time, view.per_second * self._bills.about.vocabulary.response(name).seconds(1.0))

    def candidates(
        self, asked: Asked, rows: Sequence[int], marks: Sequence[bool | None] | None = None
    ) -> list[Candidate]:
        at = np.asarray(rows)
        chances = asked.probability(at).tolist()
        failure = [None] * len(chances) if asked.failure is None else asked.failure[at].tolist()
        listed = asked.view.candidates.take(at)
        settings = listed.configurations()
        runs, marked = self._runs_of(listed, settings), marks or [None] * len(settings)
        parts = zip(settings, asked.predictions(at), chances, runs, failure, marked, strict=True)
        return [
            Candidate(own, predictions, chance, ok, fails, others, mark)
            for own, predictions, chance, (ok, others), fails, mark in parts
        ]

    def _runs_of(self, candidates: Candidates, settings: Sequence[Configuration]) -> list[tuple[int, int]]:
        """How often each was run with success and without, as it is: also for as many epochs."""
        factors, epochs = self.known.factors, self.known.epochs
        keys = settings if candidates.levels.keys() == {*factors} else [own.only(factors) for own in settings]
        runs = [self._runs.get(key, (0, 0)) for key in keys]
        if epochs not in candidates.levels or epochs in self.known.factors:
            return runs
        whole = [is_repeated(self.known, epochs, level) for level in candidates.levels[epochs]]
        codes = candidates.position(epochs).tolist()
        return [n if whole[code] else (0, 0) for n, code in zip(runs, codes, strict=True)]

    @property
    def spark(self) -> str:
        """The version of Spark in the latest place where runs were made."""
        return next((place.spark for place in reversed(self._knowledge.about.fingerprints) if place.spark), "")

    def beside(self, asked: Asked, row: int) -> Prediction | None:
        """The other time of a candidate, where it is known."""
        words = self._knowledge.about.vocabulary
        other = None if asked.time is None else words.time_beside(asked.time, self.known.responses)
        if other is None or other in asked.tables or asked.view.is_by_epoch(self.known):
            return None
        level, table = asked.question.quantile_level, self._told(asked.view, other)
        if table is None or not asked.view.supported[other][row]:
            return None
        own = table.take(np.array([row]))
        (low,), (high,) = own.interval(level)
        return Prediction(other, float(own.values[0]), float(low), float(high), level)

    def no_failure(self) -> NoFailure | None:
        return None if self._has_failures or not self._n_ok else NoFailure(self._n_ok)

    def reasons(self, asked: Asked) -> tuple[str, ...]:
        """Why this is the objective, where nobody named one and it is not what people expect."""
        question, resources = asked.question, self.resources
        is_named = question.minimize is not None or question.maximize is not None
        if is_named or resources is None or asked.objective.response != resources.name:
            return ()
        return (resources.why(self.words.required_time()),)

    def considered(self, asked: Asked) -> Considered:
        view = asked.view
        assert view.n_runs is not None
        n, measured = int(asked.wanted.sum()), int((asked.wanted & (view.n_runs > 0)).sum())
        given = f" with {Configuration(asked.question.fix)}" if asked.question.fix else ""
        text = f"{n:,} {view.description}{given}, {measured:,} of them measured"
        failed = sum(seen.failed for seen in self.known.seen)
        return Considered(n, measured, view.is_sample, text, int(asked.meets.sum()), self._n_ok + failed, failed)

    def models(self, asked: Asked) -> dict[str, str]:
        is_by_epoch = asked.view.is_by_epoch(self.known)
        return {r: self._fitted[r, is_by_epoch][0] for r in asked.tables if (r, is_by_epoch) in self._fitted}

    def notes(self, asked: Asked) -> tuple[str, ...]:
        """What to know of an answer that rests on few configurations, or on fewer than there are settings."""
        untold = untold_note(asked, self.known)
        if untold is not None:
            return (untold,)
        response, n = self._least_learned(asked)
        if response is None or n >= ENOUGH:
            return ()
        model, fitted = self.fitted(response, asked.view.is_by_epoch(self.known))
        note = few_note(
            *(n, model),
            is_by_errors=is_by_errors(fitted),
            confidence=asked.question.confidence if asked.limits else None,
            teaching=most_teaching(asked, self.known, response),
        )
        return () if note is None else (note,)

    def _least_learned(self, asked: Asked) -> tuple[str | None, int]:
        """Of the responses that decide, the one that was learned from the fewest configurations, and how many."""
        learned, models = self._knowledge.about.responses, self.models(asked)
        decide = [*(limit.response for limit in asked.limits), asked.objective.response]
        # What is computed from the time, as a cost is, knows as much as that.
        known = [name if name in models else asked.time for name in decide]
        counted = {name: learned[name].configurations for name in known if name in models and name in learned}
        return min(counted.items(), key=lambda item: item[1], default=(None, ENOUGH))


def _check_shares(limits: Sequence[Limit], words: Vocabulary, largest: Callable[[str], float]) -> None:
    for limit in limits:
        is_share = words.response(limit.response).kind is Kind.SHARE
        if is_share and limit.value > 1 and largest(limit.response) <= 1:
            raise StudyError(
                f"{limit.response} never reaches {limit.value:g}: it is a share here",
                hint=f"write {limit.value / 100:g}",
            )


def _answer(recommender: Recommender, asked: Asked) -> Recommendation:
    question = asked.question
    good = asked.order[asked.meets[asked.order]]
    selected = select(asked, good)
    row, tied = selected.row, selected.tie
    good = np.concatenate([[row], good[good != row]])
    listed = good[: max(question.most, 2)]
    if len(good) < question.most:
        listed = np.concatenate([good, asked.nearest_misses(question.most - len(good))])
    front, far = _front(asked), _untested(asked, row)
    untested = far if selected.untested is None else selected.untested
    others = [at for at in (tied, untested) if at is not None]
    marks = [*[None] * len(listed), *_apart(asked, front, row), *[None] * len(others)]
    candidates = recommender.candidates(asked, [*listed.tolist(), *front, *others], marks)
    chosen = candidates[0]
    words, within_s, margin_s = recommender.words, None, None
    for limit in asked.limits:
        if limit.response == asked.time and limit.is_upper:
            response = words.response(limit.response)
            within_s = response.seconds(limit.value)
            margin_s = response.seconds(float(asked.kept_value(limit)[row] - asked.values[limit.response][row]))
    chances = tuple(float(asked.chances(limit, np.array([row]))[0]) for limit in asked.limits)
    succeeds = 1 - (chosen.failure_probability or 0.0)
    return Recommendation(
        objective=str(asked.objective),
        within_s=within_s,
        confidence=question.confidence,
        models=recommender.models(asked),
        chosen=chosen,
        runner_up=candidates[1] if len(good) > 1 else None,
        candidates=tuple(candidates[: len(listed)]),
        why=why(asked, is_tie=tied is not None, reasons=recommender.reasons(asked)),
        margin_s=margin_s,
        launch=launch_of_table(recommender.known.constants | chosen.configuration, words, recommender.spark),
        limits=asked.limits,
        chances=chances,
        submission_chances=tuple(chance * succeeds for chance in chances),
        n_candidates=int(asked.kept.sum()),
        considered=recommender.considered(asked),
        excluded=excluded(asked),
        alternatives=alternatives(asked, row, lambda at: recommender.candidates(asked, [at])[0]),
        pareto=tuple(candidates[len(listed) : len(listed) + len(front)]),
        tie=None if tied is None else candidates[len(listed) + len(front)],
        tie_spends="" if tied is None else spends(asked, tied, row),
        untested=None if untested is None else candidates[-1],
        nearest=recommender.measured.nearest(chosen.configuration),
        no_failure=recommender.no_failure(),
        beside=recommender.beside(asked, row),
        vocabulary=words,
    )


def _untested(asked: Asked, chosen: int) -> int | None:
    """The best of those that are too far from all runs, if it is predicted better than the chosen one."""
    better = asked.far & (asked.loss < asked.loss[chosen])
    found = asked.order[np.logical_and.reduce([better, *asked.keeps.values()])[asked.order]]
    return int(found[0]) if len(found) else None


def _compared(asked: Asked) -> list[str]:
    words = asked.words
    known = (words.time, words.money, words.quality)
    return [response for response in known if response is not None and response in asked.tables]


def _apart(asked: Asked, front: list[int], chosen: int) -> list[bool]:
    """Which of the front differ from the chosen one, and from each other, by more than the noise."""
    if not front:
        return []
    objective, rows = asked.objective, np.array(front)
    compared = dict.fromkeys((*_compared(asked), objective.response))
    more = {objective.response: objective.is_maximum}
    means = [(asked.means(r), more.get(r, asked.words.response(r).better == "more")) for r in compared]
    key = (objective, *compared, *front)
    if key not in asked.view.better:
        asked.view.better[key] = likely_better(rows, rows, means)
    than_chosen = likely_better(rows, np.array([chosen]), means)[:, 0]
    return apart(asked.view.better[key], than_chosen, front.index(chosen) if chosen in front else None)


def _front(asked: Asked) -> list[int]:
    """The rows that are Pareto-optimal in time, cost and quality, by time; some of them if they are many."""
    words, compared = asked.words, _compared(asked)
    signs = {response: -1 if words.response(response).better == "more" else 1 for response in compared}
    if len(compared) < 2:
        return []
    key = (*asked.tables, asked.question.max_failure, Configuration(asked.question.fix))
    if key not in asked.view.fronts:
        losses = np.column_stack([signs[r] * significant(asked.values[r]) for r in compared])
        rows = np.flatnonzero(asked.kept)
        front = rows[pareto_front(losses[rows])]
        front = front[np.argsort(asked.values[compared[0]][front], kind="stable")]
        some = np.unique(np.linspace(0, len(front) - 1, _MOST_OF_THE_FRONT).round().astype(int))
        asked.view.fronts[key] = front[some].tolist()
    return asked.view.fronts[key]
