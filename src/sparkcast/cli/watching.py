"""Every log of production: watch, jobs."""

import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Json, Verbose, emit, shell, show
from sparkcast.cli.running import Conf, Master, spark_properties

if TYPE_CHECKING:
    from types import FrameType

    from sparkcast.history.watch import Watched, WatchedLog
    from sparkcast.runs.cancel import CancelToken
    from sparkcast.study import SparkOptions

StoreSource = Annotated[
    str, typer.Argument(metavar="STORE", help="A results folder, an SQLite file, or postgresql://HOST/DATABASE.")
]
Rules = Annotated[
    Path | None,
    typer.Option(metavar="JOBS.yaml", help="Which applications are one job, where names do not tell: see the guide."),
]


def register(app: typer.Typer) -> None:
    app.command()(watch)
    app.command()(jobs)
    app.command()(speed)


def watch(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Folders, logs, patterns in quotes, URLs.")],
    into: Annotated[str, typer.Option(metavar="STORE", help="A results folder, an SQLite file, postgresql://...")],
    every: Annotated[
        str | None, typer.Option(help="Look again after this time, e.g. 60s, until Ctrl-C or SIGTERM.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Look once, as without --every.")] = False,
    readers: Annotated[int | None, typer.Option(min=1, help="Logs read at once; default: one per core.")] = None,
    setting: Annotated[
        list[str] | None, typer.Option(help=r"A parameter of the jobs' own, e.g. 'rows=--rows (\d+)'. Repeatable.")
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Take shells, notebooks and SQL servers too.")
    ] = False,
    price: Annotated[str | None, typer.Option(help="E.g. core_hour=0.05: adds what the executors cost.")] = None,
    rules: Rules = None,
    retry: Annotated[bool, typer.Option("--retry", help="Read skipped and failed logs again.")] = False,
    engine: Annotated[str | None, typer.Option(help="spark: read the logs as a Spark job, for a year of them.")] = None,
    master: Master = None,
    conf: Conf = None,
    details: Details = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """New, grown and finished event logs become runs of their jobs, each application once.

    Example: sparkcast watch /var/log/spark-events --into fleet.results --every 60s
    """
    from sparkcast import api
    from sparkcast.runs.cancel import CancelToken
    from sparkcast.study.derive import parse_price
    from sparkcast.units import parse_seconds

    if once and every is not None:
        raise typer.BadParameter("--once and --every contradict each other", param_hint="--every")
    every_s = None if every is None else parse_seconds(every)
    token = CancelToken()
    lines = _Lines(as_json) if every_s is not None else None
    with _stopping(token), token:
        found = api.watch(
            paths,
            into,
            every_s=every_s,
            readers=readers,
            settings=setting or (),
            interactive=interactive,
            price=None if price is None else parse_price(price),
            rules=rules,
            retry=retry,
            spark=_spark(engine, master, spark_properties(None, conf)),
            on_log=(lambda log: None) if lines is None else lines.log,
            on_look=(lambda found: None) if lines is None else lines.looked,
        )
    if lines is not None:
        lines.stopped(into)
        return
    emit(found, as_json, lambda result: _show(result, into, details))


def _spark(engine: str | None, master: str | None, conf: dict[str, str]) -> "SparkOptions | None":
    from sparkcast.engines import ENGINES
    from sparkcast.study import SparkOptions

    if engine is None:
        if master or conf:
            raise typer.BadParameter("--master and --conf are for reading on a cluster: add --engine spark")
        return None
    ENGINES.get(engine)  # raises for a name that is none
    return SparkOptions(master or SparkOptions().master, conf)


def _show(found: "Watched", into: str, details: bool) -> None:
    show(found, details)
    if found.jobs:
        shell("next:", f"sparkcast jobs {shlex.quote(into)}")


@contextmanager
def _stopping(token: "CancelToken") -> Iterator[None]:
    """SIGTERM and Ctrl-C stop after the log that is being read; a second one at once."""

    def stop(number: int, frame: "FrameType | None") -> None:
        if token.is_canceled:
            raise KeyboardInterrupt
        token.cancel()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Lines:
    """One line for each event, for a log collector: logfmt, or JSON."""

    def __init__(self, as_json: bool) -> None:
        self._as_json, self._problems = as_json, frozenset[tuple[str, str]]()

    def log(self, log: "WatchedLog") -> None:
        values: dict[str, object] = {"event": log.event.value, "log": log.log, "job": log.job, "app": log.key}
        self._line(values | {"time_s": log.time_s, "input_bytes": log.input_bytes, "reason": log.reason})

    def looked(self, found: "Watched") -> None:
        """A path that cannot be looked at is told when that begins and when it ends, and not every minute."""
        problems = frozenset((one.path, one.reason) for one in found.unseen)
        for path, reason in sorted(problems - self._problems):
            self._line({"event": "unseen", "path": path, "reason": reason})
        for path, _ in sorted(self._problems - problems):
            self._line({"event": "seen-again", "path": path})
        self._problems = problems
        if found.logs:
            self._line({"event": "looked", "seen": found.n_seen, **found.counts})

    def stopped(self, store: str) -> None:
        self._line({"event": "stopped", "store": store})

    def _line(self, values: dict[str, object]) -> None:
        from sparkcast.plain import to_json
        from sparkcast.study.redaction import redact_text

        told = {"time": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"}
        told |= {name: value for name, value in values.items() if value not in (None, "")}  # type: ignore[misc]
        clean = {name: redact_text(value) if isinstance(value, str) else value for name, value in told.items()}
        text = to_json(clean).decode() if self._as_json else " ".join(f"{k}={_quoted(v)}" for k, v in clean.items())
        sys.stdout.write(text.replace("\n", " ") + "\n")
        sys.stdout.flush()


def _quoted(value: object) -> str:
    text = str(value)
    if text and not any(sign in text for sign in ' "=\n'):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def jobs(
    store: StoreSource,
    job: Annotated[str | None, typer.Option(help="Only this one, and what made its runs one job.")] = None,
    rules: Rules = None,
    price: Annotated[str | None, typer.Option(help="E.g. core_hour=0.05: adds what all runs cost.")] = None,
    details: Details = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """The recurring jobs of a store: runs, last run, median time, core-hours, cost and trend.

    Example: sparkcast jobs fleet.results --price core_hour=0.05
    """
    from sparkcast import api
    from sparkcast.study.derive import parse_price

    found = api.jobs(store, job=job, rules=rules, price=None if price is None else parse_price(price))
    emit(found, as_json, lambda result: show(result, details))


def speed(
    store: Annotated[
        str | None, typer.Argument(metavar="STORE", help="Keeps what was measured, for runs of this cluster.")
    ] = None,
    cluster: Annotated[str | None, typer.Option(help="The name that its runs have. Default: its id or master.")] = None,
    seconds: Annotated[float, typer.Option(help="For how long to measure.")] = 10.0,
    master: Master = None,
    conf: Conf = None,
    details: Details = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Measure how fast the nodes of a cluster are: cores, disks and network, in ten seconds.

    Example: sparkcast speed fleet.results --master yarn --conf spark.executor.instances=8
    """
    from sparkcast import api
    from sparkcast.study import SparkOptions

    options = SparkOptions(master or SparkOptions().master, spark_properties(None, conf))
    found = api.measure_speed(store, cluster=cluster, spark=options, seconds=seconds)
    emit(found, as_json, lambda result: show(result, details))
