"""`auto`: several models, weighed by the errors they made where the question lies.

With few configurations the errors that models make on those left out say little, and choosing by them would deceive:
the Bayesian model answers, since it knows most before the first run, and the others move its middle by what they
earned (see `fitting.belief`). Its interval is its own, not made of the errors by which they are weighed.

With many, inside the measured range the candidates are scored on configurations left out. Where an asked setting lies
outside the measured range of a factor, they are scored by extrapolating along that factor inside the data: learning
from its lower levels and predicting its upper ones (the other way round when the question goes downwards). Candidates
that were less than twice as wrong as the best answer together, by their median; the others are silent. Weights would be
learned from the same errors and make the answer worse; a median needs none, and one wild member cannot move it. Nothing
is selected on what the answer is tested on. Beyond the measured range the physical shapes always have a say, because a
few levels inside the data can prove little about those outside, and the interval also holds what each of them says.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sparkcast.arrays import Bools, Floats, Ints
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.answering import Answering, AnswerTable
from sparkcast.fitting.belief import USUAL_POWER, ResponseBelief, error_of, together, weights_of
from sparkcast.fitting.encoding import Axis, Domain
from sparkcast.fitting.posterior import Posterior, PosteriorSampler, posterior_of
from sparkcast.fitting.predictive import Link
from sparkcast.fitting.problem import Problem, pose
from sparkcast.fitting.uncertainty import (
    HULL_LEVEL,
    MAX_LOO,
    FittedPoints,
    Forms,
    Learner,
    PointPredictions,
    around,
    errors_of,
    folds_of,
    left_out_predictions,
    one_thread,
    predictions_for,
)
from sparkcast.models import MODELS
from sparkcast.models.base import FEW, Model
from sparkcast.models.bayesian import NAME, Bayesian
from sparkcast.study import Dataset
from sparkcast.study.configuration import Levels

INSIDE = "inside the measured range"
_UNTESTED = "none: too few runs to hold some out"
_MIN_TESTED = 3  # configurations beyond a cut, to say who extrapolates best
_KEPT = 2.0  # a candidate answers when its error is at most this multiple of the best one's
_FOLDS = 3  # enough to compare models, and each costs a fit of every candidate
_MANY = 300  # configurations from which on two folds say as much


Members = tuple[tuple[str, FittedPoints], ...]  # each candidate by name, fitted to everything


@dataclass(frozen=True, slots=True)
class MedianOfModels:
    """What the middle one of several models says."""

    points: tuple[PointPredictions, ...]

    def __call__(self, x: Floats) -> Floats:
        return median_of([points(x) for points in self.points])


@dataclass(frozen=True, slots=True)
class Choice:
    """How the candidates did on one kind of question, and which of them answer it."""

    question: str
    protocol: str  # how they were scored, in the words of `sparkcast validate`
    scores: tuple[tuple[str, float], ...]  # mean error of single runs in percent, best first
    answering: tuple[str, ...]
    error: float | None  # of their common answer, like the scores; None when nothing could be left out
    distribution: Answering


@dataclass(frozen=True, slots=True, eq=False)
class AnswersByChoice:
    """Answers of different models, in the order of the questions."""

    rows: tuple[Ints, ...]  # which questions each part is about
    parts: tuple[AnswerTable, ...]

    @property
    def values(self) -> Floats:
        return self._joined([part.values for part in self.parts])

    def interval(self, level: float) -> tuple[Floats, Floats]:
        found = [part.interval(level) for part in self.parts]
        return self._joined([low for low, _ in found]), self._joined([high for _, high in found])

    def probability_below(self, limit: Floats | float) -> Floats:
        limits = np.broadcast_to(limit, sum(len(rows) for rows in self.rows))
        return self._joined(
            [part.probability_below(limits[rows]) for rows, part in zip(self.rows, self.parts, strict=True)]
        )

    def take(self, rows: Ints) -> "AnswersByChoice":
        where = np.concatenate(self.rows).argsort()  # from a question to its place in the parts, one after the other
        ends = np.cumsum([len(own) for own in self.rows])
        places = where[rows]
        owners = np.searchsorted(ends, places, side="right")
        taken = [np.flatnonzero(owners == k) for k in range(len(self.parts))]
        starts = ends - [len(own) for own in self.rows]
        parts = [
            part.take(places[own] - starts[k]) for k, (part, own) in enumerate(zip(self.parts, taken, strict=True))
        ]
        return AnswersByChoice(tuple(taken), tuple(parts))

    def _joined(self, parts: Sequence[Floats]) -> Floats:
        joined = np.empty(sum(len(rows) for rows in self.rows))
        for rows, part in zip(self.rows, parts, strict=True):
            joined[rows] = part
        return joined


@dataclass(frozen=True, slots=True)
class Combined(Answering):
    """What `auto` learned: the candidates, and who of them answers which question."""

    domain: Domain
    members: Members
    inside: Choice
    problem: Problem  # to test candidates on questions beyond the measured range
    outside: dict[str, Choice] = field(default_factory=dict)  # filled when such a question is asked first

    @property
    def n_stopped(self) -> int:
        """Configurations of which it knows that they take longer than some limit."""
        return getattr(self.inside.distribution, "n_stopped", 0)

    @property
    def choices(self) -> tuple[Choice, ...]:
        return (self.inside, *self.outside.values())

    def answers(self, x: Floats) -> AnswerTable:
        """Each question is answered by those chosen for it."""
        by_step: dict[Extrapolation | None, list[int]] = defaultdict(list)
        for i, step in enumerate(_steps(self.domain, x)):
            by_step[step].append(i)
        if len(by_step) == 1:
            return self._choice(next(iter(by_step))).distribution.answers(x)
        rows = tuple(np.array(found) for found in by_step.values())
        parts = [self._choice(step).distribution.answers(x[i]) for step, i in by_step.items()]
        return AnswersByChoice(rows, tuple(parts))

    def choice_for(self, configuration: Levels) -> Choice:
        """Who answers a question about these settings."""
        [step] = _steps(self.domain, self.domain.encode([configuration]))
        return self._choice(step)

    def _choice(self, step: "Extrapolation | None") -> Choice:
        if step is None:
            return self.inside
        if str(step) not in self.outside:
            belief = self.inside.distribution
            self.outside[str(step)] = (
                _led_outside(self.problem, self.inside, belief, step)
                if isinstance(belief, ResponseBelief)
                else _choose_outside(self.problem, self.members, self.inside, step)
            )
        return self.outside[str(step)]


Remembering = Callable[[str, Learner], Learner]  # learns as a model of this name does, and what it knows not again


@MODELS.register("auto")
class Auto:
    """Combines the models that do best on the kind of question asked: inside the measured range or beyond it."""

    is_default = True
    is_usual = True

    def __init__(
        self,
        candidates: Sequence[str] | None = None,
        remembering: Remembering | None = None,
        sampler: PosteriorSampler = posterior_of,
    ) -> None:
        self._candidates = candidates
        self._remembering = remembering
        self._sampler = sampler

    def fit(self, data: Dataset, response: str) -> Combined:
        problem = pose(data, response)
        with one_thread():
            if self._candidates is None and _is_led(problem):
                return _led(problem, self._remembering, self._sampler)
            members, left_out = _members(problem, self._candidates)
            return Combined(problem.domain, members, _choose_inside(problem, members, left_out), problem)


# ---------------------------------------------------------------- few configurations


def _is_led(problem: Problem) -> bool:
    """To all others, who do not hear of runs that were stopped, settings look as quick as what ended."""
    return len(problem) <= FEW or (problem.stopped is not None and len(problem) <= Bayesian.auto_up_to)


def _is_alone(problem: Problem, posterior: Posterior) -> bool:
    """Only the Bayesian model hears of stopped runs, and knows of heaps."""
    return problem.stopped is not None or posterior.heap is not None


def _led(problem: Problem, remembering: Remembering | None, sampler: PosteriorSampler) -> Combined:
    """The Bayesian model, moved by those that join it."""
    posterior = sampler(problem)
    has_many = posterior.law.terrain.has_many
    # Of many settings a few runs cannot tell the terms apart, but whether all of them together say anything.
    wanted = MODELS.declaring("is_baseline") if has_many else None
    voices = [] if _is_alone(problem, posterior) else _voices(problem, wanted, remembering)
    said = [posterior.left_out, *(left_out for _, _, left_out in voices)]
    weights = _weights(problem, problem, posterior.link, said, len(problem) / 2 if has_many else USUAL_POWER)
    said_by = tuple(points for _, points, _ in voices)
    belief = ResponseBelief(problem.domain, posterior, said_by, weights, n_stopped=problem.n_stopped)
    names = (NAME, *(name for name, _, _ in voices))
    inside = _led_choice(INSIDE, _protocol(problem), names, problem, said, belief)
    return Combined(problem.domain, (), inside, problem)


def _weights(
    problem: Problem, tested: Problem, link: Link, said: Sequence[Floats], power: float = USUAL_POWER
) -> tuple[float, ...]:
    errors = [error_of(link, tested.target, values) for values in said]
    return weights_of(errors, len(tested), len(problem), power=power)


def _led_choice(
    question: str, protocol: str, names: Sequence[str], tested: Problem, said: Sequence[Floats], belief: ResponseBelief
) -> Choice:
    return Choice(
        question=question,
        protocol=protocol,
        scores=_ranked(names, tested, said),
        answering=tuple(names),
        error=tested.run_error(together(belief.posterior.link, said, belief.weights)),
        distribution=belief,
    )


def _led_outside(problem: Problem, inside: Choice, belief: ResponseBelief, step: "Extrapolation") -> Choice:
    """The same belief, with voices that count by how well they extrapolate inside the data."""
    cuts = _cuts(problem.x[:, step.axis], step.is_up)
    tested = problem.subset([i for _, test in cuts for i in test])
    heard = [k for k, name in enumerate(inside.answering[1:]) if _extrapolates(name)]
    names = (NAME, *(inside.answering[1 + k] for k in heard))
    voices, weights = tuple(belief.voices[k] for k in heard), tuple(belief.weights[k] for k in heard)
    # Of many settings nearly every question is beyond the range of some, and a cut along one tells next to nothing.
    if len(tested) < _MIN_TESTED or belief.posterior.law.terrain.has_many:
        same = replace(belief, voices=voices, weights=weights)
        return Choice(str(step), _UNTESTED, (), names, None, same)
    learners = [Bayesian().learn, *(learn for _, learn in _learners(problem, names[1:]))]
    with one_thread():
        said = [_extrapolated(problem, learn, cuts) for learn in learners]
    moved = replace(belief, voices=voices, weights=_weights(problem, tested, belief.posterior.link, said))
    return _led_choice(str(step), f"extrapolate:{step.factor}", names, tested, said, moved)


def _voices(
    problem: Problem, wanted: Sequence[str] | None, remembering: Remembering | None
) -> list[tuple[str, PointPredictions, Floats]]:
    """Who joins, what it learned, and what it says of configurations left out."""
    found = []
    for name, method in _learners(problem, wanted):
        learn = method if remembering is None else remembering(name, method)
        try:
            learned = learn(problem)
            left_out = _left_out(problem, learn) if learned.left_out is None else learned.left_out
        except (NotEnoughDataError, StudyError):
            continue
        found.append((name, learned.points, left_out))
    return found


# ---------------------------------------------------------------- candidates


def _members(problem: Problem, candidates: Sequence[str] | None) -> tuple[Members, list[Floats]]:
    """The candidates that can learn these data, and what they say of configurations left out."""
    members: list[tuple[str, FittedPoints]] = []
    left_out, reasons = [], []
    for name, learn in _learners(problem, candidates):
        try:
            learned = learn(problem)
            said = _left_out(problem, learn) if learned.left_out is None else learned.left_out
            members.append((name, around(problem, learned.points, _complete(said), learned.forms)))
            left_out.append(said)
        except (NotEnoughDataError, StudyError) as error:
            reasons.append(f"{name}: {error.problem}")
    if not members:
        raise NotEnoughDataError(
            f"no model can learn {problem.response.name}; {reasons[0]}", hint="run more configurations"
        )
    return tuple(members), left_out


def _learners(problem: Problem, candidates: Sequence[str] | None) -> list[tuple[str, Learner]]:
    """All named candidates, or those that think themselves fit for the problem."""
    models = [(name, MODELS.get(name)()) for name in (MODELS.names() if candidates is None else candidates)]
    return [
        (name, model.learn)
        for name, model in models
        if isinstance(model, Model) and (candidates is not None or model.joins_auto(problem))
    ]


def _folds(problem: Problem) -> list[list[int]]:
    return folds_of(len(problem), _FOLDS if len(problem) <= _MANY else 2)


def _protocol(problem: Problem) -> str:
    return "loo" if len(problem) <= MAX_LOO else f"kfold:{len(_folds(problem))}"


def _left_out(problem: Problem, learn: Learner) -> Floats:
    return left_out_predictions(problem, learn, _folds(problem))


def _complete(said: Floats) -> Floats:
    if not np.isfinite(said).all():
        raise NotEnoughDataError("it cannot be fitted when some configurations are held out", hint="run more of them")
    return said


# ---------------------------------------------------------------- choosing


def _choose_inside(problem: Problem, members: Members, left_out: Sequence[Floats]) -> Choice:
    errors = [_error(problem, said) for said in left_out]
    used = _good_enough(errors)
    median = _median_together(problem, left_out)
    points = MedianOfModels(tuple(members[i][1].points for i in used))
    return Choice(
        question=INSIDE,
        protocol=_protocol(problem),
        scores=_ranked([name for name, _ in members], problem, left_out),
        answering=tuple(members[i][0] for i in used),
        error=problem.run_error(median),
        distribution=around(problem, points, median),
    )


def _median_together(problem: Problem, left_out: Sequence[Floats]) -> Floats:
    """What is said of each fold by those who did well on the others: nobody is chosen by errors of the interval."""
    found = np.empty(len(problem))
    for fold in _folds(problem):
        others = [i for i in range(len(problem)) if i not in set(fold)]
        tested = problem.subset(others)
        used = _good_enough([_error(tested, said[others]) for said in left_out])
        found[fold] = median_of([left_out[i][fold] for i in used])
    return found


def median_of(answers: Sequence[Floats]) -> Floats:
    middle: Floats = np.median(np.array(answers), axis=0)
    return middle


def _good_enough(errors: Sequence[float]) -> list[int]:
    """Best first."""
    best = max(min(errors), 1e-9)
    return sorted((i for i, error in enumerate(errors) if error <= _KEPT * best), key=lambda i: errors[i])


def _error(tested: Problem, said: Floats) -> float:
    """By which models are compared: of the mean of each configuration, in which their noise does not hide them.

    In percent; in percent of the largest value where 0 has no percentage.
    """
    actual = np.abs(tested.target)
    size = actual if (actual > 0).all() else np.full(len(actual), actual.max() or 1.0)
    return float(100 * np.mean(np.abs(said - tested.target) / size))


def _ranked(names: Sequence[str], tested: Problem, said: Sequence[Floats]) -> tuple[tuple[str, float], ...]:
    """The errors that people are told of, which are those of runs."""
    scores = [(name, tested.run_error(answers)) for name, answers in zip(names, said, strict=True)]
    known = [(name, error) for name, error in scores if error is not None]
    return tuple(sorted(known, key=lambda score: score[1]))


# ---------------------------------------------------------------- beyond the measured range


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """Asking beyond what was measured along one factor."""

    axis: int
    factor: str
    is_up: bool

    def __str__(self) -> str:
        return f"{self.factor} {'above' if self.is_up else 'below'} the measured range"


def _steps(domain: Domain, x: Floats) -> list[Extrapolation | None]:
    """Along which factor each row lies outside the measured range; None inside.

    Outside several, it is the one with the fewest levels: its steps are the widest, so extrapolating along it inside
    the data is the hardest test.
    """
    outside: list[tuple[int, Bools, bool]] = []
    for j, axis in enumerate(domain.axes):
        if axis.numbers is not None and not axis.is_constant:
            slack = 1e-9 * max(map(abs, axis.numbers))
            outside += [(j, x[:, j] > axis.numbers[-1] + slack, True), (j, x[:, j] < axis.numbers[0] - slack, False)]
    steps: list[Extrapolation | None] = [None] * len(x)
    for j, rows, is_up in sorted(outside, key=lambda o: _n_levels(domain.axes[o[0]]), reverse=True):
        for i in np.flatnonzero(rows).tolist():
            steps[i] = Extrapolation(j, domain.axes[j].name, is_up)
    return steps


def _n_levels(axis: Axis) -> float:
    """Two levels cannot be split: such a factor comes last."""
    n = len(axis.numbers or ())
    return n if n > 2 else math.inf


def _choose_outside(problem: Problem, members: Members, inside: Choice, step: Extrapolation) -> Choice:
    assert isinstance(inside.distribution, FittedPoints)
    cuts = _cuts(problem.x[:, step.axis], step.is_up)
    said = _all_extrapolated(problem, [name for name, _ in members if _extrapolates(name)], cuts)
    able = tuple(one for one in members if cuts and one[0] in said and np.isfinite(said[one[0]]).all())
    tested = problem.subset([i for _, test in cuts for i in test])
    if not able or len(tested) < 2:
        return _by_shape(members, inside, str(step))
    errors = [_error(tested, said[name]) for name, _ in able]
    used = _good_or_by_law(able, errors)
    median = median_of([said[name] for name, _ in used])
    widths = 1 + np.concatenate([_distances(problem, step, *cut) for cut in cuts])
    # A few lucky steps inside the data must not make the interval narrower than where runs are.
    wider = max(inside.distribution.errors, errors_of(tested, median, widths), key=lambda e: e.quantile(HULL_LEVEL))
    return Choice(
        question=str(step),
        protocol=f"extrapolate:{step.factor}",
        scores=_ranked([name for name, _ in able], tested, [said[name] for name, _ in able]),
        answering=tuple(name for name, _ in used),
        error=tested.run_error(median),
        distribution=replace(
            inside.distribution,
            points=MedianOfModels(tuple(fitted.points for _, fitted in used)),
            errors=wider,
            forms=_forms(used, problem.domain),
        ),
    )


def _good_or_by_law(members: Members, errors: Sequence[float]) -> Members:
    good = _good_enough(errors)
    lawful = [i for i, (name, _) in enumerate(members) if i not in good and name in _by_law()]
    return tuple(members[i] for i in (*good, *lawful))


def _forms(members: Members, domain: Domain) -> Forms:
    laws = tuple(law for _, fitted in members for law in (fitted.points, *fitted.forms.laws))
    return Forms(laws, tuple(j for j, axis in enumerate(domain.axes) if axis.is_number))


def _by_law() -> list[str]:
    """Who extrapolates by a law rather than by resemblance, whom to ask first in front."""
    found = {name: MODELS.get(name).extrapolates_by_law for name in MODELS.declaring("extrapolates_by_law")}  # type: ignore[attr-defined]
    return sorted(found, key=lambda name: -found[name])


def _extrapolates(name: str) -> bool:
    model = MODELS.get(name)
    return issubclass(model, Model) and model.auto_outside


Cut = tuple[list[int], list[int]]  # configurations to learn from, and those beyond


def _cuts(values: Floats, is_up: bool) -> list[Cut]:
    """Ways to split the levels of a factor into some to learn from and those beyond: two levels or more on one side."""
    levels = np.unique(values) if is_up else np.unique(values)[::-1]
    n = len(levels)
    sizes = sorted({size for size in (n - 1, n - 2, n // 2) if 2 <= size <= n - 1}, reverse=True)
    learned = [np.isin(values, levels[:size]) for size in sizes]
    return [(np.flatnonzero(rows).tolist(), np.flatnonzero(~rows).tolist()) for rows in learned]


def _all_extrapolated(problem: Problem, names: Sequence[str], cuts: Sequence[Cut]) -> dict[str, Floats]:
    with one_thread():
        return {name: _extrapolated(problem, learn, cuts) for name, learn in _learners(problem, names)}


def _extrapolated(problem: Problem, learn: Learner, cuts: Sequence[Cut]) -> Floats:
    return np.concatenate([[], *(predictions_for(problem, learn, test, train) for train, test in cuts)])


def _distances(problem: Problem, step: Extrapolation, train: Sequence[int], test: Sequence[int]) -> list[float]:
    """How far each tested configuration was from what was learned from."""
    values = problem.x[:, step.axis]
    numbers = tuple(sorted(set(values[train].tolist())))
    axis = replace(problem.domain.axes[step.axis], levels=numbers, numbers=numbers)
    return [axis.distance(value) for value in values[test].tolist()]


def _by_shape(members: Members, inside: Choice, question: str) -> Choice:
    """Too few runs to leave some out, so no data can say who extrapolates best: the physical shape decides."""
    known = dict(members)
    name = next((name for name in _by_law() if name in known), inside.answering[0])
    return Choice(question, _UNTESTED, (), (name,), None, known[name])
