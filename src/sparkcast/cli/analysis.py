"""Which settings matter, and can one trust that: analyze."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, say, show
from sparkcast.cli._tables import AS_IT_STANDS, TableArguments, reads_runs, understood
from sparkcast.cli.prediction import DataSource, ResponseName, load, response_name

if TYPE_CHECKING:
    pass

Figures = Annotated[Path | None, typer.Option(help="A folder for the figures: PNG, SVG and Vega-Lite.")]


def register(app: typer.Typer) -> None:
    app.command()(reads_runs(analyze))


def analyze(
    data: DataSource,
    response: ResponseName = None,
    formula: Annotated[str | None, typer.Option(help="Terms, e.g. 'executors * batch_size'.")] = None,
    anova_type: Annotated[int, typer.Option("--type", min=1, max=3, help="Type of the sums of squares.")] = 2,
    transform: Annotated[
        str, typer.Option(help="none, log or boxcox; auto: as measured, and also transformed if Box-Cox suggests it.")
    ] = "auto",
    details: Details = False,
    figures: Figures = None,
    force: Force = False,
    reading: TableArguments = AS_IT_STANDS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Which settings matter.

    Example: sparkcast analyze mnist.yaml --response accuracy
    """
    from sparkcast import api

    loaded = load(data, reading, [response] if response else [], as_json)
    result = api.analyze(loaded, response_name(response), formula=formula, anova_type=anova_type, transform=transform)
    if figures is not None:
        written = api.write_figures(result, figures, force=force)
        say(f"wrote {len(written)} files to {figures}")
    emit(result, as_json, lambda found: show(found, details), understood(loaded))
