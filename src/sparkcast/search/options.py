"""What a search is about: the objective, the candidates, and what tells one search from another."""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sparkcast.designs.feasible import Feasible, feasible
from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.recommend import Limit
from sparkcast.recommend.question import Objective, Question, limits_of, objective_of
from sparkcast.recommend.resources import Resources, resources_of
from sparkcast.recommend.submit import conf_lines
from sparkcast.registry import did_you_mean
from sparkcast.runs.site import Site
from sparkcast.search.base import Search
from sparkcast.search.safe import one_change_each
from sparkcast.study import Configuration, Dataset, Kind, Level, Observation, Study, Vocabulary, same_level
from sparkcast.study.derive import derive_responses, make_dataset, time_cost
from sparkcast.study.names import COST
from sparkcast.study.redaction import redact
from sparkcast.units import require_seed

MAX_RUNS, MOST_RUNNERS = 20, 16


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """What is searched and how: with the study, all that decides which settings are asked for."""

    searcher: str
    objective: Objective
    within_s: float | None = None
    seed: int = 0
    replicates: int | None = None
    fix: Configuration = field(default_factory=Configuration)
    earlier: tuple[Dataset, ...] = field(default=(), repr=False)
    limits: tuple[Limit, ...] = ()  # that a run must keep to be an answer, but that on the time
    confidence: float | None = None  # with which the next run of the answer must be in time
    stop_late: bool = False  # end a run once it cannot be in time any more
    runs_to_come: int | None = None  # of the job
    instead_of: Configuration | None = None  # the settings the job has today, run first

    def __post_init__(self) -> None:
        require_seed(self.seed)
        if self.confidence is not None and not 0 < self.confidence < 1:
            raise StudyError(f"confidence {self.confidence:g} is not between 0 and 1", hint="write 0.95 for 95%")
        for name, asked in (("confidence", self.confidence is not None), ("stop_late", self.stop_late)):
            if asked and self.within_s is None:
                raise StudyError(f"`{name}=` needs a deadline", hint="add one, e.g. `within_s=60`")
        if self.runs_to_come is not None and self.runs_to_come < 1:
            raise StudyError(f"`runs_to_come={self.runs_to_come}` is not positive", hint="e.g. `runs_to_come=100`")
        if self.within_s is not None and not (math.isfinite(self.within_s) and self.within_s > 0):
            raise StudyError(
                f"a limit of {self.within_s:g} s is not positive", hint="give a positive time, e.g. `within_s=60`"
            )
        if self.replicates is not None and self.replicates < 1:
            raise StudyError(
                f"{self.replicates} replicates is not positive", hint="`replicates=3` runs each configuration 3 times"
            )


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that the runs of a search may be, and may cost by the study's price."""

    max_runs: int = MAX_RUNS
    max_cost: float | None = None
    runs_to_come: int | None = None  # of the job with the settings found: what the search must pay for itself in
    instead_of: Mapping[str, Level] | None = None  # the settings the job has today: what the search must do better than
    runners: int = 1  # runs that are made at once

    def __post_init__(self) -> None:
        if not 1 <= self.runners <= MOST_RUNNERS:
            raise StudyError(
                f"`runners={self.runners}` is not between 1 and {MOST_RUNNERS}",
                hint="each is a cluster or a share of one",
            )
        if self.max_runs < 1:
            raise StudyError(f"`max_runs={self.max_runs}` is not positive", hint="e.g. `max_runs=20`")
        if self.max_cost is not None and not (math.isfinite(self.max_cost) and self.max_cost > 0):
            raise StudyError(
                f"{self.max_cost:g} is not a positive amount", hint="give a positive amount, e.g. `max_cost=0.5`"
            )


@dataclass(frozen=True, slots=True)
class SearchMethod:
    """Which searcher, and what it is given beside the study."""

    name: str | None = None  # None: the registered default
    seed: int = 0  # for searchers with randomness
    replicates: int | None = None  # runs per configuration; None: the searcher's own
    earlier: Sequence[Any] = ()  # runs of other workloads to learn from: paths, DataFrames or Data
    limits: Sequence[Limit | str] = ()  # that a run must keep to be an answer, as in `recommend`: "accuracy >= 0.95"
    confidence: float | None = None  # go on until an answer is in time in its next run with this probability
    stop_late: bool = False  # stop a run once it has missed the deadline: cheaper, but it teaches less


def limits_for(
    study: Study, limits: Sequence[Limit | str], within_s: float | None = None
) -> tuple[tuple[Limit, ...], float | None]:
    """The limits of a search in the language of `recommend`, and the deadline: one of them may be on the time."""
    words, known = _words(study), list(_responses(study))
    if study.price is not None and COST not in known:
        known.append(COST)
    found = limits_of(Question(limits=limits, within_s=within_s), words, known)
    time = words.time
    deadlines = [one for one in found if one.response == time and one.is_upper]
    others = tuple(one for one in found if one not in deadlines)
    if not deadlines or time is None:
        return others, within_s
    return others, words.response(time).seconds(deadlines[0].value)


def slacks_of(study: Study, limits: Sequence[Limit], observation: Observation) -> tuple[float, ...]:
    """How far a run kept to each limit, as a logarithm for times and money; below 0 where it did not."""
    if not limits:
        return ()
    responses, words = make_dataset(study, (observation,)).observations[0].responses, _words(study)
    found = []
    for limit in limits:
        value = responses.get(limit.response)
        sign = 1 if limit.is_upper else -1
        if value is None or not math.isfinite(value):
            found.append(-math.inf)
        elif words.response(limit.response).kind in (Kind.TIME, Kind.MONEY) and value > 0 and limit.value > 0:
            found.append(sign * math.log(limit.value / value))
        else:
            found.append(sign * (limit.value - value))
    return tuple(found)


def _words(study: Study) -> Vocabulary:
    words = study.vocabulary
    return words if study.price is None else words.in_currency(COST, study.price.currency)


def objective_for(
    study: Study,
    *,
    maximize: str | None = None,
    minimize: str | None = None,
    within_s: float | None = None,
    limits: Sequence[Limit] = (),
) -> Objective:
    """By the rule of `recommend.question.objective_of`. StudyError for a response that no run yields."""
    words = _words(study)
    objective = objective_of(
        words,
        maximize=maximize,
        minimize=minimize,
        limited=(
            *(() if within_s is None else (words.required_time(),)),
            *(limit.response for limit in limits),
        ),
        resources=None if (held := _resources(study)) is None else held.name,
    )
    response, known = objective.response, _responses(study)
    if response == COST and COST not in known and study.price is None:
        raise StudyError("the cost is unknown without a price", hint="add a price, e.g. price: {core_hour: 0.05}")
    if response not in (*known, COST) and (held is None or response != held.name):
        names = list(dict.fromkeys((*known, COST)))
        raise StudyError(f"study {study.name!r} has no response {response!r}", hint=did_you_mean(response, names))
    return objective


def _responses(study: Study) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*(r.name for r in study.responses), *(r.name for r in study.vocabulary.responses))))


def _resources(study: Study) -> Resources | None:
    """What runs hold and settings decide; None where nothing does, or where runs measure something of that name."""
    held = resources_of(study.vocabulary, tuple(factor.name for factor in study.factors), study.fixed)
    return None if held is None or held.name in _responses(study) else held


def settings_today(study: Study, levels: Mapping[str, Level]) -> Configuration:
    """The settings a job has today, in the study's own way to write them. StudyError for those it does not have."""
    known = {factor.name: factor.levels for factor in study.factors}
    missing = [name for name in known if name not in levels]
    if missing:
        raise StudyError(f"`instead_of=` lacks {', '.join(missing)}", hint="give every setting that the study varies")
    found: dict[str, Level] = {}
    for name, value in levels.items():
        options = known.get(name, (study.fixed[name],) if name in study.fixed else ())
        if not options:
            raise StudyError(f"`instead_of=`: there is no setting {name!r}", hint=did_you_mean(name, list(known)))
        same = [level for level in options if same_level(level, value)]
        if not same:
            raise StudyError(
                f"`instead_of=`: study {study.name!r} has no level {name} = {value}",
                hint=f"its levels are {', '.join(map(str, options))}; add it to compare with it",
            )
        found[name] = same[0]
    return Configuration(found)


def runnable_candidates(site: Site, fix: Configuration) -> Feasible:
    """Every combination of the study's levels that agrees with `fix`, that rules allow and that can be run."""
    study = _narrowed(site.study, fix)
    try:
        found = feasible(study)
    except StudyError as error:
        raise InfeasibleError(error.problem, hint="relax a rule, or fix fewer settings") from error
    allowed = found.configurations
    possible = site.possible(allowed)
    if len(possible) == len(allowed):
        return found
    reason = next(reason for c in allowed if (reason := site.refusal(c)) is not None)
    if not possible:
        raise type(reason)(f"none of {len(allowed)} combinations can be run: {reason.problem}", hint=reason.hint)
    n_left_out = len(allowed) - len(possible)
    left_out = f"{n_left_out} of {len(allowed)} combinations cannot be run and are left out: {reason.problem}"
    return Feasible(possible, found.is_complete, (*found.notes, left_out))


def neighbors(study: Study, fix: Configuration, configuration: Configuration) -> list[Configuration]:
    """What differs from some settings in one by one step, as far as the study's levels and rules allow it."""
    narrowed = _narrowed(study, fix)
    levels = {factor.name: factor.levels for factor in narrowed.factors}
    near = one_change_each(configuration, levels)[1:]
    allowed = narrowed.space().allows([c.only(levels) for c in near])
    return [c for c, is_allowed in zip(near, allowed, strict=True) if is_allowed]


def _narrowed(study: Study, fix: Configuration) -> Study:
    """The study with only those levels that agree with `fix`."""
    levels = {**{name: (level,) for name, level in study.fixed.items()}, **{f.name: f.levels for f in study.factors}}
    fixed = dict(study.fixed)
    for name, value in fix.items():
        if name not in levels:
            raise StudyError(f"cannot fix {name!r}: there is no such setting", hint=did_you_mean(name, list(levels)))
        same = [level for level in levels[name] if same_level(level, value)]
        if not same:
            raise InfeasibleError(
                f"study {study.name!r} has no level {name} = {value}",
                hint=f"its levels are {', '.join(map(str, levels[name]))}",
            )
        fixed[name] = same[0]  # the study's own way to write it, which makes the trial's key
    factors = tuple(factor for factor in study.factors if factor.name not in fix)
    return replace(study, factors=factors, fixed=Configuration(fixed))


def definition_of(study: Study, options: TuneOptions, n_candidates: int) -> dict[str, Any]:
    """What decides the questions of a search, as plain data: one that differs in it is another search."""
    measured = study.measured_definition()
    definition: dict[str, Any] = {
        "searcher": options.searcher,
        "objective": str(options.objective),
        "seed": options.seed,
        "fix": dict(options.fix),
        "settings": measured["settings"],
        "rules": measured["rules"],
        "candidates": n_candidates,
    }
    formula = _formula(study, options.objective.response)
    if formula is not None:
        definition["formula"] = formula
    elif options.objective.response == COST and study.price is not None:
        definition["price"] = study.price.as_plain()
    optional = {
        "within_s": options.within_s,
        "replicates": options.replicates,
        "confidence": options.confidence,
        "stop_late": options.stop_late or None,
        "runs_to_come": options.runs_to_come,
        "instead_of": None if options.instead_of is None else dict(options.instead_of),
        "limits": [f"{x.response} {'<=' if x.is_upper else '>='} {x.value:g}" for x in options.limits] or None,
    }
    definition |= {name: value for name, value in optional.items() if value is not None}
    if options.earlier:
        definition["earlier"] = [_fingerprint(dataset) for dataset in options.earlier]
    return definition


def _formula(study: Study, response: str) -> str | None:
    return next((r.formula.text for r in study.responses if r.name == response and r.formula is not None), None)


def _fingerprint(dataset: Dataset) -> str:
    import hashlib

    rows = [
        repr((sorted(o.configuration.items()), sorted(o.responses.items()), o.outcome)) for o in dataset.observations
    ]
    digest = hashlib.sha256("\n".join(sorted(rows)).encode()).hexdigest()[:8]
    return f"{dataset.name}: {len(rows)} runs, {digest}"


def search_of(study: Study, options: TuneOptions, candidates: Sequence[Configuration], *, with_fixed: bool) -> Search:
    """What the searcher is given: candidates with all their settings, or only with those that vary."""
    varied = [f.name for f in study.factors if f.name not in options.fix]
    return Search(
        candidates=tuple(c if with_fixed else c.only(varied) for c in candidates),
        seed=options.seed,
        per_second=_per_second(study, options.objective, candidates),
        within_s=options.within_s,
        earlier=tuple(_with_formula(study, dataset, options.objective.response) for dataset in options.earlier),
        runs_to_come=options.runs_to_come,
        replicates=options.replicates,
        vocabulary=study.vocabulary,
    )


def value_of(study: Study, objective: Objective, observation: Observation) -> tuple[float | None, str]:
    """The objective as a run gave it, or None and why it gave none."""
    if not observation.ok:
        return None, observation.cause
    try:
        responses = make_dataset(study, (observation,)).observations[0].responses
    except StudyError as error:  # a formula that fails at what was measured
        return None, error.problem
    value, words = responses.get(objective.response), study.vocabulary
    held = _resources(study)
    if held is not None and objective.response == held.name and (time := words.required_time()) in responses:
        value = words.response(time).seconds(responses[time]) * held.held_by(observation.configuration, words)
    if value is None or not math.isfinite(value):
        return None, f"it has no {objective.response}"
    return value, ""


def submit_lines(study: Study, configuration: Configuration) -> tuple[str, ...]:
    """Settings as spark-submit options; the user's own properties win, as they did in the runs."""
    given = redact(study.spark.conf)
    ours = [
        line
        for line in conf_lines(study.fixed | configuration, study.vocabulary)
        if line.removeprefix("--conf ").partition("=")[0] not in given
    ]
    return (*ours, *(f"--conf {shlex.quote(f'{name}={value}')}" for name, value in given.items()))


def _per_second(study: Study, objective: Objective, candidates: Sequence[Configuration]) -> tuple[float, ...] | None:
    if objective.is_maximum or _formula(study, objective.response) is not None:
        return None
    words = study.vocabulary
    if objective.response == words.time:
        return (words.response(words.time).from_seconds(1.0),) * len(candidates)
    if objective.response == COST and study.price is not None:
        return tuple(time_cost(1.0, candidate, study.price, words) for candidate in candidates)
    if (held := _resources(study)) is not None and objective.response == held.name:
        return tuple(held.held_by(candidate, words) for candidate in candidates)
    return None


def _with_formula(study: Study, dataset: Dataset, response: str) -> Dataset:
    """Earlier runs with the objective computed where they measured what it is made of."""
    wanted = [r for r in study.responses if r.name == response and r.formula is not None]
    measured = {name for o in dataset.observations for name in o.responses}
    return derive_responses(dataset, wanted) if all(set(r.needs) <= measured for r in wanted) else dataset
