"""Progress with time left: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sparkcast.cli._output import say
from sparkcast.cli._wording import as_options
from sparkcast.text._layout import wrapped
from sparkcast.units import show_seconds

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from sparkcast.queues.answer import OnStep as OnCount
    from sparkcast.runs.session import OnProgress, Progress
    from sparkcast.validate import FoldProgress, OnStep


@contextmanager
def show_progress() -> Iterator["OnProgress"]:
    """A callback for `api.run` that draws on stderr."""
    if not sys.stderr.isatty():
        yield _line
        return
    with _bar() as bar:
        task = bar.add_task("starting", total=None, left="")

        def update(progress: "Progress") -> None:
            left = f"about {show_seconds(progress.remaining_s)} left" if progress.remaining_s else ""
            bar.update(task, completed=progress.done, total=progress.total, left=left)
            if progress.is_note:
                text = "\n".join(wrapped(as_options(progress.text), bar.console.width))
                bar.console.print(text, markup=False, soft_wrap=True)
            else:
                bar.update(task, description=progress.text)

        yield update


def _line(progress: "Progress") -> None:
    left = f", about {show_seconds(progress.remaining_s)} left" if progress.remaining_s else ""
    say(f"[{progress.done}/{progress.total}{left}] {progress.text}")


@contextmanager
def show_steps() -> Iterator["OnStep"]:
    """A callback for `api.validate` that draws on stderr."""
    if not sys.stderr.isatty():
        yield tell_when_slow()
        return
    with _bar(transient=True) as bar:
        task, begun = bar.add_task("starting", total=None, left=""), time.monotonic()

        def update(step: "FoldProgress") -> None:
            done, total = done_of(step)
            left_s = (time.monotonic() - begun) / done * (total - done) if done else 0.0
            left = f"about {show_seconds(left_s)} left" if left_s else ""
            bar.update(task, completed=done, total=total, left=left, description=f"testing {step.model}")

        yield update


@contextmanager
def show_simulation() -> Iterator["OnCount"]:
    """A callback for `api.queue` that draws on stderr: what is simulated, how much is done, of how much."""
    if not sys.stderr.isatty():
        yield mention_when_slow()
        return
    with _bar(transient=True) as bar:
        tasks: dict[str, TaskID] = {}
        begun: dict[str, float] = {}

        def update(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what], begun[what] = bar.add_task(f"simulating {what}", total=total, left=""), time.monotonic()
            left_s = (time.monotonic() - begun[what]) / done * (total - done) if done else 0.0
            left = f"about {show_seconds(left_s)} left" if left_s else ""
            bar.update(tasks[what], completed=done, total=total, left=left)

        yield update


def mention_when_slow(
    say: Callable[[str], None] = say, clock: Callable[[], float] = time.monotonic, patience_s: float = 5.0
) -> "OnCount":
    """Say how far it is whenever so much time has passed."""
    told_at = clock()

    def mention(what: str, done: int, total: int) -> None:
        nonlocal told_at
        if clock() - told_at > patience_s:
            told_at = clock()
            say(f"simulating {what}: {done} of {total}")

    return mention


def _bar(*, transient: bool = False, console: "Console | None" = None) -> "Bar":
    """What goes on above, and below it a bar with how many are done and the time left: both fit 80 columns."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class TwoLines(Bar):
        def get_renderables(self) -> "Iterable[RenderableType]":
            for task in self.tasks:
                yield Text(task.description, no_wrap=True, overflow="ellipsis")
                yield self.make_tasks_table([task])

    columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[left]}"))
    return TwoLines(*columns, console=console or Console(stderr=True, highlight=False), transient=transient)


def done_of(step: "FoldProgress") -> tuple[int, int]:
    """How many fits are done before this one, and how many there are."""
    return (step.model_number - 1) * step.n_splits + step.split_number - 1, step.n_models * step.n_splits


def tell_when_slow(
    say: Callable[[str], None] = say, clock: Callable[[], float] = time.monotonic, patience_s: float = 2.0
) -> "OnStep":
    """Say which model is being tested once the wait is long; of the same model, more rarely."""
    told_at, told = clock(), ""

    def tell(step: "FoldProgress") -> None:
        nonlocal told_at, told
        now = clock()
        if now - told_at > (5 if step.model == told else 1) * patience_s:
            told_at, told = now, step.model
            at = f"model {step.model_number} of {step.n_models}, split {step.split_number} of {step.n_splits}"
            say(f"testing {step.model}: {at}")

    return tell
