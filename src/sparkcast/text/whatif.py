"""What other clusters would have made of a run, in words."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sparkcast.text._page import Page
from sparkcast.units import show_money, show_percent, show_seconds

if TYPE_CHECKING:
    from sparkcast.replay import Replayed, WhatIf

_FEW_EFFECTS = 2


def write(page: Page, found: "WhatIf") -> None:
    details = page.details
    page.tell(_headline(found))
    for note in found.notes:
        page.say(f"note: {note}")
    _show_table(page, found)
    page.labeled(list(_labeled(found, details)))
    if not details:
        page.tell("Next: add `within_s=600` to choose a cluster, or `.text(details=True)`.")


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


def _show_table(page: Page, found: "WhatIf") -> None:
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
    page.table("", header, rows, optional=("utilization", "change"))


def _labeled(found: "WhatIf", details: bool) -> Iterator[tuple[str, str]]:
    one = found.measured
    cost = "" if one.cost is None else f", {show_money(one.cost, found.currency)}"
    yield (
        "Measured",
        f"{_shape(one)}: {show_seconds(one.time_s)}, {one.core_hours:.3g} core-hours{cost}, "
        f"{show_percent(one.utilization)} of slots busy",
    )
    launched = f", which began {show_seconds(found.launch_s)} after its submission" if found.launch_s else ""
    yield "Times", f"from the start of the application to its end{launched}"
    if found.knee is not None:
        yield "Knee", f"{_shape(found.knee)}: the fewest slots within 10% of the fastest time here"
    if found.floor is not None:
        stages = ", ".join(f"{label} ({show_seconds(took)})" for label, took in found.floor.stages)
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
