"""What tests share."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Self

import psutil

from sparkcast import api
from sparkcast.engines import ClusterCapacity, ClusterFacts, Exit, Handle, SparkJob, Submission, _warden
from sparkcast.learned.knowledge import Knowledge
from sparkcast.recommend import Recommendation
from sparkcast.recommend.advise import Choices
from sparkcast.recommend.choose import Recommender
from sparkcast.recommend.question import Question
from sparkcast.registry import Registry
from sparkcast.report.figures import Figure
from sparkcast.study import Configuration, Dataset, Listed, Price, Space
from sparkcast.study.configuration import Levels
from sparkcast.workloads import Shape

Sparkcast = Callable[..., "subprocess.CompletedProcess[str]"]


class Answer(NamedTuple):
    """What the command line gave."""

    code: int
    out: str
    err: str


Call = Callable[..., Answer]


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait as long as it takes: a busy machine is no failure, and pytest ends a test that hangs."""
    while not condition():
        time.sleep(0.05)


def left_behind(folder: str) -> set[str]:
    """Processes and folders of engines that should be gone, of those whose temporary folder is `folder`."""
    found = {str(path) for path in Path(folder).glob("sparkcast-*")}
    for process in psutil.process_iter(["pid", "name"]):
        try:
            environment, status = process.environ(), process.status()
        except psutil.Error:
            continue
        is_own = environment.get("TMPDIR", "").startswith(folder)
        if is_own and _warden.MARK in environment and status != psutil.STATUS_ZOMBIE:
            found.add(f"{process.pid} {process.name()}")
    return found


def assert_is_picture(figure: Figure) -> None:
    """Valid Vega-Lite that renders, and narrow enough for a phone where it must be."""
    import altair

    for spec in (figure.spec, figure.narrow_spec):
        altair.Root.validate(spec)
    assert figure.png(scale=1).startswith(b"\x89PNG")
    width = int(figure.svg(narrow=True).split('width="')[1].split('"')[0])
    assert width <= 345, "wider than a phone"


def recommender(
    data: Dataset | Knowledge,
    candidates: Space | Listed | Sequence[Levels],
    *,
    price: Price | None = None,
    model: str = "auto",
    extrapolate: bool = False,
) -> Recommender:
    """What answers questions about candidates, which may be plain dictionaries."""
    known = Knowledge(data, model) if isinstance(data, Dataset) else data
    pool = candidates if isinstance(candidates, Space | Listed) else Listed(tuple(map(Configuration, candidates)))
    return Recommender(known, pool, price=price, extrapolate=extrapolate)


def ask(answering: Recommender, **question: Any) -> Recommendation:
    """One question, with limits as people give them."""
    return answering.ask(Question(**{"most": 20, **question}))


def advice(source: Any, **given: Any) -> Recommendation:
    """`api.recommend` with the fields of its question and choices as plain arguments."""
    nouns = (Question, Choices)
    asked, chosen = ({f.name: given.pop(f.name) for f in fields(noun) if f.name in given} for noun in nouns)
    return api.recommend(source, Question(**asked), choices=Choices(**chosen), **given)


def recommend(
    data: Dataset | Knowledge,
    candidates: Space | Listed | Sequence[Levels],
    *,
    price: Price | None = None,
    model: str = "auto",
    extrapolate: bool = False,
    **question: Any,
) -> Recommendation:
    """One question to runs or to a model."""
    return ask(recommender(data, candidates, price=price, model=model, extrapolate=extrapolate), **question)


# ---------------------------------------------------------------- runs without a cluster

Settings = Mapping[str, Any]
Play = Callable[[Settings], Mapping[str, float] | str]  # the responses, or why it failed


@dataclass
class Ended:
    """A job that has ended like this; with None, one that runs until it is stopped."""

    returncode: int | None
    name: str = "played"
    log: Path = Path()

    @property
    def exit(self) -> Exit | None:
        return None if self.returncode is None else Exit(self.returncode)

    def poll(self) -> Exit | None:
        return self.exit

    def stop(self) -> None:
        self.returncode = -15 if self.returncode is None else self.returncode


class PlayedEngine:
    """Ends every job at once, with what `play` says of its settings."""

    def __init__(self, play: Play, capacity: ClusterCapacity | None = None) -> None:
        self.play, self.ran, self.entered, self._capacity = play, list[Settings](), 0, capacity

    def __enter__(self) -> Self:
        self.entered += 1
        return self

    def __exit__(self, *_: object) -> None: ...

    def capacity(self, shapes: Sequence[Shape]) -> ClusterCapacity | None:
        return self._capacity

    def defaults(self) -> Mapping[str, str]:
        return {}

    def warm_up(self, job: SparkJob) -> None: ...

    def submission(self, job: SparkJob) -> Submission:
        return Submission(job.arguments, {})

    def start(self, submission: Submission, log: Path) -> Handle:
        given, report = json.loads(Path(submission.argv[0]).read_text())["settings"], Path(submission.argv[1])
        self.ran.append(given)
        played = self.play(given)
        if isinstance(played, str):
            lines: list[Mapping[str, object]] = [{"kind": "failed", "error": "E", "message": played, "cause": ""}]
        else:
            lines = [{"kind": "started"}, {"kind": "result", "responses": dict(played)}]
        report.write_text("".join(json.dumps({"at": 1.0, **line}) + "\n" for line in lines))
        return Ended(1 if isinstance(played, str) else 0)

    def facts(self) -> ClusterFacts:
        return ClusterFacts("3.5.9", "17", "played")

    def health_problem(self) -> str:
        return ""

    def restart(self) -> None: ...


@contextmanager
def registered(registry: Registry[Any], name: str, kind: type[Any]) -> Iterator[None]:
    """A plug of a test's own, as long as it is needed."""
    registry.names()
    registry.register(name)(kind)
    try:
        yield
    finally:
        del registry._classes[name]
