"""What a campaign measured, in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparkcast.text._page import Page

if TYPE_CHECKING:
    from sparkcast.runs.campaign import CampaignResult
    from sparkcast.study import Observation

_FEW = 5  # failed runs that are named


def write(page: Page, result: "CampaignResult") -> None:
    details = page.details
    failed = [o for o in result.new if not o.ok]
    also = f", {result.failed} failed" if result.failed else ""
    page.tell(
        f"{result.finished - result.failed} of {result.planned} trials have a result{also} ({len(result.new)} new)"
    )
    for observation in failed if details else failed[:_FEW]:
        page.tell(f"  {observation.outcome}: {observation.cause.splitlines()[0]}")
    if len(failed) > _FEW and not details:
        page.tell(f"  and {len(failed) - _FEW} more")
    for name, count in result.missing.items():
        lacking = f"{count} run{'s have' if count != 1 else ' has'} no {name}"
        page.tell(f"{lacking}: correct its pattern in the study file, and sparkcast reads the stored output again")
    _show_streams(page, [o for o in result.new if o.ok and o.jobs], details)
    if result.left_out:
        page.tell(f"{len(result.left_out)} left out: {result.reason}")


def _show_streams(page: Page, streams: "Sequence[Observation]", details: bool) -> None:
    """Runs of several jobs: what they waited and took."""
    if not streams:
        return
    names = ("response_s", "response_p90_s", "waiting_s", "jobs_in_system", "cores_busy")
    rows = [
        [str(o.position), str(len(o.jobs)), *(_number(o.responses.get(name)) for name in names)]
        for o in (streams if details else streams[:_FEW])
    ]
    heads = ["trial", "jobs", "response s", "p90 s", "waiting s", "in the system", "cores busy"]
    page.table("runs of several jobs, mean of each", heads, rows, ("cores busy", "in the system"))
    for stream in streams if details else ():
        rows = []
        for job in stream.jobs:
            times = (job.arrived_s, job.waiting_s, job.service_s, job.response_s)
            rows.append([str(job.number), *map(_number, times), str(job.cores or "")])
        page.table(
            f"trial {stream.position}", ["job", "arrived s", "waiting s", "service s", "response s", "cores"], rows
        )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
