"""The best settings that meet a deadline with the wanted probability."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sparkcast.analyse.runs import same_level, usable_runs
from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.models import MODELS, Fitted
from sparkcast.models.saved import SavedModel, Seen, constants_in, seen_in
from sparkcast.models.support import Extrapolating, categories_of
from sparkcast.recommend import Candidate, Prediction, Recommendation
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Level, Price, show_configuration
from sparkcast.study.derive import run_cost
from sparkcast.units import as_number, show_seconds

TIME, ACCURACY, COST = "time_s", "accuracy", "cost"


@dataclass(frozen=True, slots=True)
class Objective:
    response: str
    is_maximum: bool

    def __str__(self) -> str:
        return f"{'maximize' if self.is_maximum else 'minimize'} {self.response}"


@dataclass(frozen=True, slots=True)
class Known:
    """What a recommendation takes from runs beside models; a model file has it without them."""

    factors: tuple[str, ...]
    constants: Configuration
    seen: tuple[Seen, ...]
    responses: tuple[str, ...]  # that successful runs measured

    def key(self, configuration: Configuration) -> tuple[object, ...]:
        """Equal for the same settings, however they are written."""
        values = [configuration[name] for name in self.factors]
        return tuple(str(v) if (number := as_number(v)) is None else number for v in values)


def _known(data: Dataset | SavedModel) -> Known:
    if isinstance(data, SavedModel):
        about = data.about
        return Known(about.factors, about.fixed, about.seen, tuple(data.fitted))
    measured = dict.fromkeys(name for run in data.observations if run.ok for name in run.responses)
    return Known(data.factors, constants_in(data), seen_in(data), tuple(measured))


def recommend(
    data: Dataset | SavedModel,
    candidates: Sequence[Configuration],
    *,
    within_s: float | None = None,
    confidence: float = 0.95,
    maximize: str | None = None,
    minimize: str | None = None,
    fix: Mapping[str, Level] | None = None,
    price: Price | None = None,
    model: str = "auto",
    extrapolate: bool = False,
) -> Recommendation:
    """The candidate that is best for the objective among those that meet the deadline with `confidence`.

    Without an objective: the highest accuracy when it was measured and there is a deadline, else the shortest time.
    A candidate that was run and never succeeded is left out, and so is one too far from what was measured unless
    `extrapolate`. Raises InfeasibleError when none meets the deadline. A model file brings its own models.
    """
    known = _known(data)
    objective = _objective(data, known, within_s, maximize, minimize, price)
    _check_limits(within_s, confidence)
    allowed, failed = _split_failed(known, _matching(known, candidates, fix or {}))
    # The upper end of the shown interval is then the time that is met with `confidence`.
    level = round(2 * confidence - 1, 12) if confidence > 0.5 else 0.9
    fitted = _fit(data, _needed(known, objective, within_s, price), model)
    if extrapolate:
        categories = categories_of([seen.configuration for seen in known.seen], known.factors)
        fitted = {r: (name, Extrapolating(f, r, categories)) for r, (name, f) in fitted.items()}
    allowed, n_beyond = _supported(allowed, [f for _, f in fitted.values()])
    ranked = _rank(_predict(known, allowed, {r: f for r, (_, f) in fitted.items()}, within_s, level, price), objective)
    good = [c for c in ranked if c.probability >= confidence]
    if within_s is not None and not good:
        raise _infeasible(ranked, fitted[TIME][1], within_s, confidence)
    bad = sorted((c for c in ranked if c.probability < confidence), key=lambda c: c.probability, reverse=True)
    margin_s = None
    if within_s is not None:
        margin_s = _time_met(fitted[TIME][1], good[0].configuration, confidence) - good[0].predicted(TIME).value
    return Recommendation(
        objective=str(objective),
        within_s=within_s,
        confidence=confidence,
        models={response: name for response, (name, _) in fitted.items()},
        chosen=good[0],
        runner_up=good[1] if len(good) > 1 else None,
        candidates=(*good, *bad),
        why=_why(good[0], objective, within_s, confidence, margin_s, len(failed), n_beyond),
        margin_s=margin_s,
        conf=conf_lines({**known.constants, **good[0].configuration}),
    )


def _objective(
    data: Dataset | SavedModel,
    known: Known,
    within_s: float | None,
    maximize: str | None,
    minimize: str | None,
    price: Price | None,
) -> Objective:
    if maximize and minimize:
        raise StudyError(
            f"cannot both maximize {maximize} and minimize {minimize}",
            hint="choose one; a deadline can bound the other",
        )
    response = maximize or minimize
    if response is None:
        by_accuracy = within_s is not None and ACCURACY in known.responses
        return Objective(ACCURACY, True) if by_accuracy else Objective(TIME, False)
    if response == COST and price is None and COST not in known.responses:
        raise StudyError("the cost is unknown without a price", hint="give a price, e.g. price: {core_hour: 0.05}")
    if response != COST or price is None:
        _require_response(data, response)
    return Objective(response, maximize is not None)


def _require_response(data: Dataset | SavedModel, response: str) -> None:
    if isinstance(data, Dataset):
        usable_runs(data, response)
    elif response not in data.fitted:
        raise StudyError(
            f"the model file has no model of {response!r}", hint=did_you_mean(response, tuple(data.fitted))
        )


def _check_limits(within_s: float | None, confidence: float) -> None:
    if within_s is not None and not (math.isfinite(within_s) and within_s > 0):
        raise StudyError(f"a deadline of {within_s:g} s cannot be met", hint="give a positive time, e.g. 300s")
    if not 0 < confidence < 1:
        raise StudyError(f"confidence {confidence:g} is not between 0 and 1", hint="write 0.95 for 95 %")


def _matching(known: Known, candidates: Sequence[Configuration], fix: Mapping[str, Level]) -> list[Configuration]:
    """The candidates that agree with `fix`, reduced to the varied settings, each once."""
    if not candidates:
        raise StudyError("there are no candidates to choose from", hint="give at least one configuration")
    constants = known.constants
    names = tuple(dict.fromkeys((*known.factors, *constants, *(name for c in candidates for name in c))))
    left = list(candidates)
    for name, value in fix.items():
        if name not in names:
            raise StudyError(f"cannot fix {name!r}: there is no such setting", hint=did_you_mean(name, names))
        there = {**dict.fromkeys(str({**constants, **c}.get(name)) for c in left)}
        left = [c for c in left if name in {**constants, **c} and same_level({**constants, **c}[name], value)]
        if not left:
            raise StudyError(f"no candidate has {name} = {value}", hint=f"candidates have {', '.join(there)}")
    for candidate in left:
        for name in known.factors:
            if name not in candidate:
                raise StudyError(f"a candidate has no value for {name!r}", hint="give every varied setting")
        for name, value in constants.items():
            if name in candidate and not same_level(candidate[name], value):
                raise NotEnoughDataError(
                    f"a candidate has {name} = {candidate[name]}, but every run has {name} = {value}",
                    hint=f"run the study with {name} = {candidate[name]} as another level",
                )
    unique = {known.key(c): {name: c[name] for name in known.factors} for c in left}
    return list(unique.values())


def _split_failed(known: Known, candidates: list[Configuration]) -> tuple[list[Configuration], list[Configuration]]:
    """Candidates that may work, and those that were run and never worked."""
    broke = {known.key(seen.configuration) for seen in known.seen if seen.failed and not seen.ok}
    failed = [c for c in candidates if known.key(c) in broke]
    allowed = [c for c in candidates if known.key(c) not in broke]
    if not allowed:
        raise InfeasibleError(
            f"all {len(failed)} candidates failed when they were run", hint="try settings with more memory or time"
        )
    return allowed, failed


def _supported(candidates: list[Configuration], fitted: Sequence[Fitted]) -> tuple[list[Configuration], int]:
    """The candidates about which the runs say something to every model, and how many others there are."""
    by_model = [f.beyond(candidates) for f in fitted]
    reasons = [next((error for error in errors if error), None) for errors in zip(*by_model, strict=True)]
    kept = [c for c, reason in zip(candidates, reasons, strict=True) if reason is None]
    if not kept:
        raise next(reason for reason in reasons if reason)
    return kept, len(candidates) - len(kept)


def _needed(known: Known, objective: Objective, within_s: float | None, price: Price | None) -> dict[str, bool]:
    """The responses to model, and whether one cannot do without."""
    is_computed = objective.response == COST and price is not None
    needs_time = within_s is not None or is_computed
    needed = {TIME: needs_time, ACCURACY: False} | ({} if is_computed else {objective.response: True})
    return {response: must for response, must in needed.items() if must or response in known.responses}


def _fit(data: Dataset | SavedModel, needed: Mapping[str, bool], model: str) -> dict[str, tuple[str, Fitted]]:
    if isinstance(data, SavedModel):
        for response in needed:
            _require_response(data, response)
        return {response: (data.about.responses[response].model, data.fitted[response]) for response in needed}
    fitted = {}
    for response, must in needed.items():
        try:
            fitted[response] = (model, MODELS.get(model)().fit(data, response))
        except (NotEnoughDataError, StudyError):
            if must:
                raise
    return fitted


def _predict(
    known: Known,
    candidates: Sequence[Configuration],
    fitted: Mapping[str, Fitted],
    within_s: float | None,
    level: float,
    price: Price | None,
) -> list[Candidate]:
    values = {response: model.predict(candidates) for response, model in fitted.items()}
    ranges = {response: model.interval(candidates, level=level) for response, model in fitted.items()}
    chances = [1.0] * len(candidates) if within_s is None else fitted[TIME].probability_below(candidates, within_s)
    measured = {known.key(seen.configuration): seen.ok for seen in known.seen}
    found = []
    for i, configuration in enumerate(candidates):
        predictions = [Prediction(r, values[r][i], *ranges[r][i], level) for r in fitted]
        if price is not None and TIME in fitted and COST not in fitted:
            time = next(p for p in predictions if p.response == TIME)
            predictions.append(_cost(time, price, {**known.constants, **configuration}))
        runs = measured.get(known.key(configuration), 0)
        found.append(Candidate(configuration, tuple(predictions), chances[i], runs))
    return found


def _cost(time: Prediction, price: Price, settings: Configuration) -> Prediction:
    """What the executors hold, for as long as they hold it; its interval is that of the time."""
    value, low, high = (run_cost(seconds, settings, price) for seconds in (time.value, time.low, time.high))
    return Prediction(COST, value, low, high, time.level)


def _rank(candidates: Sequence[Candidate], objective: Objective) -> list[Candidate]:
    """Best first. Values equal in three digits are a tie, which the shorter time wins."""
    sign = -1 if objective.is_maximum else 1

    def key(candidate: Candidate) -> tuple[float, float]:
        times = [p.value for p in candidate.predictions if p.response == TIME]
        return sign * float(f"{candidate.predicted(objective.response).value:.3g}"), times[0] if times else 0.0

    return sorted(candidates, key=key)


def _time_met(times: Fitted, configuration: Configuration, confidence: float) -> float:
    """The time that the next run stays within with probability `confidence`."""
    if confidence == 0.5:
        return times.predict([configuration])[0]
    [(low, high)] = times.interval([configuration], level=abs(2 * confidence - 1))
    return high if confidence > 0.5 else low


def _infeasible(candidates: Sequence[Candidate], times: Fitted, within_s: float, confidence: float) -> InfeasibleError:
    fastest = min(candidates, key=lambda c: c.predicted(TIME).value)
    nearest_s, nearest = min(
        ((_time_met(times, c.configuration, confidence), c) for c in candidates), key=lambda pair: pair[0]
    )
    return InfeasibleError(
        f"no candidate meets {show_seconds(within_s)} with probability {confidence:g}; the fastest, "
        f"{show_configuration(fastest.configuration)}, is predicted at {show_seconds(fastest.predicted(TIME).value)} "
        f"and meets it with probability {fastest.probability:.2f}",
        hint=f"the nearest deadline met with probability {confidence:g} is {_round_up(nearest_s)} s, by "
        f"{show_configuration(nearest.configuration)}; or lower the confidence, or run more configurations",
    )


def _round_up(seconds: float) -> str:
    """A deadline to write down: rounding it down would make it one that is not met."""
    return f"{math.ceil(seconds * 100) / 100:.2f}" if seconds < 10 else f"{math.ceil(seconds)}"


def _why(
    chosen: Candidate,
    objective: Objective,
    within_s: float | None,
    confidence: float,
    margin_s: float | None,
    n_failed: int,
    n_beyond: int,
) -> str:
    parts = []
    if any(p.response == TIME for p in chosen.predictions):
        parts.append(f"predicted {show_seconds(chosen.predicted(TIME).value)}")
    if within_s is not None and margin_s is not None:
        parts.append(f"{show_seconds(max(margin_s, 0.0))} of margin needed for {100 * confidence:g} %")
        parts.append(f"deadline {show_seconds(within_s)} met with probability {chosen.probability:.2f}")
    if objective.response != TIME:
        parts.append(f"{objective.response} {chosen.predicted(objective.response).value:.4g}")
    if not chosen.measured_runs:
        parts.append("this configuration was never run")
    if n_failed:
        parts.append(f"{_candidates(n_failed)} left out because of failing when run")
    if n_beyond:
        parts.append(f"{_candidates(n_beyond)} left out for being too far from what was measured")
    return f"{show_configuration(chosen.configuration)}: {'; '.join(parts)}"


def _candidates(n: int) -> str:
    return f"{n} candidate{'' if n == 1 else 's'}"


def conf_lines(settings: Configuration) -> tuple[str, ...]:
    """The cluster settings as options of spark-submit.

    >>> conf_lines({"executors": 2, "cores": 4})
    ('--conf spark.executor.cores=4', '--conf spark.cores.max=8', '--conf spark.executor.instances=2')
    """
    executors, cores = as_number(settings.get("executors")), as_number(settings.get("cores"))
    properties = {
        "spark.executor.cores": cores,
        # A standalone cluster counts cores, YARN and Kubernetes count executors.
        "spark.cores.max": executors * (cores or 1) if executors else None,
        "spark.executor.instances": executors,
    }
    lines = [f"--conf {name}={value:g}" for name, value in properties.items() if value]
    if "memory" in settings:
        lines.append(f"--conf spark.executor.memory={settings['memory']}")
    return tuple(lines)
