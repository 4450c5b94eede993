"""Observations as flat tables: CSV in and out, Parquet out."""

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Level, Observation, Outcome, Vocabulary
from sparkcast.study.names import MEASURED, completed, in_usual_units
from sparkcast.study.paths import no_such_file

# Columns of an exported table that are neither settings nor responses.
_BOOKKEEPING = ("cause", "outcome", "position", "rep", "replicate", "run_id", "started_at")
# The last column of a table that sparkcast wrote: one of its cells says what all others are.
_MEANING = "sparkcast"


def read_csv(path: Path, factors: Sequence[str] = (), responses: Sequence[str] = ()) -> Dataset:
    """See `read_table`."""
    return read_table(path, factors, responses)[0]


def read_table(
    path: Path, factors: Sequence[str] = (), responses: Sequence[str] = (), roles: Mapping[str, str] | None = None
) -> tuple[Dataset, Vocabulary]:
    """A table with a header, one run a row; and what was declared of its columns, by `roles` or by the table itself.

    Without `factors`: every column that varies, less responses. With `factors`, the remaining columns of numbers are
    what else the runs showed (times of stages, bytes). Every observation has them among its responses, where models
    find them; `Dataset.responses` does not name them.
    """
    header, rows = _read_rows(path)
    written = _written_meaning(header, rows, path)
    declared = written.vocabulary.assigning(in_usual_units(roles or {}))
    for name in (*factors, *responses, *(roles or {})):
        if name not in header:
            raise StudyError(f"{path.name} has no column {name!r}", hint=did_you_mean(name, header))
    if len(set(factors)) < len(factors):
        raise StudyError(f"a factor is named twice: {', '.join(factors)}", hint="name each column once")
    yielded = {*responses, *(r.name for r in declared.responses), *(n for n in MEASURED if n not in factors)}
    measured = [n for n in header if n in yielded and n not in {s.name for s in declared.settings}]
    others = [n for n in header if n not in measured and n not in _BOOKKEEPING]
    # What the table does not speak of, such as a column that somebody added, is read as in any other table.
    untold = [n for n in others if n not in written.vocabulary.names and len({row[n] for row in rows}) > 1]
    varied = tuple(factors) or (*(n for n in written.factors if n in others), *untold)
    if not varied:
        raise StudyError(f"{path.name} has no column that could be a factor", hint="name them: --factors a,b")
    fixed = [n for n in others if n not in varied and n in {s.name for s in written.vocabulary.settings}]
    metrics = [n for n in others if factors and n not in (*varied, *fixed) and _is_measured(row[n] for row in rows)]
    seen: dict[Configuration, int] = {}
    observations = []
    for line, row in enumerate(rows, start=2):
        configuration = Configuration((name, parse_level(row[name])) for name in (*varied, *fixed) if row[name] != "")
        _require_values(configuration, varied, path, line)
        seen[configuration] = seen.get(configuration, 0) + 1
        observations.append(
            Observation(
                configuration=configuration,
                responses={n: _number(row[n], n, path, line) for n in (*measured, *metrics) if row[n] != ""},
                outcome=_outcome(row.get("outcome", "ok"), path, line),
                replicate=seen[configuration],
                position=line - 1,
            )
        )
    named = tuple(responses) or tuple(n for n in measured if n in written.responses) or tuple(measured)
    if not named and not factors:
        raise no_response(path)
    return Dataset(varied, tuple(observations), path.stem, named, declared), declared


def no_response(path: Path) -> StudyError:
    return StudyError(
        f"no column of {path.name} is known to be what the runs yielded",
        hint="say what one is: --role NAME=time (or money, share, count), or --response NAME",
    )


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a table that sparkcast wrote says of its own columns."""

    factors: tuple[str, ...] = ()
    responses: tuple[str, ...] = ()
    vocabulary: Vocabulary = field(default_factory=Vocabulary)


def _written_meaning(header: list[str], rows: list[dict[str, str]], path: Path) -> _Meaning:
    if _MEANING not in header:
        return _Meaning()
    header.remove(_MEANING)
    try:
        plain = json.loads(next((row[_MEANING] for row in rows if row[_MEANING]), ""))  # rows may have been sorted
        found = _Meaning(tuple(plain["factors"]), tuple(plain["responses"]), Vocabulary.from_plain(plain["vocabulary"]))
    except (ValueError, KeyError, TypeError) as error:
        raise StudyError(
            f"{path.name}: the column {_MEANING!r} does not say what the others are", hint="remove that column"
        ) from error
    return replace(found, vocabulary=found.vocabulary.only(header))


def write_table(data: Dataset, path: Path) -> None:
    """Write one row per observation to a .csv or .parquet file."""
    rows = [_flat(observation) for observation in data.observations]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if rows:
        rows[0][_MEANING] = json.dumps(_meaning_of(data, columns))
    columns.append(_MEANING)
    if path.suffix.lower() == ".parquet":
        _write_parquet(rows, columns, path)
        return
    if path.suffix.lower() != ".csv":
        raise StudyError(f"cannot write {path.name!r}: unknown kind {path.suffix!r}", hint="use .csv or .parquet")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def _meaning_of(data: Dataset, columns: Sequence[str]) -> dict[str, Any]:
    settings = dict.fromkeys(name for run in data.observations for name in run.configuration)
    measured = [name for name in columns if name not in settings and name not in _BOOKKEEPING]
    words = completed(data.vocabulary, settings, measured).only(columns)
    return {"factors": data.factors, "responses": data.responses, "vocabulary": words.as_plain()}


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
        raise no_such_file(path) from None
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


def _require_values(configuration: Configuration, names: Sequence[str], path: Path, line: int) -> None:
    for name in names:
        value = configuration.get(name, "")
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
