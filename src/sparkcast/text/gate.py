"""The gate's answer in words."""

from typing import TYPE_CHECKING

from sparkcast.text._page import Page
from sparkcast.units import show_money, show_percent, show_probability, show_seconds

if TYPE_CHECKING:
    from sparkcast.fitting.distribution import Distribution
    from sparkcast.history.gate import GateAnswer
    from sparkcast.history.remaining import Eta


def write(page: Page, found: "GateAnswer") -> None:
    page.tell(_headline(found))
    lines = [("Why", found.reason)]
    if found.time is not None:
        lines.append(("Time", f"{_seconds(found.time)}, from submission to exit"))
        if found.work is not None and page.details:
            lines.append(("Work", f"{_seconds(found.work)}, from the first to the last Spark job"))
    if found.cost is not None:
        low, high = found.cost.interval(0.9)
        money = [show_money(amount, found.currency) for amount in (found.cost.median, low, high)]
        lines.append(("Cost", f"{money[0]} median; 90% of runs cost {money[1]} to {money[2]}"))
    if found.changed_time is not None and found.changed_probability is not None:
        chance = show_probability(found.changed_probability)
        lines.append(("Changed", f"{_seconds(found.changed_time)}; meets the limits with {chance} probability"))
    if found.basis:
        lines.append(("Evidence", "; ".join(found.basis)))
    page.labeled(lines)
    if found.command:
        page.shell("Submit it with:", found.command, below=True)


def write_eta(page: Page, found: "Eta") -> None:
    low, high = found.remaining.interval(0.9)
    left = show_seconds(found.remaining.median)
    page.tell(f"{found.job} needs {left} more (90%: {show_seconds(low)} to {show_seconds(high)}).")
    low, high = found.total.interval(0.9)
    lines = [
        ("So far", f"{show_seconds(found.elapsed_s)}, {show_percent(found.done)} of the time; {_stages(found)}"),
        ("In all", f"{show_seconds(found.total.median)}; 90%: {show_seconds(low)} to {show_seconds(high)}"),
        ("Evidence", _evidence(found)),
    ]
    page.labeled(lines)
    for note in found.notes:
        page.say(f"note: {note}")


def _stages(found: "Eta") -> str:
    done = f"{found.steps} stage{'' if found.steps == 1 else 's'} done"
    return f"{done}, of usually {found.usual_steps}" if found.usual_steps else done


def _evidence(found: "Eta") -> str:
    stages = f"the stages of {found.app_id} that have ended"
    return f"{found.n_runs} earlier runs, and {stages}" if found.n_runs else f"other jobs that resemble {stages}"


def _headline(found: "GateAnswer") -> str:
    job = found.job or "This job"
    if found.verdict == "admit":
        return f"Admit {job}."
    if found.verdict == "change":
        settings = ", ".join(f"{name}={value}" for name, value in found.settings.items())
        return f"Change {job} to {settings}."
    if found.verdict == "refuse":
        return f"Do not submit {job}: no number of executors is known to meet the limits."
    return f"{job}: not known." if found.job else "Not known."


def _seconds(time: "Distribution") -> str:
    low, high = time.interval(0.9)
    return f"{show_seconds(time.median)} median; 90% of runs take {show_seconds(low)} to {show_seconds(high)}"
