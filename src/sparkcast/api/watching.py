"""Every log of production becomes a run of its job; the jobs that a store has."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.data.sources import Data, Source
from sparkcast.errors import StudyError
from sparkcast.study import Price, SparkOptions
from sparkcast.study.environment import is_local

if TYPE_CHECKING:
    from sparkcast.data.ingest import Reader
    from sparkcast.data.ingest.measured_input import MeasuredInput
    from sparkcast.history.jobs import JobHistory
    from sparkcast.history.summary import Jobs
    from sparkcast.history.watch import Watched, WatchedLog
    from sparkcast.observe.speed import MeasuredCluster
    from sparkcast.runs.cancel import CancelToken
    from sparkcast.store import Store


def watch(
    paths: Source | Sequence[Source],
    into: Source,
    *,
    every_s: float | None = None,
    readers: int | None = None,
    settings: Sequence[str] = (),
    interactive: bool = False,
    price: Price | None = None,
    rules: Source | None = None,
    retry: bool = False,
    spark: SparkOptions | None = None,
    on_log: "Callable[[WatchedLog], None]" = lambda log: None,
    on_look: "Callable[[Watched], None]" = lambda found: None,
) -> "Watched":
    """Make each application a run of its job as its log comes, grows and ends. What was read is not read again.

    A run and the note that its log was read are stored together: `watch` can be killed at any moment, and each
    application is in the store exactly once when it has run again.

    Args:
        paths: Folders, logs, patterns, URLs that fsspec understands.
        into: A store: a results folder, an SQLite file or a database URL. Each job is a study of its own there.
        every_s: Look again after so many seconds, until a `CancelToken` around the call is canceled; by default once.
        readers: Logs read at once, each in a process of its own; by default as many as there are cores.
        settings: Parameters of the jobs' own, as `NAME=REGEX`, as in `ingest`. A log without one is taken all the same.
        interactive: Take shells, notebooks and SQL servers too.
        price: Per core-hour and GiB-hour: adds the cost to each run.
        rules: A file that says which applications are one job: kept in the store, for all that ask it.
        retry: Read logs again that were skipped or could not be read.
        spark: Read the logs as a Spark job with this master and these properties: for a year's logs, the first time.
        on_log: Called after each log is in the store.
        on_look: Called each time that all paths were looked at.

    Returns:
        What became of each log that was read, the last time it looked.

    Raises:
        StudyError: None of the paths exists, or `into` is no store.
        RunError: The cluster that was to read the logs failed.

    >>> found = watch("log.zstd", "watched.results")
    >>> [one.event.value for one in found.logs]
    ['new']
    >>> watch("log.zstd", "watched.results").counts
    {'unchanged': 1}
    """
    from sparkcast.data.ingest import LogQuery, parse_pattern
    from sparkcast.history.watch import WatchQuery, open_watched, require_some_path, watch_every, watch_once
    from sparkcast.runs.cancel import current_token

    if every_s is not None and not 0 < every_s < float("inf"):
        raise StudyError(f"`every_s={every_s:g}` is not a time to wait", hint="give seconds above 0")
    patterns = tuple(parse_pattern(text, is_required=False) for text in settings)
    given = [str(paths)] if isinstance(paths, str | Path) else [str(path) for path in paths]
    reader = _reader(readers, spark)
    query = WatchQuery(tuple(given), reader, LogQuery(patterns, _of_cores(price)), interactive)
    require_some_path(given)
    target = str(into)
    store = open_watched(target)
    try:
        _prepare(store, rules, retry=retry)
        should_stop = _until(current_token())
        if every_s is None:
            found = watch_once(store, target, query, on_log=on_log, should_stop=should_stop)
            on_look(found)
            return found
        return watch_every(store, target, query, every_s, on_log=on_log, on_look=on_look, should_stop=should_stop)
    finally:
        store.close()


def jobs(
    store: Source,
    *,
    job: str | None = None,
    rules: Source | None = None,
    price: Price | None = None,
) -> "Jobs":
    """The recurring jobs of a store: runs, last run, median time, core-hours, cost, and how their time changes.

    Args:
        store: A results folder, an SQLite file or a database URL, that `watch` or `ingest` has filled.
        job: Only this one, with what made its runs one job: its name, or the name of one of its applications.
        rules: A file that says which applications are one job, tried out on this store: `watch` keeps it.
        price: Per core-hour and GiB-hour.

    Returns:
        A row for each job, the one with the most core-hours first.

    Raises:
        StudyError: There is no such job, or the file of rules is malformed.
        NotEnoughDataError: There is no store, or nothing was ingested.

    >>> found = watch("log.zstd", "jobs.results")
    >>> [(one.name, one.n_runs) for one in jobs("jobs.results").jobs]
    [('sparkcast pi', 1)]
    """
    from sparkcast.errors import NotEnoughDataError
    from sparkcast.history.jobs import histories_of, history_of
    from sparkcast.history.rules import read_rules
    from sparkcast.history.summary import summary_of
    from sparkcast.store import open_store

    opened = open_store(str(store))
    try:
        known = histories_of(opened, rules=None if rules is None else read_rules(Path(rules)))
    finally:
        opened.close()
    if not known:
        raise NotEnoughDataError(
            f"{str(store)!r} has no runs that were read from logs", hint="`api.watch(FOLDER, STORE)` reads them"
        )
    chosen = known if job is None else (history_of(known, job),)
    return summary_of(chosen, str(store), _of_cores(price))


def load_job(store: Source, job: str, *, rules: Source | None = None) -> Data:
    """The runs of one recurring job, for all functions that take data: what it read is a setting of role data-size.

    Args:
        store: A results folder, an SQLite file or a database URL, that `watch` or `ingest` has filled.
        job: Its name as `jobs` lists it, or the name of one of its applications.
        rules: As in `jobs`.

    Returns:
        Its runs that ended. Calendar time and cluster are beside the settings: `analyze` says when one explains what
        the settings do not.

    Raises:
        StudyError: There is no such job.
        NotEnoughDataError: None of its runs has ended.

    >>> found = watch("log.zstd", "job.results")
    >>> len(load_job("job.results", "sparkcast pi").dataset.observations)
    1
    """
    from sparkcast.history.dataset import data_of_job

    return data_of_job(_job_of(store, job, rules), str(store))


def measure_speed(
    into: Source | None = None,
    *,
    cluster: str | None = None,
    spark: SparkOptions | None = None,
    seconds: float = 10.0,
) -> "MeasuredCluster":
    """Measure how fast the nodes of a cluster are: their cores, disks and network, in about ten seconds.

    The store keeps it beside the runs of the cluster. Forecasts of a job that goes to another cluster, or runs on
    several, then follow from what was measured of both.

    Args:
        into: A store: a results folder, an SQLite file or a database URL. By default nothing is kept.
        cluster: The name that its runs have; by default what its own properties or its master say.
        spark: Where to measure: the master and Spark properties. It takes all cores that Spark gives.
        seconds: For how long.

    Returns:
        Each node: rounds of a fixed piece of work in a second on one core, bytes a second to its disk and to another.

    Raises:
        StudyError: The cluster has no name of its own and none is given, or `seconds` is too little.
        RunError: The cluster cannot be reached, or the measuring job failed.

    >>> measure_speed("fleet.results", spark=SparkOptions("yarn")).speed.core  # doctest: +SKIP
    213.4
    """
    from dataclasses import replace

    from sparkcast.history.watch import open_watched
    from sparkcast.observe.speed import measure_speed as measured
    from sparkcast.store.speeds import keep_speed, stored_speeds

    if not 1 <= seconds < float("inf"):
        raise StudyError(f"`seconds={seconds:g}` is too little to measure in", hint="give 10, at least 1")
    options = spark or SparkOptions()
    if into is not None and cluster is None and _says_nothing(options.master):
        raise StudyError(
            "runs of an embedded or local cluster do not name it",
            hint="name it, here and where its logs are watched: `cluster='laptop'`",
        )
    found = measured(options, seconds)
    found = found if cluster is None else replace(found, cluster=cluster)
    if into is None:
        return found
    store = open_watched(str(into))
    try:
        before = stored_speeds(store).get(found.cluster)
        keep_speed(store, found.cluster, found.speed)
    finally:
        store.close()
    return replace(found, store=str(into), before=before)


def _says_nothing(master: str) -> bool:
    """Of which cluster runs are: a loopback address is on every machine."""
    return is_local(master) or "127.0.0.1" in master or "localhost" in master


def measure_input(path: Source, job: Data | None = None) -> "MeasuredInput":
    """How much would be read from these files: for `at={"input": ...}`.

    Args:
        path: A file, a folder, a pattern or a URL that fsspec understands.
        job: The runs of a job, from `load_job`: of the bytes of its files only the share counts that they read.

    Returns:
        Files, their bytes, and the bytes that the job's log would record as read.

    Raises:
        StudyError: Nothing is there, or it cannot be listed.

    >>> measure_input("runs.csv").files
    1
    """
    from sparkcast.data.ingest.measured_input import measure_input as measured

    return measured(str(path), () if job is None else job.dataset.observations)


def _job_of(store: Source, job: str, rules: Source | None) -> "JobHistory":
    from sparkcast.history.jobs import histories_of, history_of
    from sparkcast.history.rules import read_rules
    from sparkcast.store import open_store

    opened = open_store(str(store))
    try:
        known = histories_of(opened, rules=None if rules is None else read_rules(Path(rules)))
    finally:
        opened.close()
    return history_of(known, job)


def _prepare(store: "Store", rules: Source | None, *, retry: bool) -> None:
    from sparkcast.history.rules import keep_rules, read_rules
    from sparkcast.history.watch import LogEvent
    from sparkcast.store.watched import WatchedLogs

    if rules is not None:
        keep_rules(store, read_rules(Path(rules)))
    if retry:
        logs = WatchedLogs(store)
        logs.forget(row.log for row in logs.rows().values() if row.status in (LogEvent.SKIPPED, LogEvent.FAILED))


def _of_cores(price: Price | None) -> Price | None:
    if price is not None and (price.machine_hours or price.hour is not None):
        raise StudyError(
            "a log knows cores and memory, not machines", hint="give `price=Price(core_hour=0.05, gib_hour=0.01)`"
        )
    return price


def _reader(readers: int | None, spark: SparkOptions | None) -> "Reader":
    from functools import partial

    from sparkcast.data.ingest import read_here

    if spark is None:
        return partial(read_here, processes=readers, ignore_interrupts=True)
    from sparkcast.data.ingest.on_spark import reader_on

    return reader_on(spark)


def _until(token: "CancelToken") -> Callable[[], bool]:
    return lambda: token.is_canceled
