"""What a search found, in words."""

from typing import TYPE_CHECKING

from sparkcast.text._page import Page

if TYPE_CHECKING:
    from sparkcast.search.base import SearchTable
    from sparkcast.search.loop import TuneResult


def write(page: Page, result: "TuneResult") -> None:
    from sparkcast.search.told import best_lines, search_lines

    lines = search_lines(result)
    if result.findings is not None:
        _show_findings(page, result.findings)
    elif result.best is not None:
        page.tell(f"Use {result.best.configuration}.")
        lines = [*best_lines(result, result.best), *lines]
    page.labeled(lines)
    if result.conf and result.findings is None:
        page.options("paste into spark-submit:", result.conf)


def _show_findings(page: Page, findings: "SearchTable") -> None:
    page.table(
        findings.title, findings.columns, [["" if cell is None else cell for cell in row] for row in findings.rows]
    )
    if findings.note:
        page.tell(findings.note)
