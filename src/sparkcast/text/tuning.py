"""What a search found, in words."""

from typing import TYPE_CHECKING

from sparkcast.text._page import Page

if TYPE_CHECKING:
    from sparkcast.search.base import SearchTable
    from sparkcast.search.loop import TuneResult
    from sparkcast.search.unrun import UnrunAnswer, UnrunOption


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


def write_unrun(page: Page, result: "UnrunAnswer") -> None:
    from sparkcast.units import show_probability

    chosen, what = result.chosen, result.objective.split()[1].removesuffix("_s")
    n = len(result.workloads)
    page.tell(f"Use {chosen.configuration}.")
    lines = [
        ("Why", f"expected to come nearest to the lowest {what} of {result.candidates} candidates"),
        ("Over best", f"{_over(chosen)}; the best with {show_probability(chosen.chance_best)} probability"),
        ("Failing", f"{show_probability(chosen.chance_fails)} probability"),
        ("Evidence", f"no run of this job; runs of {n} other workload{'' if n == 1 else 's'}"),
    ]
    if result.runner_up is not None:
        lines.append(("Runner-up", f"{result.runner_up.configuration}: {_over(result.runner_up)}"))
    if result.ignored:
        lines.append(("Not used", f"{', '.join(result.ignored)}: different settings"))
    page.labeled(lines)
    if result.conf:
        page.options("paste into spark-submit:", result.conf)


def _over(option: "UnrunOption") -> str:
    return f"{option.over_best:.2f} times the best in the median, in 90% of jobs at most {option.at_most:.2f}"


def _show_findings(page: Page, findings: "SearchTable") -> None:
    page.table(
        findings.title, findings.columns, [["" if cell is None else cell for cell in row] for row in findings.rows]
    )
    if findings.note:
        page.tell(findings.note)
