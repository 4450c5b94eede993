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
    from sparkcast.recommend import Recommendation
    from sparkcast.replay import Recorded, WhatIf, WhatIfQuestion


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


def whatif(
    logs: Source | Sequence[Source],
    *,
    executors: Sequence[int] | None = None,
    cores: Sequence[int] | None = None,
    partitions: int | None = None,
    data: float = 1.0,
    dynamic: tuple[int, int] | None = None,
    price: Price | None = None,
) -> "WhatIf":
    """What other clusters would have made of an application, by replaying its event log.

    Args:
        logs: An event log, or several of the same job: their spread is then the interval. The first is the one that
            answers are compared with.
        executors: How many; by default from a quarter to four times as many as there were.
        cores: Of an executor; by default as many as there were.
        partitions: Another spark.sql.shuffle.partitions.
        data: How many times as much data. Refused where a broadcast join would no longer be one.
        dynamic: The least and the most executors of dynamic allocation.
        price: Per core-hour and GiB-hour.

    Returns:
        Time with a 90% interval, core-hours, cost and utilization for each cluster; the knee, the floor, traps, and
        what was taken into account.

    Raises:
        StudyError: A log cannot be read or has no tasks, or the question does not suit it.
        NotEnoughDataError: More data would change a plan.
        InfeasibleError: A stage could not start: a barrier needs more slots.

    >>> found = whatif("log.zstd", cores=[1, 2, 4])
    >>> [one.cores for one in found.configurations]
    [1, 2, 4]
    """
    from sparkcast.replay import what_if

    return what_if(_recorded(logs), _question(executors, cores, partitions, data, dynamic, price))


def _question(
    executors: Sequence[int] | None,
    cores: Sequence[int] | None,
    partitions: int | None,
    data: float,
    dynamic: tuple[int, int] | None,
    price: Price | None,
) -> "WhatIfQuestion":
    from sparkcast.replay import WhatIfQuestion

    return WhatIfQuestion(
        None if executors is None else tuple(executors),
        None if cores is None else tuple(cores),
        partitions,
        data,
        dynamic,
        price,
    )


def whatif_within(
    logs: Source | Sequence[Source],
    *,
    within_s: float | None = None,
    budget: float | None = None,
    confidence: float = 0.95,
    executors: Sequence[int] | None = None,
    cores: Sequence[int] | None = None,
    partitions: int | None = None,
    data: float = 1.0,
    price: Price | None = None,
) -> "Recommendation":
    """The cheapest cluster that keeps to a deadline or a budget, by replaying an event log.

    Args:
        logs: An event log, or several of the same job.
        within_s: The deadline for the whole application, seconds.
        budget: The most that a run may cost; needs a price.
        confidence: The probability with which each must be kept.
        executors: How many; by default from a quarter to four times as many as there were.
        cores: Of an executor; by default as many as there were.
        partitions: Another spark.sql.shuffle.partitions.
        data: How many times as much data.
        price: Per core-hour and GiB-hour.

    Returns:
        The cluster, what it is predicted to take and cost, and what else there is: as from `recommend`.

    Raises:
        StudyError, NotEnoughDataError: As in `whatif`.
        InfeasibleError: No cluster keeps to them; the error has the nearest.

    >>> whatif_within("log.zstd", within_s=3600, cores=[1, 2]).chosen.configuration["executors"]
    2
    """
    from sparkcast.recommend.replayed import recommend_replayed

    if not 0 < confidence < 1:
        raise StudyError(f"`confidence={confidence:g}` is not a probability", hint="use a number between 0 and 1")
    found = whatif(logs, executors=executors, cores=cores, partitions=partitions, data=data, price=price)
    return recommend_replayed(found, within_s=within_s, budget=budget, confidence=confidence)


def write_whatif_figures(
    logs: Source | Sequence[Source],
    folder: Source,
    *,
    executors: Sequence[int] | None = None,
    cores: Sequence[int] | None = None,
    partitions: int | None = None,
    data: float = 1.0,
    dynamic: tuple[int, int] | None = None,
    price: Price | None = None,
    force: bool = False,
) -> list[Path]:
    """Draw time and cost of other clusters with interval, knee and the measured one; and tasks, measured and replayed.

    Args:
        logs: An event log, or several of the same job.
        folder: Where PNG, SVG and Vega-Lite files go.
        executors: How many; by default from a quarter to four times as many as there were.
        cores: Of an executor; by default as many as there were.
        partitions: Another spark.sql.shuffle.partitions.
        data: How many times as much data.
        dynamic: The least and the most executors of dynamic allocation.
        price: Per core-hour and GiB-hour.
        force: Replace files that exist.

    Returns:
        The files that were written.

    Raises:
        StudyError: As in `whatif`; or a file exists and `force` is not given.

    >>> drawn = write_whatif_figures("log.zstd", "whatif", cores=[1, 2, 4])
    >>> sorted(file.name for file in drawn if file.suffix == ".svg")
    ['replayed-tasks.svg', 'whatif.svg']
    """
    from sparkcast.replay import what_if
    from sparkcast.report.figures import replay_figures, write_figures

    sources = _recorded(logs)
    found = what_if(sources, _question(executors, cores, partitions, data, dynamic, price))
    return write_figures(replay_figures(found, sources[0]), Path(folder), force=force)


def _recorded(logs: Source | Sequence[Source]) -> "list[Recorded]":
    from sparkcast.eventlogs import find_logs, read_log
    from sparkcast.facts import facts_of
    from sparkcast.replay import recorded

    sources = [logs] if isinstance(logs, str | Path) else list(logs)
    found = [log for source in sources for log in find_logs(file_behind(source))]
    if not found:
        raise StudyError(f"{', '.join(map(str, sources))!r} contains no event log", hint="give an event log")
    made = []
    for one in found:
        read = read_log(one)
        made.append(recorded(read, facts_of(read)))
    names = {one.facts.application.name for one in made}
    if len(names) > 1:
        raise StudyError(
            f"the logs are of several jobs: {', '.join(sorted(names)[:3])}", hint="give logs of one job, or one log"
        )
    return made


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
