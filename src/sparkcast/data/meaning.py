"""What the columns of a table are: settings, responses, what else was measured, and what tells nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sparkcast.data.column import DATE, EMPTY, TEXT, Column
from sparkcast.study import names

# Columns of an exported table that are neither settings nor responses.
BOOKKEEPING = ("cause", "outcome", "position", "rep", "replicate", "run_id", "started_at")
_FEWEST = 8  # rows from which a column can be told to be different in nearly every one
_NEARLY_ALL = 0.9  # of the rows


@dataclass(frozen=True, slots=True)
class Sorted:
    """The columns of a table by what they are, in the order of the table."""

    settings: tuple[str, ...]
    responses: tuple[str, ...]
    metrics: tuple[str, ...]  # numbers that were measured beside the responses
    left_out: Mapping[str, str]  # why


def sort_columns(
    columns: Mapping[str, Column], *, settings: Sequence[str], responses: Sequence[str], ignored: Sequence[str]
) -> Sorted:
    """Guess what nobody said; `settings` and `responses` are what an option or the table itself says."""
    found: dict[str, list[str]] = {"setting": list(settings), "response": [], "metric": []}
    left_out: dict[str, str] = {}
    for name, column in columns.items():
        if name in settings:
            continue
        if name in ignored:
            left_out[name] = "ignored"
        elif name in responses:
            found["response"].append(name)
        elif name not in BOOKKEEPING:
            kind, why = _guess(column)
            if why:
                left_out[name] = why
            if kind:
                found[kind].append(name)
    timed = [name for name in found["metric"] if names.unit_in_name(name) in ("s", "ms", "min", "h")]
    if not found["response"] and len(timed) == 1:  # the only time there is, whatever it is called
        found["metric"].remove(timed[0])
        left_out.pop(timed[0])
        found["response"].append(timed[0])
    return Sorted(tuple(found["setting"]), tuple(found["response"]), tuple(found["metric"]), left_out)


def _guess(column: Column) -> tuple[str, str]:
    """What a column is (setting, response, metric or nothing), and why it is left out of the settings."""
    name = column.name
    if column.form == EMPTY:
        return "", "empty"
    if column.form == DATE or (names.names_a_moment(name) and not names.is_usually_measured(name)):
        return "", "dates"
    if names.names_a_block(name):
        return "", "blocks"
    if names.is_usually_measured(name):
        return "response", ""
    if names.numbers_repeats(name) and column.is_number:
        return "", "numbers repeated runs"
    if names.names_a_remark(name) and column.form == TEXT:
        return "", "remarks"
    if column.n_values < 2 and not column.problems:
        return "", f"always {next(iter(column.values))}"
    if _is_identifier(column):
        return "", "identifier"
    if (filled := column.n_filled) < len(column.cells) / 2 and names.usual_role(name) is None:
        return "", f"empty in {len(column.cells) - filled} of {len(column.cells)} rows"
    if column.is_number and (names.looks_measured(name) or _looks_drawn_by_nature(column)):
        return "metric", "looks measured"
    return "setting", ""


def _is_identifier(column: Column) -> bool:
    n = column.n_filled
    if names.usual_role(column.name) is not None:
        return False
    if names.names_runs(column.name) and column.n_values > n / 2 and n > 2:
        return True
    if n >= _FEWEST and column.form == TEXT:
        return column.n_values >= _NEARLY_ALL * n
    return n >= _FEWEST and _counts_the_rows(column)


def _counts_the_rows(column: Column) -> bool:
    values = [column.values.get(cell) for cell in column.cells]
    return values in (list(range(len(values))), list(range(1, len(values) + 1)))


def _looks_drawn_by_nature(column: Column) -> bool:
    """Whether it has another value with a fraction in nearly every row, as measurements have and settings rarely."""
    if names.is_usually_drawn(column.name) or column.n_filled < _FEWEST:
        return False
    distinct = set(column.values.values())
    fractions = sum(isinstance(value, float) and not value.is_integer() for value in distinct)
    return len(distinct) >= _NEARLY_ALL * column.n_filled and fractions > len(distinct) / 2
