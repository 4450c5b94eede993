"""The jobs of all stores, computed in the background: a page never waits for a thousand histories."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from fastapi import Request

from sparkcast.errors import NotEnoughDataError, SparkcastError
from sparkcast.history import JobHistory, histories_of
from sparkcast.history.morning import FleetReport, fleet_report
from sparkcast.history.stories import JobStory, stories_of
from sparkcast.report.histories import spark
from sparkcast.serve.state import ServiceState
from sparkcast.serve.worker import Report, WorkProcess
from sparkcast.store import open_store
from sparkcast.study import Price

PERIOD_S = 30 * 86400.0
_EVERY_S = 30.0  # between two looks at the stores


@dataclass(frozen=True, slots=True)
class JobBoard:
    """Everything that the pages about jobs show."""

    stories: tuple[JobStory, ...]
    sparks: tuple[str, ...]  # drawn, in the same order
    report: FleetReport | None
    until_s: float  # the latest run
    made_s: float
    revision: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class BoardTask:
    """Reads the stores and forecasts every run: minutes of work for a large fleet."""

    targets: tuple[str, ...]
    revision: tuple[object, ...]
    price: Price | None = None
    deadlines: Mapping[str, float] = field(default_factory=dict)

    def __call__(self, report: Report) -> JobBoard:
        histories: list[JobHistory] = []
        for target in self.targets:
            store = open_store(target)
            try:
                histories += histories_of(store)
            finally:
                store.close()
        until = max((run.started_at or 0.0 for one in histories for run in one.runs), default=0.0)
        since = until - PERIOD_S
        stories = []
        for story in stories_of(histories, since_s=since, until_s=until, price=self.price, deadlines=self.deadlines):
            stories.append(story)
            if len(stories) % 20 == 0:
                report({"done": len(stories), "of": len(histories)})
        try:
            found = fleet_report(histories, since_s=since, until_s=until, price=self.price)
        except NotEnoughDataError:
            found = None
        return JobBoard(tuple(stories), tuple(map(str, map(spark, stories))), found, until, time.time(), self.revision)


class BoardKeeper:
    """Has the board of the present, or says how far the next one is."""

    def __init__(self, state: ServiceState) -> None:
        self._state = state
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._looked_at = float("-inf")
        self.board: JobBoard | None = None
        self.progress: tuple[int, int] = (0, 0)
        self.problem = ""

    @property
    def targets(self) -> tuple[str, ...]:
        return self._state.catalog.stores

    def has_jobs(self) -> bool:
        """Whether runs were ingested: asked of the stores until there are some."""
        if self.board is not None:
            return bool(self.board.stories)
        return any(n for _, n, _ in self._revision())

    def _revision(self) -> tuple[tuple[str, int, float], ...]:
        return tuple((target, *self._state.open(target).ingested_state()) for target in self.targets)

    def look(self) -> JobBoard | None:
        """What is known now; begins to learn what is not. Never waits."""
        with self._lock:
            is_time = time.monotonic() - self._looked_at > _EVERY_S
            if is_time and (self._thread is None or not self._thread.is_alive()):
                self._looked_at = time.monotonic()
                revision = self._revision()
                if self.board is None or self.board.revision != revision:
                    self._thread = threading.Thread(target=self._learn, args=(revision,), name="jobs", daemon=True)
                    self._thread.start()
        return self.board

    def _learn(self, revision: tuple[object, ...]) -> None:
        settings = self._state.settings
        task = BoardTask(self.targets, revision, settings.price, dict(settings.deadlines))

        def told(progress: object) -> None:
            if isinstance(progress, dict):
                self.progress = (int(progress["done"]), int(progress["of"]))

        try:
            self.board = WorkProcess(task).result(told) if self._state.settings.workers else task(told)
            self.problem = ""
        except SparkcastError as error:
            self.problem = error.problem
        except OSError as error:
            self.problem = f"{type(error).__name__}: the store cannot be read"

    def wait(self, seconds: float) -> None:
        """For a short while: a small store is read before anybody would see a progress bar."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)


def keeper_of(request: Request) -> BoardKeeper:
    state = request.app.state
    if not hasattr(state, "board"):
        state.board = BoardKeeper(state.service)
    assert isinstance(state.board, BoardKeeper)
    return state.board
