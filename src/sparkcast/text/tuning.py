"""What a search found, in words."""

from typing import TYPE_CHECKING

from sparkcast.text._page import Page
from sparkcast.units import show_percent

if TYPE_CHECKING:
    from sparkcast.search.base import SearchTable
    from sparkcast.search.loop import Tried, TuneResult


def write(page: Page, result: "TuneResult") -> None:
    from sparkcast.units import show_money, show_seconds

    if result.findings is not None:
        _show_findings(page, result.findings)
    elif result.best is not None:
        _show_best(page, result, result.best)
    parts = [f"{result.new} new", f"{result.already_measured} already measured", f"{result.failed} failed"]
    if result.impossible:
        parts.append(f"{result.impossible} rejected without running")
    money = (
        "" if result.spent_cost is None else f", {show_money(result.spent_cost, result.currency)} at the study's price"
    )
    page.tell(f"{result.runs} runs ({', '.join(parts)}): {show_seconds(result.spent_s)}{money}")
    page.tell(f"stopped: {result.stopped_because}")
    for warning in result.warnings:
        page.tell(f"warning: {warning}")
    if result.conf and result.findings is None:
        page.options("paste into spark-submit:", result.conf)


def _show_findings(page: Page, findings: "SearchTable") -> None:
    page.table(
        findings.title, findings.columns, [["" if cell is None else cell for cell in row] for row in findings.rows]
    )
    if findings.note:
        page.tell(findings.note)


def _show_best(page: Page, result: "TuneResult", best: "Tried") -> None:
    from sparkcast.search.loop import show_value
    from sparkcast.units import show_seconds

    words = result.vocabulary
    response = words.response(result.objective.split()[1])
    page.tell(f"{result.objective}: {best.configuration}")
    runs = "1 run" if best.replicates == 1 else f"the mean of {best.replicates} runs"
    span = f" {words.response(words.time or '').span}".rstrip()
    time = span if response.name == words.time else ""
    if response.name != words.time and best.time_s is not None:
        time = f", {show_seconds(best.time_s)}{span}"
    page.tell(f"  {show_value(response, best.value)}{time} ({runs})")
    first = result.first
    if first is not None and first.configuration != best.configuration and first.value:
        change = best.value / first.value - 1
        more = "more" if change > 0 else "less"
        began = f"{show_value(response, first.value)} at {first.configuration}"
        page.tell(f"  {show_percent(abs(change))} {more} than the first run: {began}")
