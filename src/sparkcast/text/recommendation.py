"""What to use, in words."""

from typing import TYPE_CHECKING

from sparkcast.text._page import Page
from sparkcast.units import show_probability

if TYPE_CHECKING:
    from sparkcast.recommend import Launch, Recommendation, RunningForecast, Staleness

_MOST_SHOWN = 8  # of the Pareto front
_MOST_LINES = 10  # of an answer


def write(page: Page, result: "Recommendation") -> None:
    details = page.details
    from sparkcast.recommend.lines import answer_lines, other_lines

    inner, outer = answer_lines(result), other_lines(result, details=details)
    if not details:
        if 1 + len(inner) + len(outer) < _MOST_LINES:
            outer.append(("Next", "add `.text(details=True)` for all candidates and the command to start"))
    else:
        inner += [("Excluded", text) for text in result.excluded]
        if result.considered:
            how = "`fix={NAME: VALUE}` narrows them, `choices=Choices({NAME: range(1, 17)})` adds others"
            inner.append(("Considered", f"{result.considered.text} ({how})"))
    page.tell(f"Use {result.chosen.configuration}.")
    page.labeled(inner, outer)
    if details:
        _show_front(page, result)
    for forecast in result.running:
        page.tell(_running_line(forecast))
    if details:
        _show_launch(page, result.launch)
    for note in result.notes:
        page.say(f"note: {note}")
    if result.staleness:
        _show_staleness(page, result.staleness)


def _show_launch(page: Page, launch: "Launch") -> None:
    from sparkcast.recommend.formats.spark_submit import shell_parts

    if launch.properties or launch.program:
        page.tell(
            f"To start it{f', in {launch.directory}' if launch.program else ', among the options of spark-submit'}:"
        )
        page.verbatim(" \\\n  ".join(shell_parts(launch)))
    for note in launch.notes:
        page.tell(f"  ({note})")


def _show_staleness(page: Page, staleness: "Staleness") -> None:
    if staleness.verdict == "retrain":
        page.say("retrain: " + " ".join(staleness.reasons))
    elif staleness.verdict == "fresh":
        for reason in staleness.reasons:
            page.say(reason)


def _show_front(page: Page, result: "Recommendation") -> None:
    from sparkcast.recommend.lines import short_values

    front = result.tradeoffs
    if len(front) < 2:
        return

    words = result.vocabulary
    known = [p.response for p in front[0].predictions]
    responses = [name for name in known if name in (words.time, words.money, words.quality)]
    page.tell(f"Pareto-optimal in {', '.join(responses)} ({len(front)}):")
    for candidate in front[:_MOST_SHOWN]:
        mark = "*" if candidate.configuration == result.chosen.configuration else " "
        page.tell(f"  {mark} {candidate.configuration}: {short_values(result, candidate)}")
    if len(front) > _MOST_SHOWN:
        page.tell(f"    and {len(front) - _MOST_SHOWN} more: `.pareto` or `api.figures(ANSWER)` shows them")
    if n_alike := len(result.pareto) - len(front):
        page.tell(f"    {n_alike} more {'differs' if n_alike == 1 else 'differ'} from these by less than the noise")


def _running_line(forecast: "RunningForecast") -> str:
    from sparkcast.recommend.shown import short_seconds
    from sparkcast.units import show_seconds

    job = forecast.job
    line = (
        f"{f'running job {job.configuration}'.strip()}: finishes after {show_seconds(forecast.ends_s)}, "
        f"with the new job after {show_seconds(forecast.ends_with_new_s)}"
    )
    if job.within_s is None or forecast.probability is None or forecast.probability_with_new is None:
        return line
    chances = f"{show_probability(forecast.probability)} -> {show_probability(forecast.probability_with_new)}"
    verdict = "would miss" if forecast.would_miss else "meets"
    return f"{line}; it {verdict} its {short_seconds(job.within_s)} deadline (probability {chances})"
