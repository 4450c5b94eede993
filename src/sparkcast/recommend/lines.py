"""A recommendation as labeled lines: what to use first, then why, how sure that is, and what else there is."""

from sparkcast.recommend import Candidate, Recommendation
from sparkcast.recommend.amounts import shown_amounts
from sparkcast.recommend.shown import noun, short_seconds, show_prediction, show_value
from sparkcast.study import Kind, Response
from sparkcast.units import show_level, show_percent, show_probability

Line = tuple[str, str]  # label and text

_ABBREVIATED = "auc roc_auc f1 rmse mse mae mape".split()


def answer_lines(result: Recommendation) -> list[Line]:
    """About the chosen settings."""
    words, chosen = result.vocabulary, result.chosen
    told = [(words.response(p.response), p) for p in chosen.predictions]
    beside = result.beside
    return [
        ("Why", f"{result.why}"),
        *[_limit_line(result, place) for place in range(len(result.limits))],
        *([("All limits", _met(result, result.chosen.probability))] if len(result.limits) > 1 else []),
        *_failure_lines(result),
        *[(_label(response), show_prediction(response, prediction)) for response, prediction in told],
        *([("Other time", show_prediction(words.response(beside.response), beside))] if beside else []),
        *([("Data", shown_amounts(result.held))] if result.held else []),
        ("Evidence", evidence(result)),
    ]


def other_lines(result: Recommendation, *, details: bool = False) -> list[Line]:
    """About other settings: what is as good, what might be better, and what a limit costs."""
    lines = []
    if result.tie:
        never = "" if result.tie.measured_runs else "never run"
        lines.append(("Tie", ", ".join(filter(None, (_short(result, result.tie), result.tie_spends, never)))))
    if result.untested:
        text = f"{_short(result, result.untested)} predicted, but never run; run it to find out"
        lines.append(("Untested", text))
    lines += [("Trade-off", one.text) for one in result.alternatives[: None if details else 1]]
    if result.runner_up and (details or not lines):
        lines.append(("Runner-up", _short(result, result.runner_up)))
    return lines


def _label(response: Response) -> str:
    name = noun(response)
    if response.name in _ABBREVIATED:
        return name.upper()
    return name[:1].upper() + name[1:]


def _limit_line(result: Recommendation, place: int) -> Line:
    limit = result.limits[place]
    response = result.vocabulary.response(limit.response)
    chance = result.chances[place]
    met = _met(result, chance) if len(result.limits) == 1 else f"met with {show_probability(chance)} probability"
    if response.kind is Kind.TIME and limit.is_upper:
        span = response.span and f" {response.span}"
        return "Deadline", f"{short_seconds(response.seconds(limit.value))}{span}, {met}"
    if response.kind is Kind.MONEY and limit.is_upper:
        return "Budget", f"{show_value(response, limit.value)}, {met}"
    return "Limit", f"{limit.response} {'<=' if limit.is_upper else '>='} {limit.value:.4g}, {met}"


def _met(result: Recommendation, chance: float) -> str:
    required, shown = f"{show_level(result.confidence)} required", show_probability(chance)
    fails = result.chosen.failure_probability
    if fails is None:
        return f"met with {shown} probability ({required})"
    # A run that fails meets no limit.
    whole = show_probability(chance * (1 - fails))
    return f"met by {whole} of submissions, and by {shown} of those that succeed ({required} of these)"


def _failure_lines(result: Recommendation) -> list[Line]:
    """How likely it is that these settings fail, first of all by their own runs."""
    chosen = result.chosen
    if chosen.failure_probability is None:
        return []
    runs = chosen.measured_runs + chosen.other_runs
    own = "these settings were never run"
    if runs == 1:
        own = f"the only run of these settings {'failed' if chosen.other_runs else 'succeeded'}"
    elif runs:
        own = f"{chosen.other_runs or 'none'} of {runs:,} runs of these settings failed"
    return [("Failures", f"{show_probability(chosen.failure_probability)} of submissions are expected to fail; {own}")]


def evidence(result: Recommendation) -> str:
    """How many runs stand behind it, and whether the chosen settings are among them."""
    parts = []
    if (known := result.considered) is not None:
        which = "all" if known.measured == known.n else f"{known.measured:,} of"
        parts.append(
            f"{_count(known.runs, 'run')} cover{'s' * (known.runs == 1)} {which} {_count(known.n, 'candidate')}"
        )
        parts.append(_failures(result, known.runs, known.failed))
    chosen = result.chosen
    if chosen.other_runs and not chosen.measured_runs:
        parts.append(f"{_count(chosen.other_runs, 'run')} of these settings ended without a result")
    elif not chosen.measured_runs:
        parts.append("these settings were never run")
        if result.nearest and result.nearest.distance > 0:
            parts.append(
                f"closest run {result.nearest.configuration}, {result.nearest.distance:.2g} of a measured range away"
            )
    return "; ".join(part for part in parts if part)


def _failures(result: Recommendation, runs: int, failed: int) -> str:
    if result.no_failure is not None:
        below = show_percent(result.no_failure.below)
        return f"none failed (failure rate below {below}, {show_level(result.no_failure.confidence)} confidence)"
    if not failed:
        return ""
    return f"{failed:,} of {runs:,} failed"


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _short(result: Recommendation, candidate: Candidate) -> str:
    return f"{candidate.configuration}: {short_values(result, candidate)}"


def short_values(result: Recommendation, candidate: Candidate) -> str:
    """The predicted values, without names where their units tell what they are."""
    shown = []
    for prediction in candidate.predictions:
        response = result.vocabulary.response(prediction.response)
        text = show_value(response, prediction.value)
        is_clear = response.kind in (Kind.TIME, Kind.MONEY) or text.endswith("%")
        shown.append(text if is_clear else f"{noun(response)} {text}")
    return ", ".join(shown)
