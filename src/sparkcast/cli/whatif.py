"""What other clusters would have made of a run: whatif."""

from pathlib import Path
from typing import Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, say, show

_MOST = 1000  # numbers of executors or cores in one question


def register(app: typer.Typer) -> None:
    app.command()(whatif)


def whatif(
    logs: Annotated[
        list[str], typer.Argument(metavar="LOG...", help="An event log, or several of the same job: file, folder, URL.")
    ],
    executors: Annotated[str | None, typer.Option(help="How many executors, e.g. 1,2,4,8 or 1..8.")] = None,
    cores: Annotated[str | None, typer.Option(help="Cores of an executor, e.g. 1,2,4.")] = None,
    partitions: Annotated[int | None, typer.Option(help="Another spark.sql.shuffle.partitions.")] = None,
    data: Annotated[str | None, typer.Option(help="How many times as much data, e.g. 2x.")] = None,
    dynamic: Annotated[str | None, typer.Option(help="Dynamic allocation, least..most executors: 2..20.")] = None,
    within: Annotated[str | None, typer.Option(help="The deadline: answers with the cheapest that meets it.")] = None,
    budget: Annotated[float | None, typer.Option(help="The maximum cost of a run; needs a price.")] = None,
    confidence: Annotated[float, typer.Option(help="The probability with which each limit must be met.")] = 0.95,
    price: Annotated[str | None, typer.Option(help="E.g. core_hour=0.05,gib_hour=0.01.")] = None,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for time and cost by executors, and the replayed tasks.")
    ] = None,
    force: Force = False,
    details: Details = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """What other clusters would have made of a run, by replaying its event log.

    Example: sparkcast whatif eventlogs/application_1700000000000_0001.zstd --executors 2,4,8
    """
    from sparkcast import api
    from sparkcast.errors import StudyError
    from sparkcast.study.derive import parse_price
    from sparkcast.units import parse_seconds

    asked = {
        "executors": _counts("executors", executors),
        "cores": _counts("cores", cores),
        "partitions": partitions,
        "data": _factor(data),
        "price": parse_price(price) if price else None,
    }
    if within is None and budget is None:
        emit(
            api.whatif(logs, dynamic=_range(dynamic), **asked),  # type: ignore[arg-type]
            as_json,
            lambda found: show(found, details),
        )
    else:
        if dynamic is not None:
            raise StudyError("--dynamic has no single cost to compare", hint="leave out --within and --budget")
        limits = {"within_s": parse_seconds(within) if within else None, "budget": budget, "confidence": confidence}
        emit(
            api.whatif_within(logs, **limits, **asked),  # type: ignore[arg-type]
            as_json,
            lambda found: show(found, details),
        )
    if figures is not None:
        written = api.write_whatif_figures(logs, figures, force=force, dynamic=_range(dynamic), **asked)  # type: ignore[arg-type]
        say(f"wrote {len(written)} files to {figures}")


def _counts(name: str, text: str | None) -> list[int] | None:
    from sparkcast.errors import StudyError

    if text is None:
        return None
    numbers: list[int] = []
    for part in text.split(","):
        low, dots, high = part.strip().partition("..")
        try:
            first, last = int(low), int(high if dots else low)
        except ValueError:
            raise StudyError(f"--{name} {text!r} is not a list of numbers", hint="write it as 1,2,4 or 1..8") from None
        if last < first:
            raise StudyError(f"--{name} {text!r} counts down", hint=f"write it as {last}..{first}")
        numbers += range(first, min(last, first + _MOST) + 1)
        if len(numbers) > _MOST:
            raise StudyError(f"--{name} {text!r} is more than {_MOST} numbers", hint="give fewer, such as 1,2,4,8")
    return numbers


def _range(text: str | None) -> tuple[int, int] | None:
    from sparkcast.errors import StudyError

    if text is None:
        return None
    low, dots, high = text.partition("..")
    if not dots or not low.strip().isdigit() or not high.strip().isdigit():
        raise StudyError(f"--dynamic {text!r} is not a range of executors", hint="write it as 2..20")
    return int(low), int(high)


def _factor(text: str | None) -> float:
    from sparkcast.errors import StudyError

    if text is None:
        return 1.0
    try:
        return float(text.strip().lower().removesuffix("x"))
    except ValueError:
        raise StudyError(f"--data {text!r} is not a factor", hint="write it as 2x") from None
