"""The morning list of a fleet in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparkcast.history.changes import date_of
from sparkcast.text._page import Page
from sparkcast.units import show_money, show_percent, show_probability

if TYPE_CHECKING:
    from sparkcast.history.morning import FleetReport, FleetTotal
    from sparkcast.history.savings import Saving

_SHOWN = 5  # of savings, changes and failures without details
_MOST = 20


def write(page: Page, found: "FleetReport") -> None:
    shown = _MOST if page.details else _SHOWN
    page.tell(_headline(found))
    _show_savings(page, found, shown)
    lines = [("Changed", f"{one.job}: {one.sentence}") for one in found.changes[:shown]]
    lines += [("Unusual", f"{one.job}, {date_of(one.started_s)}: {one.sentence}") for one in found.unusual[:shown]]
    lines += [
        ("Failed", f"{_runs(one.n_runs)} of {_jobs(one.jobs)}: {one.cause} ({_worth(one.worth, found)})")
        for one in found.failures[:shown]
    ]
    lines.append(("Total", _total(found.total, found)))
    page.labeled(lines)
    if page.details:
        for title, totals in (
            ("by job", found.by_job),
            ("by user", found.by_user),
            ("by queue", found.by_queue),
            ("by day", found.by_day),
        ):
            _show_totals(page, title, totals, found)
    for note in found.notes:
        page.say(f"note: {note}")
    left = len(found.savings) + len(found.changes) + len(found.unusual) + len(found.failures)
    if not page.details and left:
        page.tell(
            "Next: `.text(details=True)` shows more savings with their lines, and totals by job, user, queue and day."
        )


def _headline(found: "FleetReport") -> str:
    runs = f"{_runs(found.n_runs)} of {found.n_jobs} job{'' if found.n_jobs == 1 else 's'}"
    period = f"{runs} since {date_of(found.since_s)}"
    if not found.savings:
        return f"{period}: no saving is known."
    if found.currency:
        saved, low, high = together([(one.worth, one.low, one.high) for one in found.savings])
        whole, more = found.total.worth, ""
    else:
        amounts = [(one.core_hours, one.low_core_hours, one.high_core_hours) for one in found.savings]
        saved, low, high = together(amounts)
        gib = sum(one.gib_hours for one in found.savings)
        whole, more = found.total.core_hours, f", and {_number(gib)} GiB-hours of memory" if gib else ""
    share = f", {show_percent(saved / whole)} of all" if whole else ""
    interval = f"(90%: {_worth(low, found)} to {_worth(high, found)})"
    return f"{period} could have saved {_worth(saved, found)}{share} {interval}{more}."


def together(amounts: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """The sum, with an interval: errors of different jobs have nothing to do with each other."""
    whole = sum(middle for middle, _, _ in amounts)
    low = whole - sum((middle - low) ** 2 for middle, low, _ in amounts) ** 0.5
    high = whole + sum((high - middle) ** 2 for middle, _, high in amounts) ** 0.5
    return whole, low, high


def _amounts(one: "Saving", found: "FleetReport") -> tuple[str, str]:
    """What a change saves, and its interval: money, or the hours that it is about."""
    if found.currency:
        return _worth(one.worth, found), f"{_worth(one.low, found)} to {_worth(one.high, found)}"
    if one.core_hours:
        return _worth(one.core_hours, found), f"{_number(one.low_core_hours)} to {_number(one.high_core_hours)}"
    share = one.gib_hours / one.worth if one.worth else 0.0
    return f"{_number(one.gib_hours)} GiB-hours", f"{_number(one.low * share)} to {_number(one.high * share)}"


def _show_savings(page: Page, found: "FleetReport", shown: int) -> None:
    rows = [
        (
            one.job,
            one.text,
            *_amounts(one, found),
            "not known" if one.risk is None else show_probability(one.risk),
            _runs(one.n_runs),
            one.evidence,
        )
        for one in found.savings[:shown]
    ]
    header = ("job", "change", "saves", "90%", "later than usual", "of", "evidence")
    columns = len(header) if page.details else 5
    if rows:
        page.table("", header[:columns], [row[:columns] for row in rows], optional=("evidence", "of", "90%"))
    lines = found.savings[: shown if page.details else 1]
    for one in lines:
        page.shell(f"{one.job}:", one.line)


def _show_totals(page: Page, title: str, totals: Sequence["FleetTotal"], found: "FleetReport") -> None:
    rows: list[tuple[object, ...]] = [
        (
            one.name or "(not known)",
            one.n_runs,
            one.n_failed,
            _number(one.core_hours),
            _worth(one.worth, found),
            show_percent(one.wasted),
        )
        for one in totals[:_MOST]
    ]
    header = [title, "runs", "failed", "core-hours", "cost", "wasted"]
    if not found.currency:
        header.remove("cost")
        rows = [(*row[:4], *row[5:]) for row in rows]
    page.table("", header, rows, optional=("failed",))


def _total(total: "FleetTotal", found: "FleetReport") -> str:
    money = f", {_worth(total.worth, found)}" if found.currency else ""
    wasted = f"{show_percent(total.wasted)} wasted: idle slots and failed runs"
    return f"{_number(total.core_hours)} core-hours{money}; {wasted}"


def _worth(amount: float, found: "FleetReport") -> str:
    return show_money(amount, found.currency) if found.currency else f"{_number(amount)} core-hours"


def _runs(n: int) -> str:
    return "1 run" if n == 1 else f"{n} runs"


def _jobs(jobs: Sequence[str]) -> str:
    return jobs[0] if len(jobs) == 1 else f"{jobs[0]} and {len(jobs) - 1} more"


def _number(amount: float) -> str:
    """Three digits that count, without an exponent."""
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"
