"""Progress with time left: a bar on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sparkcast.cli._output import say
from sparkcast.units import show_seconds

if TYPE_CHECKING:
    from sparkcast.runs.session import OnProgress, Progress


@contextmanager
def show_progress() -> Iterator["OnProgress"]:
    """A callback for `api.run` that draws on stderr."""
    if not sys.stderr.isatty():
        yield _line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True, highlight=False)
    columns = (BarColumn(30), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[left]}"))
    with Bar(*columns, TextColumn("{task.description}"), console=console) as bar:
        task = bar.add_task("starting", total=None, left="")

        def update(progress: "Progress") -> None:
            left = f"about {show_seconds(progress.remaining_s)} left" if progress.remaining_s else ""
            if progress.is_note:
                console.print(progress.text, markup=False)
                bar.update(task, completed=progress.done, total=progress.total, left=left)
            else:
                description = progress.text
                bar.update(task, completed=progress.done, total=progress.total, left=left, description=description)

        yield update


def _line(progress: "Progress") -> None:
    left = f", about {show_seconds(progress.remaining_s)} left" if progress.remaining_s else ""
    say(f"[{progress.done}/{progress.total}{left}] {progress.text}")
