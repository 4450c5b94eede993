"""What the columns of a table are: settings, responses, what else was measured, and what tells nothing."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sparkcast.data.cell import MONEY, TIME
from sparkcast.data.column import DATE, EMPTY, TEXT, Column
from sparkcast.data.evidence import came_out, depends_on_several, determines, was_crossed, was_set
from sparkcast.study import Kind, Role, Vocabulary, names
from sparkcast.study.headings import plain_name
from sparkcast.units import SECONDS

# Columns of an exported table that are neither settings nor responses.
BOOKKEEPING = ("cause", "outcome", "position", "rep", "replicate", "run_id", "started_at")
_FEWEST = 8  # rows from which a column can be told to be different in nearly every one
_NEARLY_ALL = 0.9  # of the rows
_UNCERTAINTY = re.compile(r"(.+)_(error|err|sd|std|stddev|stdev|stderr|se|sem|ci|variance|var)")
_FEWEST_CLOCKS = 5  # that go on from row to row by no chance


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a table that sparkcast wrote says of its own columns."""

    factors: tuple[str, ...]
    responses: tuple[str, ...]
    vocabulary: Vocabulary


@dataclass(frozen=True, slots=True)
class Sorted:
    """The columns of a table by what they are, in the order of the table."""

    settings: tuple[str, ...]
    responses: tuple[str, ...]
    metrics: tuple[str, ...]  # numbers that were measured beside the responses
    left_out: Mapping[str, str]  # why


def sort_columns(
    columns: Mapping[str, Column],
    *,
    settings: Sequence[str],
    responses: Sequence[str],
    ignored: Sequence[str],
    set_: Sequence[str] = (),
) -> Sorted:
    """Guess what nobody said; `settings` and `responses` are what an option or the table itself says.

    Of `set_` it is only known that they are no measurements.
    """
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
            kind, why = _guess(column, is_set=name in set_)
            if why:
                left_out[name] = why
            if kind:
                found[kind].append(name)
    _heed_rows(columns, found, left_out, fixed=(*settings, *responses, *set_))
    _leave_out_times_of_day(columns, found, left_out, told=(*settings, *responses))
    _leave_out_uncertainties(found, left_out, names_=columns, told=(*settings, *responses))
    timed = [name for name in found["metric"] if _is_timed(columns[name])]
    if len(timed) == 1 and not any(_is_time(columns[name]) for name in found["response"]):
        found["metric"].remove(timed[0])  # the only time there is, whatever it is called
        left_out.pop(timed[0])
        found["response"].append(timed[0])
    return Sorted(tuple(found["setting"]), tuple(found["response"]), tuple(found["metric"]), left_out)


def _leave_out_times_of_day(
    columns: Mapping[str, Column], found: dict[str, list[str]], left_out: dict[str, str], *, told: Sequence[str]
) -> None:
    """A clock that only goes on from row to row, beside a time that does not, says when runs were made."""
    times = [name for name in found["response"] if _is_time(columns[name])]
    clocks = [name for name in times if name not in told and names.may_be_a_clock(name) and _goes_on(columns[name])]
    if not clocks or all(_goes_on(columns[name]) for name in times):
        return
    for name in clocks:
        found["response"].remove(name)
        left_out[name] = "times of day"


def _leave_out_uncertainties(
    found: dict[str, list[str]], left_out: dict[str, str], *, names_: Iterable[str], told: Sequence[str]
) -> None:
    """`Score error` beside `Score` says how exactly that was measured."""
    plain = {plain_name(name): name for name in names_}
    for name in [name for name in found["response"] if name not in told]:
        match = _UNCERTAINTY.fullmatch(plain_name(name))
        if match and match[1] in plain:
            found["response"].remove(name)
            left_out[name] = f"the uncertainty of {plain[match[1]]}"


def _goes_on(column: Column) -> bool:
    values = [column.values.get(cell) for cell in column.cells]
    numbers = [value for value in values if isinstance(value, int | float)]
    is_clock = all(re.fullmatch(r"[012]?\d:[0-5]\d(:[0-5]\d)?", cell) for cell in column.cells)
    return is_clock and len(numbers) >= _FEWEST_CLOCKS and all(a < b for a, b in pairwise(numbers))


def _heed_rows(
    columns: Mapping[str, Column], found: dict[str, list[str]], left_out: dict[str, str], *, fixed: Sequence[str]
) -> None:
    """Correct what the names alone told by what the rows tell."""
    _set_all_the_same(columns, found, left_out)
    open_ = [name for name in found["setting"] if name not in fixed]
    _sort_prices(columns, found, left_out, [name for name in open_ if names.names_a_bare_price(name)])
    _leave_out_results(columns, found, left_out, [name for name in open_ if _may_come_out(name)])
    place = {name: i for i, name in enumerate(columns)}
    for kind in found:
        found[kind].sort(key=lambda name: place[name])


def _set_all_the_same(columns: Mapping[str, Column], found: dict[str, list[str]], left_out: dict[str, str]) -> None:
    """Settings that are called like measurements, as a delay: they stay the same where the others do."""
    for name in [name for name in found["metric"] if names.may_be_set(name)]:
        others = [columns[other] for other in found["setting"]]
        # A time that stays the same among replicates is a setting; one that others determine came out of them.
        if (was_crossed if _is_timed(columns[name]) else was_set)(columns[name], others):
            found["metric"].remove(name)
            left_out.pop(name, None)
            found["setting"].append(name)


def _sort_prices(
    columns: Mapping[str, Column], found: dict[str, list[str]], left_out: dict[str, str], prices: Sequence[str]
) -> None:
    """A price may be what a run cost, or what something costs that another setting names."""
    for name in prices:
        others = [columns[other] for other in found["setting"] if other != name]
        if not columns[name].is_number or was_crossed(columns[name], others):
            continue
        found["setting"].remove(name)
        if of := next((other.name for other in others if determines(other, columns[name])), None):
            left_out[name] = f"the price of {of}; if a run cost that: `roles={ {name: 'money'} }`"
        else:
            found["response"].append(name)


def _leave_out_results(
    columns: Mapping[str, Column], found: dict[str, list[str]], left_out: dict[str, str], names_: Sequence[str]
) -> None:
    """What differs where everything that was set is the same, or with all of it at once, came out of the runs."""
    for name in (name for name in names_ if name in found["setting"]):
        column = columns[name]
        others = [columns[other] for other in found["setting"] if other != name]
        depends = names.usual_role(name) is None and depends_on_several(column, others)
        if depends or (column.is_number and came_out(column, others, is_count=names.counts_steps(name))):
            found["setting"].remove(name)
            if column.is_number:
                found["metric"].append(name)
            left_out[name] = f"looks measured; if you set it: `roles={ {name: 'other'} }`"


def _may_come_out(name: str) -> bool:
    if names.usual_role(name) in (Role.ITERATIONS, Role.EPOCHS):
        return True  # those done, where they differ
    return names.counts_steps(name) or not (names.is_usually_drawn(name) or names.is_usually_given(name))


def _is_timed(column: Column) -> bool:
    is_called_time = column.is_number and plain_name(column.name).split("_")[-1] in ("time", "duration")
    return column.form == TIME or names.unit_in_name(column.name) in SECONDS or is_called_time


def _is_time(column: Column) -> bool:
    return column.form == TIME or names.usual_kind(column.name) is Kind.TIME


def _guess(column: Column, *, is_set: bool) -> tuple[str, str]:
    """What a column is (setting, response, metric or nothing), and why it is left out of the settings."""
    name = column.name
    if column.form == EMPTY:
        return "", "empty"
    if column.form == DATE or (names.names_a_moment(name) and not names.is_usually_measured(name)):
        return "", "dates"
    if names.names_a_block(name):
        return "", "blocks"
    if names.names_a_place(name) and not is_set:
        return "", f"says where runs were made; if you set it: `roles={ {name: 'other'} }`"
    if not is_set and names.is_usually_measured(name) and not _is_number_format(column):
        is_told = column.form != TEXT or any(cell[0].isdigit() for cell in column.values)
        return ("response", "") if is_told else ("", "words")
    if why := _why_no_setting(column):
        return "", why
    if not is_set and names.tells_how_it_went(name):
        return "", "looks measured"
    if is_set or not column.is_number or _is_number_format(column):
        return "setting", ""
    return _guess_number(column)


def _why_no_setting(column: Column) -> str:
    """Why a column that was not measured tells nothing of the runs; empty where it may."""
    name, filled = column.name, column.n_filled
    if column.is_number and (names.numbers_repeats(name) or _counts_up(column)):
        return "numbers repeated runs"
    if names.names_a_remark(name) and column.form == TEXT:
        return "remarks"
    if column.n_values < 2 and not column.problems:
        return f"always {next(iter(column.values))}"
    if _is_identifier(column):
        return "identifier"
    if filled < len(column.cells) / 2 and names.usual_role(name) is None:
        return f"empty in {len(column.cells) - filled} of {len(column.cells)} rows"
    return ""


def _guess_number(column: Column) -> tuple[str, str]:
    """Whether numbers under a name that does not tell were set or measured."""
    name = column.name
    if column.form in (TIME, MONEY) and not names.is_usually_drawn(name) and not names.names_a_price(name):
        return "metric" if column.form == TIME else "response", "looks measured" if column.form == TIME else ""
    has_role = names.usual_role(name) is not None and not name.endswith("_")
    if (names.looks_measured(name) and not has_role) or _looks_drawn_by_nature(column):
        return "metric", "looks measured"
    return "setting", ""


def _is_number_format(column: Column) -> bool:
    """Whether `precision` is that of floating-point numbers: 16, 32, fp16."""
    if names.usual_kind(column.name) is not Kind.SHARE:
        return False
    return column.form == TEXT or set(column.values.values()) <= {8, 16, 32, 64}


def _is_identifier(column: Column) -> bool:
    n = column.n_filled
    if names.usual_role(column.name) is not None:
        return False
    if names.names_runs(column.name) and column.n_values > n / 2 and n > 2:
        return True
    if n >= _FEWEST and column.form == TEXT:
        return column.n_values >= _NEARLY_ALL * n
    return n >= _FEWEST and _counts_the_rows(column)


def _counts_up(column: Column) -> bool:
    """Whether `iteration` counts 1, 2, 3, ...: then it is that of the experiment."""
    values = set(column.values.values())
    return names.counts_rounds(column.name) and len(values) > 2 and values == set(range(1, len(values) + 1))


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
