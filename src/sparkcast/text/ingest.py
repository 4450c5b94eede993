"""What became of logs, in words."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.text._page import Page

if TYPE_CHECKING:
    from sparkcast.data.ingest import Ingested, IngestedLog

_FEW, _ALIKE = 10, 2  # logs with something to say that are shown without `details`; of one reason


def write(page: Page, found: "Ingested") -> None:
    details = page.details
    from sparkcast.units import show_seconds

    page.tell(_counted(found))
    odd = [log for log in found.logs if details or log.reason]
    shown = odd if details else _few(odd)
    rows = [
        (
            Path(log.log).name,
            log.status.value,
            log.taken or "-",
            log.job,
            "" if log.time_s is None else show_seconds(log.time_s),
            log.tasks or "",
            f"{log.lines:,}" if log.lines else "",
            log.reason,
        )
        for log in shown
    ]
    if rows:
        header = ("log", "status", "taken", "job", "time", "tasks", "lines", "reason")
        page.table("", header, rows, optional=("time", "job", "tasks", "lines"))
    if len(odd) > len(shown):
        page.tell(f"{len(odd) - len(shown)} more: `.text(details=True)`")
    for one in found.tables:
        names = ", ".join(one.settings) or "nothing"
        place = f"{one.path}, study {one.study!r}" if one.study and one.study == one.job else one.path
        page.tell(f"{place}: {one.n_runs} run{'' if one.n_runs == 1 else 's'} of {one.job!r}; what differs: {names}")
        for note in one.notes:
            page.tell(f"  {note}")


def _few(logs: "Sequence[IngestedLog]") -> "list[IngestedLog]":
    """Some logs of each reason."""
    alike: Counter[str] = Counter()
    shown = []
    for log in logs:
        alike[log.reason] += 1
        if alike[log.reason] <= _ALIKE:
            shown.append(log)
    return shown[:_FEW]


def _counted(found: "Ingested") -> str:
    """How many logs there were, how reading them went, and what came of them."""
    if not found.logs:
        return "There is no log to read."
    words = ("new", "again", "unchanged", "in progress")
    counts = {word: sum(log.taken == word for log in found.logs) for word in words}
    told = {**counts, "left out": len(found.logs) - sum(counts.values())}
    statuses = Counter(log.status.value for log in found.logs)
    went = ", ".join(f"{statuses[word]} {word}" for word in ("ok", "partial", "skipped", "failed") if statuses[word])
    came = ", ".join(f"{count} {word}" for word, count in told.items() if count)
    return f"{len(found.logs)} log{'' if len(found.logs) == 1 else 's'}: {came} ({went})"
