"""A recommendation from the replay of a log: the cheapest cluster that keeps to a deadline or a budget."""

from math import erf, inf, log, sqrt

from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.learned.predict import Prediction
from sparkcast.recommend import Candidate, Considered, Launch, Limit, Recommendation, Relaxed
from sparkcast.recommend.shown import short_seconds, show_value
from sparkcast.replay import Replayed, WhatIf
from sparkcast.study import Configuration, Kind, Response, Role, Setting, Vocabulary
from sparkcast.study.names import COST
from sparkcast.units import show_level, show_probability

_Z = 1.645
_TIME, _CORE_HOURS = "time_s", "core_hours"


def recommend_replayed(
    found: WhatIf, *, within_s: float | None = None, budget: float | None = None, confidence: float = 0.95
) -> Recommendation:
    """The cluster that costs least of those that keep to the limits.

    Raises:
        StudyError: A budget without a price.
        InfeasibleError: None keeps to them.
    """
    if budget is not None and found.measured.cost is None:
        raise StudyError("a budget needs a price", hint="add `price=Price(core_hour=0.05)`")
    money = COST if found.measured.cost is not None else _CORE_HOURS
    words = _words(found, money)
    limits = (
        *((Limit(_TIME, within_s),) if within_s is not None else ()),
        *((Limit(COST, budget),) if budget is not None else ()),
    )
    candidates = [_candidate(one, limits, money) for one in found.configurations]
    meeting = [one for one in candidates if one.probability >= confidence]
    if not meeting:
        raise _infeasible(found, candidates, limits, confidence, words)
    goal = money if within_s is not None or budget is None else _TIME
    ranked = sorted(meeting, key=lambda one: one.predicted(goal).value)
    chosen, others = ranked[0], ranked[1:]
    time = chosen.predicted(_TIME)
    return Recommendation(
        objective=f"minimize {goal}",
        within_s=within_s,
        confidence=confidence,
        models=dict.fromkeys((_TIME, money), "replay"),
        chosen=chosen,
        runner_up=others[0] if others else None,
        candidates=(chosen, *(one for one in candidates if one is not chosen)),
        why=_why(goal, len(meeting), len(candidates), limits),
        margin_s=None if within_s is None else within_s - time.value,
        launch=Launch(properties=_properties(chosen.configuration)),
        limits=limits,
        chances=tuple(_chance(chosen, limit) for limit in limits),
        n_candidates=len(candidates),
        considered=_considered(found, candidates, len(meeting)),
        notes=(f"replayed, not run; the interval is {found.interval}", *found.notes),
        vocabulary=words,
    )


def _why(goal: str, n_meeting: int, n: int, limits: tuple[Limit, ...]) -> str:
    noun = {COST: "cost", _CORE_HOURS: "core-hours", _TIME: "time"}[goal]
    if not limits:
        return f"lowest predicted {noun}"
    limited = " and the ".join("deadline" if one.response == _TIME else "budget" for one in limits)
    meeting = f"{n_meeting} candidates (of {n}) that meet" if n_meeting > 1 else f"1 candidate (of {n}) that meets"
    return f"lowest predicted {noun} of the {meeting} the {limited}"


def _considered(found: WhatIf, candidates: list[Candidate], n_meeting: int) -> Considered:
    n_measured, n_logs = sum(one.measured_runs > 0 for one in candidates), len(found.logs)
    text = f"{len(candidates)} clusters, replayed from {'1 log' if n_logs == 1 else f'{n_logs} logs'}"
    return Considered(len(candidates), n_measured, False, text, n_meeting, n_logs, 0)


def _words(found: WhatIf, money: str) -> Vocabulary:
    cost = Response(COST, kind=Kind.MONEY, unit=found.currency) if money == COST else Response(money, kind=Kind.COUNT)
    settings = (Setting("executors", role=Role.MACHINES), Setting("cores", role=Role.CORES))
    return Vocabulary(settings, (Response(_TIME, kind=Kind.TIME), cost))


def _candidate(one: Replayed, limits: tuple[Limit, ...], money: str) -> Candidate:
    value = one.core_hours if money == _CORE_HOURS else one.cost or 0.0
    # Executors are paid while the application runs: cost is as uncertain as time.
    low, high = one.low_s / one.time_s, one.high_s / one.time_s
    predictions = (
        Prediction(_TIME, one.time_s, one.low_s, one.high_s, one.level),
        Prediction(money, value, value * low, value * high, one.level),
    )
    made = Candidate(
        Configuration({"executors": one.executors, "cores": one.cores}), predictions, 1.0, int(one.is_measured)
    )
    chance = min((_chance(made, limit) for limit in limits), default=1.0)
    return Candidate(made.configuration, predictions, chance, made.measured_runs)


def _chance(candidate: Candidate, limit: Limit) -> float:
    told = candidate.predicted(limit.response)
    if told.value <= 0 or limit.value <= 0:
        return 0.0
    sd = log(told.high / told.value) / _Z if told.high > told.value else 1e-9
    return 0.5 * (1 + erf(log(limit.value / told.value) / sd / sqrt(2)))


def _properties(chosen: Configuration) -> dict[str, str]:
    return {"spark.executor.instances": str(chosen["executors"]), "spark.executor.cores": str(chosen["cores"])}


def _infeasible(
    found: WhatIf, candidates: list[Candidate], limits: tuple[Limit, ...], confidence: float, words: Vocabulary
) -> InfeasibleError:
    closest = max(candidates, key=lambda one: (one.probability, -one.predicted(limits[0].response).value))
    # The value that the closest one keeps to with the wanted confidence.
    wanted = _quantile(confidence)
    needed = []
    for limit in limits:
        told = closest.predicted(limit.response)
        sd = log(told.high / told.value) / _Z if told.value > 0 else inf
        needed.append(Relaxed(limit, told.value * 2.718281828459045 ** (wanted * sd), closest.configuration))
    texts = [_shown(one.limit, one.limit.value, words) for one in needed]
    value = show_value(words.response(limits[0].response), closest.predicted(limits[0].response).value)
    met = show_probability(closest.probability)
    hint = "relax " + " and ".join(_relaxed(one, words) for one in needed)
    floor = f"; no number of executors is faster than {short_seconds(found.floor.time_s)}" if found.floor else ""
    return InfeasibleError(
        f"no cluster meets the {' and the '.join(texts)} with {show_level(confidence)} probability{floor}\n"
        f"closest: {closest.configuration} (predicted {value}) meets it with {met} probability",
        hint=hint,
        nearest=tuple(needed),
    )


def _relaxed(one: Relaxed, words: Vocabulary) -> str:
    what = "deadline" if words.response(one.limit.response).kind is Kind.TIME else "budget"
    return f"the {what} to {_shown(one.limit, one.needed, words).removesuffix(f' {what}')}"


def _shown(limit: Limit, value: float, words: Vocabulary) -> str:
    response = words.response(limit.response)
    if response.kind is Kind.TIME:
        return f"{short_seconds(response.seconds(value))} deadline"
    return f"{show_value(response, value)} budget"


def _quantile(share: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)
