"""Event logs: where the time of one application went, and runs made from many."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.data.sources import Source, file_behind, is_study_file, load_study
from sparkcast.errors import StudyError
from sparkcast.study import Price, SparkOptions

if TYPE_CHECKING:
    from sparkcast.data.ingest import Ingested, IngestedLog
    from sparkcast.data.ingest.destination import Destination
    from sparkcast.eventlogs import LogRead
    from sparkcast.profile import LogComparison, Profile


def profile(log: Source, *, thresholds: Mapping[str, float] | None = None) -> "Profile":
    """Where the time of one Spark application went, what was paid for, and what could be better.

    Args:
        log: An event log of any kind that Spark writes: a file, the folder of a rolling log, a URL.
        thresholds: From which number on a finding is told, where it should differ from
            `sparkcast.profile.Thresholds`.

    Returns:
        Seconds by part, which add up to the life of the application, core-hours, findings (worst first) and stages.

    Raises:
        StudyError: There is no such log, several are meant, or it cannot be read.
        UnknownNameError: There is no such threshold.

    >>> found = profile("log.zstd")
    >>> abs(sum(found.parts.values()) - found.wall_s) < 0.001
    True
    """
    from sparkcast.profile import profile_log, with_thresholds

    limits = with_thresholds(thresholds or {})
    return profile_log(read_one(log), limits)


def report_log(log: Source, output: Source) -> None:
    """Write one self-contained HTML file about one application: findings, figures, parts and stages.

    Args:
        log: An event log, as in `profile`.
        output: The HTML file; an existing one is replaced.

    Raises:
        StudyError: As in `profile`.
        StoreError: The file cannot be written.

    >>> report_log("log.zstd", "log.html")
    """
    from datetime import datetime

    from sparkcast import __version__
    from sparkcast.report.page import render_application, write_page

    created = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    write_page(Path(output), render_application(read_one(log), created=created, version=__version__))


def compare_profiles(
    before: Source, after: Source, *, thresholds: Mapping[str, float] | None = None
) -> "LogComparison":
    """Two runs of a job side by side: what changed in settings and in time, by part and by stage.

    Args:
        before: An event log, as in `profile`.
        after: Another one.
        thresholds: As in `profile`.

    Returns:
        Both profiles, and their differences.

    Raises:
        StudyError, UnknownNameError: As in `profile`.

    >>> compare_profiles("log.zstd", "log.zstd").more_s
    0.0
    """
    from sparkcast.profile import compare

    return compare(profile(before, thresholds=thresholds), profile(after, thresholds=thresholds))


def ingest(
    paths: Source | Sequence[Source],
    into: Source,
    *,
    settings: Sequence[str] = (),
    job: str | None = None,
    interactive: bool = False,
    price: Price | None = None,
    processes: int | None = None,
    engine: str | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    force: bool = False,
    on_log: "Callable[[IngestedLog], None]" = lambda log: None,
) -> "Ingested":
    """Make runs from logs: Spark's event logs, or the driver logs of BigDL. Twice is as good as once.

    Args:
        paths: Logs, folders of them, patterns, URLs.
        into: A .csv file, where runs of a second job go to a file of their own beside it; a store (folder, SQLite file
            or database URL), where each job is a study of its own; or a study file, which takes the runs of one job
            that tell its settings.
        settings: Parameters of the job's own, as `NAME=REGEX`; its group is the value. They are looked for in the
            command line, the name of the application, the descriptions of jobs and the path of the log. Properties
            that begin with `spark.sparkcast.` are taken without, and for a study also the options of the job's
            command line that its study file names.
        job: A regular expression that the name of the application must match; its first group names the job.
        interactive: Take shells, notebooks and SQL servers too, which are left out because they are no jobs.
        price: Per core-hour and GiB-hour; the cost of a run is that of its executors from first to last. A study has
            its own.
        processes: Logs read at once; by default as many as there are cores.
        engine: "spark" reads the logs as a Spark job; by default processes of this machine do.
        master: With engine "spark", the master URL; by default an embedded cluster.
        conf: Spark properties of that job.
        force: Replace a table that was not written by `ingest`, or changed since.
        on_log: Called after each log.

    Returns:
        How it went with each log, and where the runs of each job are.

    Raises:
        StudyError: A path does not exist, an expression is malformed, the table is somebody else's, or the logs are of
            several jobs and go into one study.
        RunError: The cluster that was to read the logs failed.

    >>> [log.status.value for log in ingest("log.zstd", "ingested.csv").logs]
    ['ok']
    """
    from functools import partial

    from sparkcast.data.ingest import LogQuery, Reader, ingest_logs, parse_pattern, read_here

    if price is not None and (price.machine_hours or price.hour is not None):
        raise StudyError(
            "a log knows cores and memory, not machines", hint="give `price=Price(core_hour=0.05, gib_hour=0.01)`"
        )
    reading = LogQuery(tuple(parse_pattern(text) for text in settings), price)
    reader: Reader = partial(read_here, processes=processes)
    if engine is not None:
        from sparkcast.data.ingest.on_spark import reader_on
        from sparkcast.engines import ENGINES

        ENGINES.get(engine)  # raises for a name that is none
        reader = reader_on(SparkOptions(master or SparkOptions().master, conf or {}))
    elif master or conf:
        raise StudyError("`master=` and `conf=` are for reading on a cluster", hint="add `engine='spark'`")
    return ingest_logs(
        [str(paths)] if isinstance(paths, str | Path) else [str(path) for path in paths],
        _destination(into, has_price=price is not None, force=force),
        reading=reading,
        job=job,
        interactive=interactive,
        reader=reader,
        on_log=on_log,
    )


def _destination(into: Source, *, has_price: bool, force: bool) -> "Destination":
    from sparkcast.data.ingest.into_store import IntoStore
    from sparkcast.data.ingest.into_study import IntoStudy
    from sparkcast.data.ingest.into_table import IntoTable

    if "://" not in str(into) and Path(into).suffix.lower() == ".csv":
        return IntoTable(Path(into), force=force)
    if not is_study_file(into):
        return IntoStore(str(into))
    if has_price:
        raise StudyError(
            "a study has its own price, for all of its runs",
            hint="leave out `price=`; the study file has `price:`",
        )
    return IntoStudy(load_study(into))


def read_one(source: Source) -> "LogRead":
    from sparkcast.eventlogs import find_logs, read_log

    logs = find_logs(file_behind(source))
    if len(logs) != 1:
        raise StudyError(
            f"{str(source)!r} contains {len(logs)} files or rolling logs, not one log"
            if logs
            else f"{str(source)!r} contains no event log",
            hint="give one of them: " + ", ".join(log.name for log in logs[:3]) if logs else "give an event log",
        )
    return read_log(logs[0])
