"""Results as sentences that someone who has not read a textbook can act on."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sparkcast.analysis import RESIDUAL, Analysis, AnovaRow, CheckResult
from sparkcast.recommend import Candidate, Nearest, Prediction, Recommendation, RunningForecast
from sparkcast.report.document import NOT_RUN, CheckRun, PlannedRun, ReportContent
from sparkcast.report.figures.choice import limit_words
from sparkcast.report.labels import listing, plain_name, show_number, show_term, show_value
from sparkcast.study import Outcome, Response
from sparkcast.units import show_level, show_percent, show_probability, show_seconds
from sparkcast.validate import PROTOCOLS, Validation
from sparkcast.validate.score import baseline

_OUTCOMES = {
    str(Outcome.OK): "succeeded",
    str(Outcome.OOM): "ran out of memory",
    str(Outcome.TIMEOUT): "hit the time limit",
    str(Outcome.LOST): "lost a process or machine",
    str(Outcome.ERROR): "failed",
    NOT_RUN: "not run",
}
_VERDICTS = {
    CheckResult.HOLDS: "holds",
    CheckResult.DOUBTFUL: "in doubt",
    CheckResult.VIOLATED: "does not hold",
    CheckResult.UNKNOWN: "not tested",
}
_MOST_LINES = 4  # of reasons, of running jobs: a report is read, not searched


def headline(content: ReportContent) -> str:
    """The answer in one sentence: what to use, else what matters, else what happened."""
    if content.recommendation:
        return recommendation_sentence(content.recommendation)
    if not any(run.outcome == Outcome.OK for run in content.plan):
        return f"No run succeeded: {outcomes(content.plan)}." if content.plan else "Nothing has been run yet."
    sentences = (with_terms(analysis, line) for analysis in content.analyses for line in analysis.summary)
    return next(sentences, f"{outcomes(content.plan).capitalize()}.")


def recommendation_sentence(recommendation: Recommendation) -> str:
    chosen, words = recommendation.chosen, recommendation.vocabulary
    values = [
        f"{plain_name(words.response(p.response))} {show_value(words.response(p.response), p.value)} "
        f"{words.response(p.response).span}".rstrip()
        for p in chosen.predictions
    ]
    return f"Use {chosen.configuration}: expect {listing(values)}."


def recommendation_details(recommendation: Recommendation) -> tuple[str, ...]:
    """How sure that is: intervals, limits and what they cost, the reason, what was measured, the runner-up."""
    chosen, words = recommendation.chosen, recommendation.vocabulary
    told = [(words.response(p.response), p) for p in chosen.predictions]
    if recommendation.beside is not None:
        told.append((words.response(recommendation.beside.response), recommendation.beside))
    lines = [f"The next run's {spanned(response)} is {interval(response, p)}." for response, p in told]
    if recommendation.limits:
        lines.append(kept_sentence(recommendation))
    if chosen.failure_probability is not None:
        lines.append(
            f"{show_probability(chosen.failure_probability)} of submissions with these settings are expected to fail."
        )
    if recommendation.no_failure:
        lines.append(f"{_sentence(str(recommendation.no_failure))}")
    if recommendation.why:
        lines.append(f"Why: {recommendation.why.rstrip('.')}.")
    lines += [
        f"Trade-off for the {limit_words(alternative.limit, words)}: {alternative.text.rstrip('.')}."
        for alternative in recommendation.alternatives[:_MOST_LINES]
    ]
    if recommendation.considered:
        lines.append(f"Chosen from {recommendation.considered.text}.")
    if measured := measured_sentence(chosen, recommendation.nearest):
        lines.append(measured)
    if recommendation.runner_up:
        lines.append(f"Runner-up: {recommendation.runner_up.configuration}.")
    if recommendation.tie:
        more = f", at {recommendation.tie_spends}" if recommendation.tie_spends else ""
        lines.append(f"Tie: {recommendation.tie.configuration} is as good within the noise{more}.")
    if recommendation.untested:
        lines.append(
            f"{recommendation.untested.configuration} is predicted to be better, but was never run: run it to find out."
        )
    if recommendation.held:
        lines.append(f"For {recommendation.held}, the largest measured.")
    lines += [f"Excluded: {text}." for text in recommendation.excluded]
    if unharmed := unharmed_sentence(recommendation.running):
        lines.append(unharmed)
    return tuple(lines)


def spanned(response: Response) -> str:
    """A response in a sentence; of a time, what it counts."""
    return f"{plain_name(response)} {response.span}".rstrip()


def recommendation_warnings(recommendation: Recommendation) -> tuple[str, ...]:
    """What speaks against following it as it is: a model that has aged, and running jobs that would miss deadlines."""
    lines = []
    stale = recommendation.staleness
    if stale and stale.verdict == "retrain":
        lines.append(" ".join(["Retrain before relying on this.", *_first(stale.reasons, "reasons")]))
    harmed = [missed_sentence(forecast) for forecast in recommendation.running if forecast.would_miss]
    return (*lines, *_first(harmed, "running jobs would miss their deadlines"))


def recommendation_doubts(recommendation: Recommendation) -> tuple[str, ...]:
    """What to know of the models behind it, and what is not known of their age when there is no reason to retrain."""
    stale = recommendation.staleness
    aged = () if stale is None or stale.verdict == "retrain" else tuple(_first(stale.reasons, "remarks"))
    return (*(_sentence(note) for note in _first(recommendation.notes, "notes")), *aged)


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:].rstrip('.')}."


def _first(sentences: Sequence[str], what: str) -> list[str]:
    more = len(sentences) - _MOST_LINES
    return [*sentences[:_MOST_LINES], *([f"And {more} more {what}."] if more > 0 else [])]


def asked_sentence(recommendation: Recommendation) -> str:
    """The question: the objective, and what was to be kept to."""
    goal, _, response = recommendation.objective.partition(" ")
    words = recommendation.vocabulary
    limits = listing([_with_article(limit_words(limit, words)) for limit in recommendation.limits])
    kept = f", meeting {limits} with {show_level(recommendation.confidence)} probability" if limits else ""
    return f"Question: {goal} {plain_name(words.response(response))}{kept}."


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def kept_sentence(recommendation: Recommendation) -> str:
    """With which probability the limits are kept to; of several, all of them in the same run."""
    limits, words = recommendation.limits, recommendation.vocabulary
    what = listing([f"the {limit_words(limit, words)}" for limit in limits])
    chance = f"with {show_probability(recommendation.chosen.probability)} probability"
    if recommendation.chosen.failure_probability is not None:
        chance += " if the run succeeds"
    chance += f"; {show_level(recommendation.confidence)} was required"
    if len(limits) > 1:
        return f"It meets {what} together {chance}."
    return f"It meets {what} {chance}."


def measured_sentence(chosen: Candidate, nearest: Nearest | None) -> str:
    """How far the recommendation is from what was measured; "" when nobody can tell."""
    if chosen.measured_runs:
        return f"Exactly these settings were run {_times(chosen.measured_runs)}."
    if nearest is None or not nearest.distance:
        return ""
    where = str(nearest.configuration)
    return (
        f"These settings were never run. The closest measured configuration: {where}, "
        f"{distance_words(nearest.distance)}."
    )


def distance_words(distance: float) -> str:
    """How far settings are apart, in measured ranges.

    >>> distance_words(0.25), distance_words(1.5)
    ("25% of a setting's measured range away", "1.5 times a setting's measured range away")
    """
    share = show_percent(distance) + " of" if distance <= 1 else f"{distance:.2g} times"
    return f"{share} a setting's measured range away"


def missed_sentence(forecast: RunningForecast) -> str:
    """What one more job does to a running one that would miss its deadline with it."""
    job = forecast.job
    where = str(job.configuration)
    line = f"The running job {where} would miss its deadline" if where else "A running job would miss its deadline"
    if job.within_s is not None:
        line += f" of {show_seconds(job.within_s)}"
    line += f" with the new job running: it would finish after {show_seconds(forecast.ends_with_new_s)}"
    line += f", not {show_seconds(forecast.ends_s)}"
    if forecast.probability is None or forecast.probability_with_new is None:
        return f"{line}."
    chances = f"{show_probability(forecast.probability)} to {show_probability(forecast.probability_with_new)}"
    return f"{line}, and its probability of being on time drops from {chances}."


def unharmed_sentence(running: Sequence[RunningForecast]) -> str:
    """That running jobs stay in time; "" when one would not, or none has a deadline."""
    dated = [forecast for forecast in running if forecast.job.within_s is not None]
    if not dated or any(forecast.would_miss for forecast in dated):
        return ""
    return "No running job would miss its deadline because of the new job."


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def interval(response: Response, prediction: Prediction) -> str:
    low, high = show_value(response, prediction.low), show_value(response, prediction.high)
    return f"between {low} and {high} with {show_level(prediction.level)} probability"


def check_sentence(check: CheckRun) -> str:
    """What the check run showed."""
    promised = f"{show_value(check.response, check.low)} to {show_value(check.response, check.high)}"
    name, where = plain_name(check.response), str(check.settings)
    if check.measured is None:
        return f"The check run at {where} failed, so its {name} is unknown; {promised} was predicted."
    verdict = "inside" if check.inside else "outside"
    measured = show_value(check.response, check.measured)
    return f"A check run at {where} measured a {name} of {measured}, {verdict} the predicted {promised}."


def outcomes(runs: Iterable[PlannedRun]) -> str:
    """How many runs ended in which way.

    >>> outcomes([PlannedRun(1, {}, 1, "ok", {}), PlannedRun(2, {}, 1, "oom", {})])
    '1 run succeeded and 1 run ran out of memory'
    """
    counts = Counter(run.outcome for run in runs)
    parts = [f"{n} run{'s' if n > 1 else ''} {outcome_words(kind)}" for kind, n in counts.most_common()]
    return listing(parts)


def outcome_words(outcome: str) -> str:
    return _OUTCOMES.get(outcome, outcome)


def verdict_words(verdict: CheckResult) -> str:
    return _VERDICTS[verdict]


def with_terms(analysis: Analysis, sentence: str) -> str:
    """A sentence of the analysis with its terms written as the figures write them: a × b, not a:b."""
    for term in sorted((row.term for row in analysis.rows if row.term != RESIDUAL), key=len, reverse=True):
        sentence = sentence.replace(term, show_term(term))
    return sentence


def changes(analysis: Analysis) -> Mapping[str, str]:
    """What the response does from the lowest to the highest level, by setting; on other scales that has no unit."""
    told = {}
    for effect in analysis.effects:
        alone = ":" not in effect.term and "^" not in effect.term
        if alone and effect.ratio is not None:
            told[effect.term] = f"× {effect.ratio:.3g}"
        elif alone and effect.change is not None and analysis.transform == "none":
            sign = "+" if effect.change > 0 else ""
            told[effect.term] = sign + show_value(analysis.meaning, effect.change)
    return told


def both_scales(analysis: Analysis) -> tuple[str, ...]:
    """What Box-Cox says of the scale; where the response was not analyzed as it is, also what that changed."""
    plain = analysis.untransformed
    if plain is None:
        return () if analysis.proposal is None else (analysis.proposal.sentence,)
    scale = analysis.formula.partition(" ~ ")[0]
    before, after = violated(plain), violated(analysis)
    return (
        *([analysis.proposal.sentence] if analysis.proposal else []),
        f"R² is {plain.r_squared:.2f} for {analysis.response} as measured and {analysis.r_squared:.2f} for "
        f"{scale}; these are shares of different variations, so the checks matter more.",
        f"As measured, {before}; for {scale}, {after}.",
    )


def violated(analysis: Analysis) -> str:
    """Which assumptions an analysis breaks, or else which are in doubt."""
    for verdict, one, several in (
        (CheckResult.VIOLATED, "does not hold", "do not hold"),
        (CheckResult.DOUBTFUL, "is doubtful", "are doubtful"),
    ):
        names = [check.name for check in analysis.checks if check.verdict is verdict]
        if names:
            return f"{listing(names)} {one if len(names) == 1 else several}"
    return "no check fails"


def evidence(p: float | None) -> str:
    """A p-value in words.

    >>> evidence(0.0004), evidence(0.03), evidence(0.4)
    ('very strong evidence', 'some evidence', 'could be chance')
    """
    if p is None or p != p:
        return ""
    for limit, words in ((0.001, "very strong evidence"), (0.01, "strong evidence"), (0.05, "some evidence")):
        if p < limit:
            return words
    return "weak evidence" if p < 0.1 else "could be chance"


def show_p(p: float | None) -> str:
    """A p-value as papers print it.

    >>> show_p(0.0000012), show_p(0.0312)
    ('< 0.001', '0.031')
    """
    if p is None or p != p:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def protocol_sentence(validation: Validation) -> str:
    """How the models were tested, in the protocol's own words."""
    name = validation.protocol.partition(":")[0]
    own = PROTOCOLS.summaries().get(name, "Replicates of one configuration are never in both training and test data.")
    return f"Protocol {validation.protocol}: {own[:1].lower()}{own[1:]}"


def trust_gist(validations: Sequence[Validation]) -> str:
    """How far off the best models are, in a line."""
    best = [(plain_name(v.meaning), v.scorecards[0]) for v in validations if v.scorecards]
    told = [f"{show_percent(card.mape / 100, 3)} for the {name} ({card.model})" for name, card in best]
    return f"Mean error of the best models on held-out configurations: {listing(told)}." if told else ""


def by_share(analysis: Analysis) -> list[AnovaRow]:
    """The terms of an analysis, the largest share first, what is not explained last."""
    return sorted(analysis.rows, key=lambda row: (row.term == RESIDUAL, -row.percent))


def place_sentence(content: ReportContent) -> str:
    """Where the runs were made, in a line."""
    places = [place for place, _ in content.fingerprints]
    if not places:
        return "Not recorded."
    if len(places) > 1:
        return f"{len(places)} different environments."
    return f"{places[0].cpu}, {places[0].cores} cores, Spark {places[0].spark}."


def show_f(f: float | None) -> str:
    """An F statistic; below 0.01 its size says nothing.

    >>> show_f(868.31), show_f(2e-26)
    ('868.3', '< 0.01')
    """
    if f is None or f != f:
        return "–"
    return "< 0.01" if f < 0.01 else show_number(f)


def floor_words(validation: Validation) -> str:
    """The noise floor with its interval; "" without replicates."""
    if validation.noise_floor_mape is None:
        return ""
    floor = show_percent(validation.noise_floor_mape / 100, 3)
    if validation.noise_floor_interval is None:
        return floor
    low, high = (show_percent(end / 100, 3) for end in validation.noise_floor_interval)
    return f"{floor} ({low} to {high} with {show_level(validation.level)} confidence)"


def trust_sentence(validation: Validation) -> str:
    """The best model's error on unseen configurations, beside a blind guess and beside the noise floor."""
    name = spanned(validation.meaning)
    if not validation.scorecards:
        return f"No model of the {name} could be tested."
    best = validation.scorecards[0]
    parts = [
        f"On configurations it had not seen, {best.model} predicts the {name} with a mean error of "
        f"{show_percent(best.mape / 100, 3)}"
    ]
    blind = next((card for card in validation.scorecards if card.model == baseline()), None)
    if blind and blind is not best:
        parts.append(f"always predicting the {blind.model} has an error of {show_percent(blind.mape / 100, 3)}")
    if validation.noise_floor_mape is not None:
        parts.append(
            f"a model that knew the mean of every configuration would have an error of {floor_words(validation)}"
        )
    return "; ".join(parts) + "."
