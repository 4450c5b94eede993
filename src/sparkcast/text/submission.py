"""A job that was submitted, in words."""

import shlex
from typing import TYPE_CHECKING

from sparkcast.text._page import Page
from sparkcast.units import show_probability, show_seconds

if TYPE_CHECKING:
    from sparkcast.recommend.submission import SubmittedJob


def write(page: Page, result: "SubmittedJob") -> None:
    advice = result.advice
    if advice is None:
        page.tell(f"Ran as written: {result.as_written}.")
    else:
        page.tell(f"Use {advice.configuration}.")
        inner = [("Why", advice.reason)] if advice.reason else []
        if advice.probability is not None and not advice.reason:
            inner.append(("Limits", f"met with {show_probability(advice.probability)} probability"))
        if advice.held:
            inner.append(("Kept", f"{advice.held}, as the line says"))
        page.labeled(inner, [])
    page.shell("Line", shlex.join(result.command), below=True)
    if result.stored != "not run":
        page.tell(f"Exit code {result.exit_code} after {show_seconds(result.time_s)}; {result.stored}.")
