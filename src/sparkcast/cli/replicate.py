"""Papers done again: replicate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Json, Verbose, emit, show

if TYPE_CHECKING:
    pass


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

    emit(api.replicate(paper, part=part, data=data), as_json, lambda found: show(found, details))
