"""What other clusters would have made of a run: whatif."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, say, table, tell, tell_labeled
from sparkcast.units import show_money, show_percent, show_seconds

if TYPE_CHECKING:
    from sparkcast.replay import Replayed, WhatIf

_FEW_EFFECTS = 2


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
    from sparkcast.cli.recommendation import show_recommendation
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
            lambda found: _show(found, details),
        )
    else:
        if dynamic is not None:
            raise StudyError("--dynamic has no single cost to compare", hint="leave out --within and --budget")
        limits = {"within_s": parse_seconds(within) if within else None, "budget": budget, "confidence": confidence}
        emit(
            api.whatif_within(logs, **limits, **asked),  # type: ignore[arg-type]
            as_json,
            lambda found: show_recommendation(found, details),
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
            numbers += range(int(low), int(high) + 1) if dots else [int(low)]
        except ValueError:
            raise StudyError(f"--{name} {text!r} is not a list of numbers", hint="write it as 1,2,4 or 1..8") from None
        if len(numbers) > 1000:
            raise StudyError(f"--{name} {text!r} is more than 1000 numbers", hint="give fewer, such as 1,2,4,8")
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


def _show(found: "WhatIf", details: bool) -> None:
    tell(_headline(found))
    for note in found.notes:
        say(f"note: {note}")
    _show_table(found)
    tell_labeled(list(_labeled(found, details)))
    if not details:
        tell("Next: add --within 10m for the cheapest cluster that meets a deadline, or --details.")


def _headline(found: "WhatIf") -> str:
    others = [one for one in found.configurations if not one.is_measured]
    if found.data != 1:
        best = found.configurations[0]
        return f"{found.name} would take {show_seconds(best.time_s)} with {found.data:g}x the data on {_shape(best)}."
    if found.partitions is not None and len(found.configurations) == 1:
        best = found.configurations[0]
        return f"{found.name}: with {found.partitions} shuffle partitions {_compared(best)}."
    if found.knee is not None and not found.knee.is_measured:
        return f"{found.name}: {_shape(found.knee)} would be {_compared(found.knee)}."
    if found.knee is not None or not others:
        return f"{found.name}: {_shape(found.measured)}, as measured, are a good choice."
    return f"{found.name}: {_shape(others[0])} would be {_compared(others[0])}."


def _compared(one: "Replayed") -> str:
    from sparkcast.replay import compared

    return compared(one)


def _shape(one: "Replayed") -> str:
    from sparkcast.replay import executors_of

    return f"{'up to ' if one.dynamic else ''}{executors_of(one)}"


def _show_table(found: "WhatIf") -> None:
    header = ["executors", "cores", "time", "90% of runs", "core-hours", "cost", "utilization", "change"]
    rows: list[tuple[object, ...]] = []
    for one in found.configurations:
        rows.append(
            (
                f"{'up to ' if one.dynamic else ''}{one.executors}",
                one.cores,
                show_seconds(one.time_s),
                f"{show_seconds(one.low_s)} to {show_seconds(one.high_s)}",
                f"{one.core_hours:.3g}",
                "" if one.cost is None else show_money(one.cost, found.currency),
                show_percent(one.utilization),
                "as measured" if one.is_measured else show_percent(one.change, sign=True),
            )
        )
    if found.measured.cost is None:
        header.remove("cost")
        rows = [(*row[:5], *row[6:]) for row in rows]
    table("", header, rows, optional=("utilization", "change"))


def _labeled(found: "WhatIf", details: bool) -> Iterator[tuple[str, str]]:
    one = found.measured
    cost = "" if one.cost is None else f", {show_money(one.cost, found.currency)}"
    yield (
        "Measured",
        f"{_shape(one)}: {show_seconds(one.time_s)}, {one.core_hours:.3g} core-hours{cost}, "
        f"{show_percent(one.utilization)} of slots busy",
    )
    if found.knee is not None:
        yield "Knee", f"{_shape(found.knee)}: the fewest slots within 10% of the fastest time here"
    if found.floor is not None:
        stages = ", ".join(f"{label} {show_seconds(took)}" for label, took in found.floor.stages)
        yield (
            "Floor",
            f"never faster than {show_seconds(found.floor.time_s)}, however many executors: "
            f"{show_seconds(found.floor.driver_s)} without tasks; longest: {stages}",
        )
    elif found.floor_text:
        yield "Floor", f"none can be given: {found.floor_text}"
    traps: Sequence[str] = [trap.text for trap in found.traps]
    for text in traps if details else traps[:1]:
        yield "Trap", text
    yield "Interval", found.interval
    effects = found.effects if details else found.effects[:_FEW_EFFECTS]
    yield "Replayed", "; ".join(effects)
