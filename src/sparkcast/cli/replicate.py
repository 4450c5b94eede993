"""Papers done again: replicate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Json, Verbose, emit, table

if TYPE_CHECKING:
    from sparkcast.replications import Figure, Mistake, Replicated, Row, Section

_WIDTH = 110


def register(app: typer.Typer) -> None:
    app.command()(replicate)


def replicate(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="See: sparkcast list replications.")],
    part: Annotated[str | None, typer.Option(help="One part of the paper, e.g. anova; default: all.")] = None,
    data: Annotated[Path | None, typer.Option(help="The authors' measurements: a folder, or a CSV of runs.")] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """A paper's numbers beside ours, and its mistakes.

    Example: sparkcast replicate marinos2020 --part anova
    """
    from sparkcast import api

    emit(api.replicate(paper, part=part, data=data), as_json, _show)


def _show(result: "Replicated") -> None:
    from sparkcast.replications import Verdict

    print(f"{result.title}\n")
    for section in result.sections:
        _show_section(section)
    if result.mistakes:
        print("Mistakes of the paper, and what is true\n")
    for mistake in result.mistakes:
        _show_mistake(mistake)
    for note in result.notes:
        _paragraph(f"Note: {note}")
    agree, differ, shown = (result.counts[verdict] for verdict in Verdict)
    print(f"{result.paper} ({', '.join(result.parts)}): {agree} agree, {differ} differ, {shown} shown only")


def _show_section(section: "Section") -> None:
    rows = [_cells(row) for row in section.rows]
    header = ("item", "quantity", "printed", "ours", "difference", "verdict", "compared by")
    print(f"{section.title}  (printed: {section.source})")
    table("", header, rows)
    for note in section.notes:
        _paragraph(f"- {note}")
    if section.notes:
        print()


def _cells(row: "Row") -> list[str]:
    from sparkcast.replications import at_digits

    if row.ours is None:
        ours = "-"
    elif "e" in row.printed:
        ours = f"{row.ours:.{max(len(row.printed.split('e')[0]) - 2, 0)}e}"
    else:
        ours = at_digits(row.printed, row.ours) if row.printed else f"{row.ours:.6g}"
    difference = "-" if row.difference is None else f"{row.difference:+.2g}"
    return [row.item, row.quantity, row.printed or "-", ours, difference, row.verdict.value, row.rule]


def _show_mistake(mistake: "Mistake") -> None:
    _paragraph(f"{mistake.number}. Paper: {mistake.says}")
    _paragraph(f"   True: {mistake.truth}")
    for figure in mistake.figures:
        print(f"   {figure.what}: {_sides(figure)}")
    print()


def _sides(figure: "Figure") -> str:
    if figure.paper is None or figure.right is None:
        value = figure.right if figure.paper is None else figure.paper
        return "-" if value is None else f"{value:.5g}"
    return f"as in the paper {figure.paper:.5g}, right {figure.right:.5g}"


def _paragraph(text: str) -> None:
    import textwrap

    print(textwrap.fill(text, _WIDTH, subsequent_indent="   "))
