"""What `watch` did with logs, and the jobs of a store, in words."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from sparkcast.text._page import Page
from sparkcast.units import show_bytes, show_money, show_percent, show_seconds

if TYPE_CHECKING:
    from sparkcast.history.summary import Jobs, JobSummary, MonthlyTrend
    from sparkcast.history.watch import Watched, WatchedLog
    from sparkcast.observe.speed import MeasuredCluster

_FEW, _ALIKE, _MOST_JOBS = 10, 2, 20


def write(page: Page, found: "Watched") -> None:
    counted = ", ".join(f"{count} {word}" for word, count in found.counts.items())
    page.tell(f"{found.n_seen} log{'' if found.n_seen == 1 else 's'} seen" + (f": {counted}" if counted else ""))
    shown = found.logs if page.details else _few([log for log in found.logs if log.reason])
    rows = [
        (
            PurePosixPath(log.log).name,
            log.event.value,
            log.job,
            "" if log.time_s is None else show_seconds(log.time_s),
            "" if not log.input_bytes else show_bytes(log.input_bytes),
            log.reason,
        )
        for log in shown
    ]
    if rows:
        page.table("", ("log", "what", "job", "time", "input", "why"), rows, optional=("time", "job", "input"))
    for one in found.unseen:
        page.say(f"cannot look at {one.path}: {one.reason}")
    if found.jobs:
        n_runs = sum(found.jobs.values())
        n_jobs = len(found.jobs)
        page.tell(
            f"{found.store}: {n_runs} run{'' if n_runs == 1 else 's'} of {n_jobs} job{'' if n_jobs == 1 else 's'} "
            "added or updated"
        )
    if found.is_cut_short:
        page.say("stopped before all logs were read: the same command reads the rest")


def _few(logs: "Sequence[WatchedLog]") -> "list[WatchedLog]":
    alike: Counter[tuple[str, str]] = Counter()
    shown = []
    for log in logs:
        alike[log.event.value, log.reason] += 1
        if alike[log.event.value, log.reason] <= _ALIKE:
            shown.append(log)
    return shown[:_FEW]


def write_jobs(page: Page, found: "Jobs") -> None:
    shown = found.jobs if page.details else found.jobs[:_MOST_JOBS]
    header = ["job", "runs", "failed", "last run", "median time", "core-hours"]
    header += ["cost"] if found.currency else []
    rows = [_row(one, found.currency) for one in shown]
    title = f"{len(found.jobs)} job{'' if len(found.jobs) == 1 else 's'} in {found.store}"
    page.table(title, (*header, "input", "trend per month"), rows, optional=("failed", "input", "last run"))
    if len(found.jobs) > len(shown):
        page.tell(f"{len(found.jobs) - len(shown)} more: `.text(details=True)`")
    if page.details or len(found.jobs) == 1:
        for one in shown:
            for reason in one.reasons:
                page.tell(f"{one.name}: {reason}")
    without = [one.name for one in found.jobs if one.n_complete and one.input_bytes is None]
    if without:
        named = ", ".join(without[:3]) + (f" and {len(without) - 3} more" if without[3:] else "")
        page.say(f"no log shows what these read from outside, so their data size is not a setting: {named}")


def _row(one: "JobSummary", currency: str) -> tuple[object, ...]:
    cost = (show_money(one.cost or 0.0, currency),) if currency else ()
    return (
        one.name,
        one.n_runs,
        one.n_failed or "",
        "" if one.last_run is None else f"{datetime.fromtimestamp(one.last_run).astimezone():%Y-%m-%d %H:%M}",
        "" if one.median_s is None else show_seconds(one.median_s),
        f"{one.core_hours:.3g}",
        *cost,
        "" if one.input_bytes is None else show_bytes(one.input_bytes),
        _trend(one.trend),
    )


def _trend(trend: "MonthlyTrend | None") -> str:
    if trend is None:
        return "-"
    if trend.is_steady:
        return "steady"
    if not trend.is_clear:
        return "unclear"
    low, high = (show_percent(one, sign=True) for one in (trend.low, trend.high))
    return f"{show_percent(trend.per_month, sign=True)} ({low} to {high})"


def write_speed(page: Page, found: "MeasuredCluster") -> None:
    n_nodes, cores = len(found.speed.nodes), sum(node.cores for node in found.speed.nodes)
    page.tell(f"{found.cluster}: {n_nodes} node{'' if n_nodes == 1 else 's'}, {cores} core{'' if cores == 1 else 's'}")
    rows = [
        (
            node.host,
            node.cores,
            f"{node.core:.3g}",
            f"{show_bytes(node.disk)} per s",
            f"{show_bytes(node.network)} per s" if node.network else "-",
        )
        for node in found.speed.nodes
    ]
    page.table("", ("node", "cores", "core speed", "disk", "network"), rows)
    if found.before is not None and found.before.core:
        change = found.speed.core / found.before.core - 1
        page.tell(f"Its cores were measured before: {show_percent(change, sign=True)} since then")
    if found.store:
        page.tell(f"{found.store} keeps it for the runs of {found.cluster}")
