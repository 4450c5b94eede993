"""A paper next to our numbers, in words."""

from typing import TYPE_CHECKING

from sparkcast.text._page import Page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparkcast.replications import Agreement, CorrectedFigure, Mistake, Replicated, Row, Section

_FEW = 5  # rows that differ, without `details`


def write(page: Page, result: "Replicated") -> None:
    details = page.details
    page.tell(result.title)
    for headline in result.headlines:
        page.tell(f"- {headline}", hang="  ")
    if details:
        _show_all(page, result)
    else:
        _show_differing(page, result)
        numbers = ", ".join(str(mistake.number) for mistake in result.mistakes)
        if numbers:
            page.tell(f"mistakes in the paper, shown with what is true: {numbers}")
        if result.left_out:
            page.tell(f"left out, because they need the measurements (`data=DIR`): {', '.join(result.left_out)}")
        page.tell("`.text(details=True)` shows all tables, mistakes and notes")
    page.tell(f"{result.paper} ({', '.join(result.parts)}): {_counted(result.counts)}")
    if result.synthetic_counts:
        page.tell(f"on synthetic runs, which say nothing of a real cluster: {_counted(result.synthetic_counts)}")


def _counted(counts: "Mapping[Agreement, int]") -> str:
    from sparkcast.replications import Agreement

    agree, differ, shown = (counts[verdict] for verdict in Agreement)
    return f"{agree} agree, {differ} differ, {shown} only shown"


def _show_all(page: Page, result: "Replicated") -> None:
    page.tell("")
    for section in result.sections:
        _show_section(page, section)
    if result.mistakes:
        page.tell("Mistakes in the paper, and what is true\n")
    for mistake in result.mistakes:
        _show_mistake(page, mistake)
    for note in result.notes:
        page.tell(f"Note: {note}", hang="   ")


def _show_differing(page: Page, result: "Replicated") -> None:
    from sparkcast.replications import Agreement

    differing = [
        (section, row) for section in result.sections for row in section.rows if row.verdict is Agreement.DIFFERS
    ]
    rows = [row for _, row in differing]
    if rows:
        is_printed = all(section.is_printed for section, _ in differing)
        header = ("item", "quantity", _column(is_printed), "ours", "difference")
        against = "the paper" if is_printed else "the paper, or from independent calculations"
        title = f"Differs from {against}" + (f" ({_FEW} of {len(rows)})" if len(rows) > _FEW else "")
        page.table(title, header, [_cells(row)[:5] for row in rows[:_FEW]], optional=("difference",))


def _show_section(page: Page, section: "Section") -> None:
    rows = [_cells(row) for row in section.rows]
    column = _column(section.is_printed)
    header = ("item", "quantity", column, "ours", "difference", "verdict", "compared by")
    page.table(f"{section.title}  ({column}: {section.source})", header, rows, optional=("compared by", "difference"))
    for note in section.notes:
        page.tell(f"- {note}", hang="   ")
    if section.notes:
        page.tell("")


def _column(is_printed: bool) -> str:
    return "printed" if is_printed else "reference"


def _cells(row: "Row") -> list[str]:
    from sparkcast.replications import at_digits

    if row.ours is None:
        ours = "-"
    elif "e" in row.compared:
        ours = f"{row.ours:.{max(len(row.compared.split('e')[0]) - 2, 0)}e}"
    else:
        ours = at_digits(row.compared, row.ours) if row.compared else f"{row.ours:.6g}"
    difference = "-" if row.difference is None else f"{row.difference:+.2g}"
    return [row.item, row.quantity, row.compared or "-", ours, difference, row.verdict.value, row.rule]


def _show_mistake(page: Page, mistake: "Mistake") -> None:
    page.tell(f"{mistake.number}. Paper: {mistake.says}", hang="   ")
    page.tell(f"   True: {mistake.truth}")
    for figure in mistake.figures:
        page.tell(f"   {figure.what}: {_sides(figure)}")
    page.tell("")


def _sides(figure: "CorrectedFigure") -> str:
    if figure.paper is None or figure.right is None:
        value = figure.right if figure.paper is None else figure.paper
        return "-" if value is None else f"{value:.5g}"
    return f"paper {figure.paper:.5g}, correct {figure.right:.5g}"
