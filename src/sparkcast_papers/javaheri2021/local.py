"""The report in small: JPEG files against TFRecord files, and shards written by one executor or two, really run."""

from dataclasses import replace
from pathlib import Path

from sparkcast.replications import PaperPart, PartResult, Section, show
from sparkcast.study import Dataset, Observation
from sparkcast_papers._local import (
    LEVEL,
    absent,
    duration_rows,
    local_section,
    mean_of,
    paired,
    ratio_of,
    ratio_rows,
    read_runs,
    results_file,
)
from sparkcast_papers.javaheri2021 import PARTS
from sparkcast_papers.javaheri2021.read_speed import ReadSpeed

READ, WRITE = "read.csv", "write.csv"
_RATIO = "70"  # task 1b
_RATE = "throughput"


@PARTS.register("local")
class Local(PaperPart):
    """The report in small, from real runs: TFRecord against JPEG with an interval, and writing shards."""

    def run(self, data: Path | None) -> PartResult:
        # --data may also be a table of runs, for the part read-speed.
        folder = data if data is not None and data.is_dir() else None
        read, write = (results_file("javaheri2021", name, folder) for name in (READ, WRITE))
        if read is None:
            return absent(READ)
        reads = read_runs(read)
        written = () if write is None else (_written(read_runs(write)),)
        sections = (_ratios(reads), *_correlations(read), *written)
        formats = ratio_of(paired(reads, _RATE, "format", "jpeg", "tfrecord"))
        headline = (
            f"in small, really run: TFRecord files are read {formats.mean:.2f} times as fast as JPEG files "
            f"({100 * LEVEL:g} % interval {formats.low:.2f} to {formats.high:.2f}) from a local disk; the report has "
            f"about {_RATIO} times, from cloud storage"
        )
        note = (
            "in small: generated images on a local disk, in the page cache, on one machine with two cores; the report "
            "read from cloud storage with up to four machines"
        )
        return PartResult(sections, notes=(note,), headlines=(headline,))


def _correlations(read: Path) -> tuple[Section, ...]:
    """Table 1 from these runs; the ratios are told with their intervals instead."""
    sections = ReadSpeed().run(read).sections
    return tuple(
        local_section(section.title, section.source, section.rows, section.notes)
        for section in sections
        if section.source == "Table 1"
    )


def _ratios(runs: Dataset) -> Section:
    rows = duration_rows(runs)
    rows.append(show("tfrecord / jpeg", "images/s, in the report", None, _RATIO))
    rows += ratio_rows("tfrecord / jpeg", "images/s", ratio_of(paired(runs, _RATE, "format", "jpeg", "tfrecord")))
    for cached, word in ((False, "plain"), (True, "cached")):
        own = replace(runs, observations=tuple(run for run in runs.observations if _cache(run) == cached))
        if not own.observations:  # a study of one kind only
            continue
        ratio = ratio_of(paired(own, _RATE, "format", "jpeg", "tfrecord"))
        rows += ratio_rows("tfrecord / jpeg", f"images/s, {word}", ratio)
        for kind in ("jpeg", "tfrecord"):
            rows.append(show(f"{kind}, {word}", "images/s", mean_of(own, _RATE, format=kind)))
    warm = ratio_of([(run.responses["first_throughput"], run.responses[_RATE]) for run in runs.successful(_RATE)])
    rows += ratio_rows("later repetitions / the first", "images/s", warm)
    notes = ("each pair is one batch size, number of batches and cache, read once from either format",)
    return local_section("How many times faster TFRecords are read", "task 1b", rows, notes)


def _cache(run: Observation) -> bool:
    return str(run.configuration["cache"]).lower() == "true"


def _written(runs: Dataset) -> Section:
    """Two executors of one core against one of two: the report's four small machines against a large one."""
    rows = duration_rows(runs)
    for executors, cores in ((1, 2), (2, 1)):
        work_s = mean_of(runs, "work_s", executors=executors, cores=cores)
        rows.append(show("writing", f"seconds, {executors} executor(s) of {cores} core(s)", work_s))
    together = replace(runs, factors=tuple(name for name in runs.factors if name != "cores"))
    rows += ratio_rows("2 x 1 core / 1 x 2 cores", "time", ratio_of(paired(together, "work_s", "executors", 1, 2)))
    rows += ratio_rows("8 / 2 partitions", "time", ratio_of(paired(runs, "work_s", "partitions", 2, 8)))
    notes = ("the report found about 4 minutes for both, 4 machines and 1: a ratio of about 1",)
    return local_section("Writing TFRecord shards", "task 3c", rows, notes)
