"""Papers done again: replicate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Json, Verbose, emit, table, tell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparkcast.replications import Agreement, CorrectedFigure, Mistake, Replicated, Row, Section

_FEW = 5  # rows that differ, without --details


def register(app: typer.Typer) -> None:
    app.command()(replicate)


def replicate(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="See: sparkcast list replications.")],
    part: Annotated[str | None, typer.Option(help="One part of the paper, e.g. anova; default: all.")] = None,
    data: Annotated[Path | None, typer.Option(help="The authors' measurements: a folder, or a CSV of runs.")] = None,
    details: Details = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """A paper's numbers compared with ours, and its mistakes.

    Example: sparkcast replicate marinos2020 --part anova
    """
    from sparkcast import api

    emit(api.replicate(paper, part=part, data=data), as_json, lambda found: _show(found, details))


def _show(result: "Replicated", details: bool) -> None:
    tell(result.title)
    for headline in result.headlines:
        tell(f"- {headline}", hang="  ")
    if details:
        _show_all(result)
    else:
        _show_differing(result)
        numbers = ", ".join(str(mistake.number) for mistake in result.mistakes)
        if numbers:
            tell(f"mistakes in the paper, shown with what is true: {numbers}")
        if result.left_out:
            tell(f"left out, because they need the measurements (--data DIR): {', '.join(result.left_out)}")
        tell("--details shows all tables, mistakes and notes")
    tell(f"{result.paper} ({', '.join(result.parts)}): {_counted(result.counts)}")
    if result.synthetic_counts:
        tell(f"on synthetic runs, which say nothing of a real cluster: {_counted(result.synthetic_counts)}")


def _counted(counts: "Mapping[Agreement, int]") -> str:
    from sparkcast.replications import Agreement

    agree, differ, shown = (counts[verdict] for verdict in Agreement)
    return f"{agree} agree, {differ} differ, {shown} only shown"


def _show_all(result: "Replicated") -> None:
    tell("")
    for section in result.sections:
        _show_section(section)
    if result.mistakes:
        tell("Mistakes in the paper, and what is true\n")
    for mistake in result.mistakes:
        _show_mistake(mistake)
    for note in result.notes:
        tell(f"Note: {note}", hang="   ")


def _show_differing(result: "Replicated") -> None:
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
        table(title, header, [_cells(row)[:5] for row in rows[:_FEW]], optional=("difference",))


def _show_section(section: "Section") -> None:
    rows = [_cells(row) for row in section.rows]
    column = _column(section.is_printed)
    header = ("item", "quantity", column, "ours", "difference", "verdict", "compared by")
    table(f"{section.title}  ({column}: {section.source})", header, rows, optional=("compared by", "difference"))
    for note in section.notes:
        tell(f"- {note}", hang="   ")
    if section.notes:
        tell("")


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


def _show_mistake(mistake: "Mistake") -> None:
    tell(f"{mistake.number}. Paper: {mistake.says}", hang="   ")
    tell(f"   True: {mistake.truth}")
    for figure in mistake.figures:
        tell(f"   {figure.what}: {_sides(figure)}")
    tell("")


def _sides(figure: "CorrectedFigure") -> str:
    if figure.paper is None or figure.right is None:
        value = figure.right if figure.paper is None else figure.paper
        return "-" if value is None else f"{value:.5g}"
    return f"paper {figure.paper:.5g}, correct {figure.right:.5g}"
