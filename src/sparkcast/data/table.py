"""Observations as flat tables: CSV in and out, Parquet out."""

import csv
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Dataset, Level, Observation, Outcome

# Columns of an exported table that are not settings.
_BOOKKEEPING = ("cause", "outcome", "position", "rep", "replicate", "run_id", "started_at")
_MEASURED = "accuracy cost cpu_percent iowait_percent loss startup_s throughput time_s total_s".split()


def read_csv(path: Path, factors: Sequence[str] = (), responses: Sequence[str] = ()) -> Dataset:
    """A table with a header: one run a row. Without `factors`: every column that varies, less known responses.

    With `factors`, the remaining columns of numbers are what else the runs showed (times of stages, bytes). Every
    observation has them among its responses, where models find them; `Dataset.responses` does not name them.
    """
    header, rows = _read_rows(path)
    for name in (*factors, *responses):
        if name not in header:
            raise StudyError(f"{path.name} has no column {name!r}", hint=did_you_mean(name, header))
    if len(set(factors)) < len(factors):
        raise StudyError(f"a factor is named twice: {', '.join(factors)}", hint="name each column once")
    measured = [n for n in header if n in responses or (n in _MEASURED and n not in factors)]
    others = [n for n in header if n not in measured and n not in _BOOKKEEPING]
    varied = tuple(factors) or tuple(n for n in others if len({row[n] for row in rows}) > 1)
    if not varied:
        raise StudyError(f"{path.name} has no column that could be a factor", hint="name them: --factors a,b")
    metrics = [n for n in others if factors and n not in factors and _is_measured(row[n] for row in rows)]
    seen: dict[tuple[Level, ...], int] = {}
    observations = []
    for line, row in enumerate(rows, start=2):
        configuration = {name: parse_level(row[name]) for name in varied}
        _require_values(configuration, path, line)
        key = tuple(configuration.values())
        seen[key] = seen.get(key, 0) + 1
        observations.append(
            Observation(
                configuration=configuration,
                responses={n: _number(row[n], n, path, line) for n in (*measured, *metrics) if row[n] != ""},
                outcome=_outcome(row.get("outcome", "ok"), path, line),
                replicate=seen[key],
                position=line - 1,
            )
        )
    return Dataset(varied, tuple(observations), path.stem, tuple(responses) or tuple(measured) or ("time_s",))


def write_table(data: Dataset, path: Path) -> None:
    """Write one row per observation to a .csv or .parquet file."""
    rows = [_flat(observation) for observation in data.observations]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if path.suffix == ".parquet":
        _write_parquet(rows, columns, path)
        return
    if path.suffix != ".csv":
        raise StudyError(f"cannot write {path.name!r}: unknown kind {path.suffix!r}", hint="use .csv or .parquet")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def _write_parquet(rows: list[dict[str, Level]], columns: list[str], path: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise StudyError("Parquet needs pyarrow", hint="pip install 'sparkcast[parquet]', or write a .csv") from None
    pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in columns}), path)


def _flat(observation: Observation) -> dict[str, Level]:
    row: dict[str, Level] = {**observation.configuration, "replicate": observation.replicate}
    row |= {"position": observation.position, "outcome": observation.outcome.value, **observation.responses}
    if observation.utilisation:
        row["cpu_percent"] = observation.utilisation.cpu_percent
        row["iowait_percent"] = observation.utilisation.iowait_percent
    return row | {"run_id": observation.run_id}


def _read_rows(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            header = list(reader.fieldnames or [])
            rows = list(reader)
    except FileNotFoundError:
        raise StudyError(f"no file {str(path)!r}", hint="is the path right?") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StudyError(
            f"cannot read {str(path)!r}: {error}", hint="a CSV in UTF-8 with a header is needed"
        ) from error
    if len(set(header)) < len(header):
        raise StudyError(f"{path.name}: a column name stands twice in the header", hint="rename one of them")
    if not rows:
        raise StudyError(f"{path.name} has 0 rows", hint="one row per run, under a header with the names")
    for line, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise StudyError(f"{path.name} line {line} has not {len(header)} values", hint="check commas and quotes")
    return header, rows


@lru_cache(maxsize=4096)
def parse_level(text: str) -> Level:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _is_measured(cells: Iterable[str]) -> bool:
    """Whether a column nobody spoke of holds finite numbers only; cells may be empty, but not all of them."""
    filled = [cell for cell in cells if cell != ""]
    try:
        return bool(filled) and all(math.isfinite(float(cell)) for cell in filled)
    except ValueError:
        return False


def _require_values(configuration: dict[str, Level], path: Path, line: int) -> None:
    for name, value in configuration.items():
        if value == "" or (isinstance(value, float) and not math.isfinite(value)):
            raise StudyError(
                f"{path.name} line {line}: factor {name!r} has no value", hint="fill it in or drop the row"
            )


def _number(text: str, name: str, path: Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        raise StudyError(
            f"{path.name} line {line}: {name} = {text!r} is not a number", hint="correct the cell or drop the row"
        ) from None
    if not math.isfinite(value):
        raise StudyError(f"{path.name} line {line}: {name} = {text} is not finite", hint="leave the cell empty")
    return value


def _outcome(text: str, path: Path, line: int) -> Outcome:
    try:
        return Outcome(text)
    except ValueError:
        known = tuple(outcome.value for outcome in Outcome)
        raise StudyError(f"{path.name} line {line}: unknown outcome {text!r}", hint=did_you_mean(text, known)) from None
