"""A recommendation from the replay of logs: the cheapest cluster that keeps to a deadline or a budget.

Deadlines are about the time from submission to exit, as everywhere: what passed before the application began was
measured, and is the same on every cluster.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from math import exp, log
from statistics import NormalDist

from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.learned.predict import Prediction
from sparkcast.recommend import Candidate, Considered, Launch, Limit, Recommendation, Relaxed
from sparkcast.recommend.explain import relaxed_text
from sparkcast.recommend.question import Objective, Question, limits_of, objective_of
from sparkcast.recommend.shown import noun, short_seconds, show_bound, show_value
from sparkcast.registry import did_you_mean
from sparkcast.replay import Replayed, WhatIf
from sparkcast.study import Configuration, Kind, Response, Role, Setting, Vocabulary
from sparkcast.study.application import CORE_HOURS, FROM_THE_LOG, TIME, TOTAL_TIME
from sparkcast.study.names import COST
from sparkcast.units import show_level, show_probability

EXECUTORS, CORES = "executors", "cores"
_Z = NormalDist().inv_cdf(0.95)  # the ends of a 90% interval
_TIES = 0.05  # of the best time: two runs of one cluster differ by as much
_EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class _Belief:
    """A response of one cluster: a part that is the same everywhere, and one whose logarithm is normal."""

    value: float
    sd: float
    same: float = 0.0

    def quantile(self, share: float) -> float:
        return self.same + (self.value - self.same) * exp(NormalDist().inv_cdf(share) * self.sd)

    def below(self, limit: float) -> float:
        if limit <= self.same or self.value <= self.same:
            return float(self.value <= limit)
        return NormalDist().cdf(log((limit - self.same) / (self.value - self.same)) / self.sd)


@dataclass(frozen=True)
class _Cluster:
    """One cluster and what is believed of it. Everything follows its time, so limits are met together or not."""

    replayed: Replayed
    beliefs: dict[str, _Belief]
    limits: tuple[Limit, ...] = field(repr=False)

    @property
    def chances(self) -> tuple[float, ...]:
        return tuple(self.chance(limit) for limit in self.limits)

    def chance(self, limit: Limit) -> float:
        below = self.beliefs[limit.response].below(limit.value)
        return below if limit.is_upper else 1 - below

    @property
    def probability(self) -> float:
        """Of all limits: upper ones need a quick run, lower ones a slow one."""
        pairs = [(limit.is_upper, chance) for limit, chance in zip(self.limits, self.chances, strict=True)]
        below = min((chance for is_upper, chance in pairs if is_upper), default=1.0)
        above = min((chance for is_upper, chance in pairs if not is_upper), default=1.0)
        return max(below + above - 1, 0.0)

    def predicted(self, response: str) -> Prediction:
        found = self.beliefs[response]
        return Prediction(response, found.value, found.quantile(0.05), found.quantile(0.95), self.replayed.level)

    def margin(self, response: str, confidence: float) -> float:
        return self.beliefs[response].quantile(confidence) - self.beliefs[response].value

    def candidate(self, responses: Collection[str]) -> Candidate:
        settings = Configuration({EXECUTORS: self.replayed.executors, CORES: self.replayed.cores})
        shown = tuple(self.predicted(name) for name in responses)
        return Candidate(settings, shown, self.probability, int(self.replayed.is_measured))


def recommend_replayed(found: WhatIf, question: Question) -> Recommendation:
    """The best cluster of those that keep to the limits.

    Raises:
        StudyError: A question about what a replay does not predict.
        InfeasibleError: No cluster keeps to the limits.
    """
    words, known = _words(found)
    _require_known(question, words, known)
    limits = limits_of(question, words, known)
    goal = objective_of(
        words, minimize=question.minimize, limited=[limit.response for limit in limits], resources=CORE_HOURS
    )
    clusters = [_cluster(found, one, limits, known) for one in found.configurations]
    meeting = [one for one in clusters if one.probability >= question.confidence]
    if not meeting:
        raise _infeasible(found, clusters, limits, question.confidence, words)
    ranked, tie = _ranked(meeting, goal)
    time, money = words.required_time(), words.money or CORE_HOURS
    shown = tuple(dict.fromkeys((time, money, *(limit.response for limit in limits))))
    chosen, others = ranked[0], [one.candidate(shown) for one in ranked[1:]]
    other_time = words.time_beside(time, known)
    return Recommendation(
        objective=str(goal),
        within_s=question.within_s,
        confidence=question.confidence,
        models=dict.fromkeys(shown, "replay"),
        chosen=chosen.candidate(shown),
        runner_up=others[0] if others else None,
        candidates=(chosen.candidate(shown), *(one.candidate(shown) for one in clusters if one is not chosen)),
        why=_why(goal, len(meeting), len(clusters), limits, words),
        margin_s=chosen.margin(time, question.confidence) if question.within_s is not None else None,
        launch=_launch(found, chosen.replayed),
        limits=limits,
        chances=chosen.chances,
        n_candidates=len(meeting),
        considered=_considered(found, len(meeting)),
        tie=tie.candidate(shown) if tie else None,
        tie_spends=_spends(tie, chosen, money, words) if tie else "",
        notes=(f"replayed, not run; the interval is {found.interval}", *found.notes),
        beside=chosen.predicted(other_time) if other_time and other_time not in shown else None,
        vocabulary=words,
    )


def _words(found: WhatIf) -> tuple[Vocabulary, tuple[str, ...]]:
    """What the names of a replay mean, and those of responses."""
    settings = (Setting(EXECUTORS, role=Role.MACHINES), Setting(CORES, role=Role.CORES))
    responses = [one for one in FROM_THE_LOG if one.name in (TOTAL_TIME, TIME, CORE_HOURS)]
    if found.measured.cost is not None:
        responses.append(Response(COST, kind=Kind.MONEY, unit=found.currency))
    return Vocabulary(settings, tuple(responses)), tuple(one.name for one in responses)


def _require_known(question: Question, words: Vocabulary, known: tuple[str, ...]) -> None:
    if question.maximize is not None or question.min_accuracy is not None:
        raise StudyError(
            "a replay predicts times, core-hours and cost, of which less is better",
            hint="use `minimize=`, or ingest the logs with the accuracy of each run",
        )
    if question.budget is not None and words.money is None:
        raise StudyError("a budget needs a price", hint="add `price=Price(core_hour=0.05)`")
    if question.minimize is not None and question.minimize not in known:
        if question.minimize == COST:
            raise StudyError("the cost is unknown without a price", hint="add `price=Price(core_hour=0.05)`")
        raise StudyError(
            f"a replay does not predict {question.minimize!r}", hint=did_you_mean(question.minimize, list(known))
        )


def _cluster(found: WhatIf, one: Replayed, limits: tuple[Limit, ...], known: Collection[str]) -> _Cluster:
    # Executors are paid while the application runs: cost is as uncertain as time.
    sd = max(log(one.high_s / one.time_s) / _Z, _EXACT)
    values = {
        TOTAL_TIME: _Belief(found.launch_s + one.time_s, sd, same=found.launch_s),
        TIME: _Belief(one.jobs_s, sd),
        CORE_HOURS: _Belief(one.core_hours, sd),
        COST: _Belief(one.cost or 0.0, sd),
    }
    return _Cluster(one, {name: values[name] for name in known}, limits)


def _ranked(meeting: list[_Cluster], goal: Objective) -> tuple[list[_Cluster], _Cluster | None]:
    """The best first. Of those that are as quick, the one with fewest core-hours, and the quickest as a tie."""
    ranked = sorted(meeting, key=lambda one: (one.beliefs[goal.response].value, one.replayed.core_hours))
    if goal.response not in (TOTAL_TIME, TIME):
        return ranked, None
    best = ranked[0]
    as_quick = [one for one in ranked if one.replayed.time_s <= (1 + _TIES) * best.replayed.time_s]
    chosen = min(as_quick, key=lambda one: one.replayed.core_hours)
    return [chosen, *(one for one in ranked if one is not chosen)], None if chosen is best else best


def _spends(tie: _Cluster, chosen: _Cluster, money: str, words: Vocabulary) -> str:
    ratio = tie.beliefs[money].value / max(chosen.beliefs[money].value, _EXACT)
    return f"{ratio:.2g} times the {noun(words.response(money))}"


def _why(goal: Objective, n_meeting: int, n: int, limits: tuple[Limit, ...], words: Vocabulary) -> str:
    lowest = f"lowest predicted {noun(words.response(goal.response))}"
    if not limits:
        return f"{lowest} of {n} candidates"
    kinds = {words.response(one.response).kind for one in limits}
    limited = {frozenset({Kind.TIME}): "the deadline", frozenset({Kind.MONEY}): "the budget"}.get(
        frozenset(kinds), "all limits"
    )
    meeting = f"{n_meeting} candidates (of {n}) that meet" if n_meeting > 1 else f"1 candidate (of {n}) that meets"
    return f"{lowest} of the {meeting} {limited}"


def _considered(found: WhatIf, n_meeting: int) -> Considered:
    n, n_logs = len(found.configurations), len(found.logs)
    n_measured = sum(one.is_measured for one in found.configurations)
    text = f"{n} clusters, replayed from {'1 log' if n_logs == 1 else f'{n_logs} logs'}"
    return Considered(n, n_measured, False, text, n_meeting, n_logs, 0)


def _launch(found: WhatIf, chosen: Replayed) -> Launch:
    """What Spark is told for this cluster, on the kind of master that the log is of."""
    if found.master.startswith("local"):
        return Launch(master=f"local[{chosen.cores}]")
    own = {"spark.executor.cores": str(chosen.cores)}
    if found.master.startswith("spark:"):
        own["spark.cores.max"] = str(chosen.executors * chosen.cores)
    else:
        own["spark.executor.instances"] = str(chosen.executors)
    if found.measured.dynamic:
        own["spark.dynamicAllocation.enabled"] = "false"
    if found.partitions is not None:
        own["spark.sql.shuffle.partitions"] = str(found.partitions)
    return Launch(properties=own)


def _infeasible(
    found: WhatIf, clusters: list[_Cluster], limits: tuple[Limit, ...], confidence: float, words: Vocabulary
) -> InfeasibleError:
    closest = max(clusters, key=lambda one: (one.probability, -one.replayed.time_s))
    candidate = closest.candidate([limit.response for limit in limits])
    needed = tuple(_relaxed(closest, limit, confidence, candidate) for limit in limits)
    first = words.response(limits[0].response)
    value = show_value(first, closest.beliefs[first.name].value)
    floor = f"; no number of executors is faster than {short_seconds(found.floor.time_s)}" if found.floor else ""
    hints = [
        relaxed_text(one.limit, words.response(one.limit.response), one.needed, str(one.configuration))
        for one in needed
    ]
    return InfeasibleError(
        f"no cluster meets the {' and the '.join(show_bound(limit, words) for limit in limits)} with "
        f"{show_level(confidence)} probability{floor}\n"
        f"closest: {candidate.configuration} (predicted {value}) meets it with "
        f"{show_probability(closest.probability)} probability",
        hint=" and ".join(hints),
        nearest=needed,
    )


def _relaxed(closest: _Cluster, limit: Limit, confidence: float, candidate: Candidate) -> Relaxed:
    """The value that the closest one keeps to with the wanted confidence."""
    share = confidence if limit.is_upper else 1 - confidence
    return Relaxed(limit, closest.beliefs[limit.response].quantile(share), candidate.configuration)
