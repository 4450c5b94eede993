"""Runs of a search that are made at once: each lane has a session, and so a cluster or a share of one, of its own."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from sparkcast.runs.cancel import CancelToken
from sparkcast.runs.session import Allowance, Session
from sparkcast.study import Observation, Trial

_LOOK_S = 0.5  # how often the main thread looks whether a signal has come


@dataclass(frozen=True, slots=True)
class LaneJob:
    """A run to make, and what it may take."""

    trial: Trial
    allowed: Callable[[], Sequence[Allowance]]
    at_most_s: float | None


@dataclass(frozen=True, slots=True)
class LaneResult:
    """What became of a run: an observation, or why there is none."""

    trial: Trial
    observation: Observation | None
    problem: BaseException | None


class Lanes:
    """Enter it to have them wait for work; leaving it takes their clusters down."""

    def __init__(self, make_session: Callable[[], Session], n: int, token: CancelToken) -> None:
        self._make_session, self._token = make_session, token
        self._jobs: SimpleQueue[LaneJob | None] = SimpleQueue()
        self._results: SimpleQueue[LaneResult] = SimpleQueue()
        self._preparing = threading.Lock()  # they make the same data
        self._running: list[Trial] = []
        self._ended: list[LaneResult] = []  # while somebody waited for another one
        self._threads = [threading.Thread(target=self._work, name=f"lane {k}") for k in range(1, n + 1)]
        self.notes: dict[str, None] = {}

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._token.cancel(now=True)
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            while thread.is_alive():
                thread.join(_LOOK_S)

    @property
    def running(self) -> tuple[Trial, ...]:
        """Those whose results nobody has taken yet."""
        return (*self._running, *(result.trial for result in self._ended))

    @property
    def has_room(self) -> bool:
        return len(self._running) < len(self._threads)

    def start(self, job: LaneJob) -> None:
        self._running.append(job.trial)
        self._jobs.put(job)

    def wait(self) -> LaneResult:
        """The next run that has ended. At least one must be running."""
        if self._ended:
            return self._ended.pop(0)
        while True:
            try:
                result = self._results.get(timeout=_LOOK_S)
            except Empty:
                continue
            self._running.remove(result.trial)
            return result

    def measure(self, job: LaneJob) -> Observation:
        """One run to its end, whatever ends before it. Raises what the session raises."""
        self.start(job)
        others: list[LaneResult] = []
        while (result := self.wait()).trial != job.trial:
            others.append(result)
        self._ended += others
        if result.problem is not None:
            raise result.problem
        assert result.observation is not None
        return result.observation

    def _work(self) -> None:
        job: LaneJob | None
        is_over = False
        with self._token:
            try:
                with self._make_session() as session:
                    while (job := self._jobs.get()) is not None:
                        self._results.put(self._run(session, job))
                        self.notes |= dict.fromkeys(session.notes)
                    is_over = True
            except BaseException as problem:  # there is no session: whoever waits for a run is to know
                while not is_over and (job := self._jobs.get()) is not None:
                    self._results.put(LaneResult(job.trial, None, problem))

    def _run(self, session: Session, job: LaneJob) -> LaneResult:
        try:
            with self._preparing:
                session.prepare([job.trial])
            return LaneResult(job.trial, session.measure(job.trial, job.allowed, at_most_s=job.at_most_s), None)
        except BaseException as problem:  # it belongs to whoever waits for the run
            return LaneResult(job.trial, None, problem)
