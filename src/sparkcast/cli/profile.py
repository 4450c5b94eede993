"""Where the time of a run went: profile."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, say, show
from sparkcast.units import show_level, show_percent

if TYPE_CHECKING:
    pass


def register(app: typer.Typer) -> None:
    app.command()(profile)


def profile(
    log: Annotated[str, typer.Argument(metavar="LOG", help="A Spark event log: file, rolling log's folder, URL.")],
    other: Annotated[
        str | None, typer.Argument(metavar="[LOG2]", help="A later run of the same job, to be compared with the first.")
    ] = None,
    fail_above: Annotated[
        str | None, typer.Option(help="With two logs: exit with 5 when the second takes longer by more, e.g. 10%.")
    ] = None,
    threshold: Annotated[
        list[str] | None, typer.Option(help="When to report a finding, e.g. skew_ratio=5. Repeatable.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="Write figures of the (second) log to this folder.")] = None,
    force: Force = False,
    details: Details = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Where the time of a run went, and what to change; of two runs, what is different.

    Example: sparkcast profile eventlogs/application_1700000000000_0001.zstd
    """
    from sparkcast import api
    from sparkcast.errors import StudyError

    limits = dict(_threshold(text) for text in threshold or ())
    if other is None:
        if fail_above is not None:
            raise StudyError("--fail-above needs two logs", hint="give the earlier run first, then the later one")
        emit(api.profile(log, thresholds=limits), as_json, lambda found: show(found, details))
    else:
        most = None if fail_above is None else _share(fail_above)
        compared = api.compare_profiles(log, other, thresholds=limits)
        emit(compared, as_json, lambda found: show(found, details))
    if figures is not None:
        written = api.write_profile_figures(other or log, figures, force=force)
        say(f"wrote {len(written)} files to {figures}")
    if other is not None and most is not None and compared.more_share > most:
        say(f"{show_percent(compared.more_share, 3, sign=True)} is more than {show_level(most)}")
        raise typer.Exit(5)


def _threshold(text: str) -> tuple[str, float]:
    from sparkcast.errors import StudyError

    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise StudyError(f"--threshold {text!r}: no number", hint="write NAME=NUMBER, e.g. skew_ratio=5") from None


def _share(text: str) -> float:
    from sparkcast.errors import StudyError

    number = text.strip().removesuffix("%")
    try:
        share = float(number) / 100
    except ValueError:
        raise StudyError(f"--fail-above {text!r}: not a percentage", hint="write it as 10%") from None
    if not 0 <= share < 1000:
        raise StudyError(f"--fail-above {text!r}: not a percentage of 0 or more", hint="write it as 10%")
    return share
