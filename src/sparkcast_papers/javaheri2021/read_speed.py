"""Tasks 1 and 2: throughput of reading images, regressed on one setting at a time."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from sparkcast.analysis import Regression
from sparkcast.analysis.effects import regressions
from sparkcast.data import read_csv
from sparkcast.errors import StudyError
from sparkcast.replications import CorrectedFigure, Mistake, PaperPart, PartResult, Row, Section, show
from sparkcast.study import Configuration, Level, Observation
from sparkcast_papers.javaheri2021 import PARTS

VARIABLES = ("batch_size", "batches", "repetition", "data_size")
# Table 1: r of throughput with each of VARIABLES, without and with caching and partitioning.
TABLE_1: Mapping[tuple[str, bool], tuple[str, ...]] = {
    ("jpeg", False): ("-0.155", "0.157", "0.558", "-0.019"),
    ("jpeg", True): ("0.313", "0.094", "0.198", "0.249"),
    ("tfrecord", False): ("0.293", "0.262", "0.475", "0.325"),
    ("tfrecord", True): ("0.389", "0.330", "0.313", "0.424"),
}
_SIGNIFICANCE = 0.05
_REPETITION = ("repetition", "replicate")
_YES, _NO = ("true", "yes", "1", "on", "cached"), ("false", "no", "0", "off", "plain")


@PARTS.register("read-speed")
class ReadSpeed(PaperPart):
    """Table 1: correlations of images per second with the settings, and the mistake in reading them."""

    def run(self, data: Path | None) -> PartResult:
        if data is None:
            rows = tuple(
                show(_item(key), f"r, {variable}", None, r)
                for key, printed in TABLE_1.items()
                for variable, r in zip(VARIABLES, printed, strict=True)
            )
            note = "the measurements are not public: this only repeats the paper; `data=FILE.csv` compares runs with it"
            section = Section("Table 1 as printed", "Table 1", rows, (note,))
            columns = "format, cache, batch_size, batches, repetition and throughput"
            return PartResult((section,), (_warm_up({}),), (f"runs of image-read are needed, as a CSV with {columns}",))
        groups = _groups(data)
        found = {key: _regress(runs) for key, runs in groups.items()}
        sections = [_section(key, len(groups[key]), lines) for key, lines in found.items()]
        return PartResult((*sections, *_ratio(groups)), (_warm_up(found),))


Key = tuple[str, bool]
Lines = Mapping[str, Regression]


def _groups(path: Path) -> dict[Key, list[Observation]]:
    """The successful runs by format and cache, each with its data size and repetition."""
    if path.is_dir():
        raise StudyError(f"`data=` {str(path)!r} is a folder", hint="pass the CSV file of runs")
    header = _header(path)
    repetition = next((name for name in _REPETITION if name in header), None)
    factors = ["format", "batch_size", "batches", *(name for name in ("cache", repetition) if name in header)]
    groups: dict[Key, list[Observation]] = {}
    for run in read_csv(path, [name for name in factors if name], ("throughput",)).successful("throughput"):
        settings = run.configuration
        size = {name: _number(settings[name], name, path, run.position) for name in ("batch_size", "batches")}
        count = run.replicate if repetition is None else int(_number(settings[repetition], repetition, path, 0))
        configuration = Configuration({**size, "data_size": size["batch_size"] * size["batches"]})
        key = (_format(str(settings["format"])), _is_cached(settings.get("cache", "false")))
        groups.setdefault(key, []).append(dataclasses.replace(run, configuration=configuration, replicate=count))
    return dict(sorted(groups.items()))


def _header(path: Path) -> list[str]:
    if not path.is_file():
        raise StudyError(f"no file {str(path)!r}", hint="`data=` takes a CSV of runs")
    with path.open(encoding="utf-8-sig") as file:
        return file.readline().strip().split(",")


def _number(value: Level, name: str, path: Path, line: int) -> float:
    if isinstance(value, str):
        raise StudyError(f"{path.name} row {line}: {name} = {value!r} is not a number", hint="correct the cell")
    return float(value)


def _format(text: str) -> str:
    return {"image": "jpeg", "images": "jpeg", "jpg": "jpeg", "tfr": "tfrecord"}.get(text.lower(), text.lower())


def _is_cached(value: Level) -> bool:
    text = str(value).lower()
    if text not in (*_YES, *_NO):
        raise StudyError(f"cache = {text!r} is neither true nor false", hint="write true or false")
    return text in _YES


def _regress(runs: Sequence[Observation]) -> Lines:
    found = regressions(("batch_size", "batches", "data_size"), runs, "throughput")
    return {line.variable: line for line in found}


def _section(key: Key, n: int, lines: Lines) -> Section:
    printed = dict(zip(VARIABLES, TABLE_1[key], strict=True)) if key in TABLE_1 else {}
    rows: list[Row] = []
    notes = []
    for variable in VARIABLES:
        if variable not in lines:
            notes.append(f"{variable} did not vary, or there are fewer than three runs: no line")
            continue
        line = lines[variable]
        rows.append(show(_item(key), f"r, {variable}", line.r, printed.get(variable, "")))
        rows.append(show(_item(key), f"slope, {variable}", line.slope))
        rows.append(show(_item(key), f"p, {variable}", line.p))
    if _warms_up(lines):
        line = lines["repetition"]
        notes.append(
            f"throughput depends on the repetition (r = {line.r:.2f}, p = {line.p:.2g}): this is warm-up or "
            "drift, not a setting; leave out the first repetitions, or model them"
        )
    return Section(f"{_item(key)}: {n} runs", "Table 1", tuple(rows), tuple(notes))


def _warms_up(lines: Lines) -> bool:
    return "repetition" in lines and lines["repetition"].p < _SIGNIFICANCE


def _item(key: Key) -> str:
    return f"{key[0]}, {'cached' if key[1] else 'plain'}"


def _ratio(groups: Mapping[Key, Sequence[Observation]]) -> tuple[Section, ...]:
    """How many times faster TFRecords are, where both formats were measured."""
    means = {key: fmean(run.responses["throughput"] for run in runs) for key, runs in groups.items()}
    rows = tuple(
        show(
            "tfrecord / jpeg", "cached" if cached else "plain", means["tfrecord", cached] / means["jpeg", cached], "70"
        )
        for cached in (False, True)
        if ("tfrecord", cached) in means and ("jpeg", cached) in means
    )
    note = "the paper's factor of 70 is for cloud storage; this ratio depends on where these data were stored"
    return (Section("Ratio of mean throughputs", "task 1b", rows, (note,)),) if rows else ()


def _warm_up(found: Mapping[Key, Lines]) -> Mistake:
    plain = [float(r) for r in TABLE_1["jpeg", False]]
    ours = {key: lines["repetition"].r for key, lines in found.items() if "repetition" in lines}
    return Mistake(
        1,
        "Repetition correlates with throughput like a parameter, most of all for images without caching.",
        "The repetition is not something you set: when later repetitions are faster, caches and just-in-time "
        "compilers were still "
        f"warming up. For images without caching that is {100 * plain[2] ** 2:.0f} % of the variation (r²), and the "
        f"settings explain {100 * max(plain[0] ** 2, plain[1] ** 2, plain[3] ** 2):.1f} % at most. The first "
        "repetitions must be left out or modeled, and r needs the number of runs next to it: the paper gives none.",
        tuple(
            CorrectedFigure(f"r of repetition, {_item(key)}", float(printed[2]), ours.get(key))
            for key, printed in TABLE_1.items()
        ),
    )
