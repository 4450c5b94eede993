"""How to read a table where it does not tell itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sparkcast.data.cell import Mark
from sparkcast.errors import StudyError
from sparkcast.study.names import in_usual_units
from sparkcast.units import SECONDS, parse_seconds

_MARKS: Mapping[str, Mark] = {"comma": ",", ",": ",", "point": ".", ".": "."}
_UNITS = {1e-9: "ns", 1e-6: "us", 0.001: "ms", 1.0: "s", 60.0: "min", 3600.0: "h", 86400.0: "d"}


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What the columns of a table mean, where they do not tell themselves.

    One name may be given as a text instead of a sequence.

    >>> TableOptions(factors="hosts", roles={"hosts": "machines", "minutes": "time:min"}).factors
    ('hosts',)
    """

    factors: Sequence[str] = ()  # by default the columns that vary and are not measurements; others become metrics
    responses: Sequence[str] = ()  # columns, or formulas over them: "cost = time_s / (100 * accuracy) ** 2"
    roles: Mapping[str, str] = field(default_factory=dict)  # {"hosts": "machines", "minutes": "time:min"}
    ignore: Sequence[str] = ()  # columns to leave out
    na: Sequence[str] = ()  # words that mark a missing value, besides the usual ones
    time_unit: str | None = None  # of times whose unit nothing tells: ns, us, ms, s, min, h, d
    decimal: str | None = None  # comma or point
    where: Mapping[str, str] = field(default_factory=dict)  # only rows with these values: {"job": "kmeans"}
    fill_down: Sequence[str] = ()  # columns of merged cells: an empty one has the value above it
    complete_rows: bool = False  # leave out rows in which a setting has no value
    outcomes: Mapping[str, str] = field(default_factory=dict)  # how runs ended: {"parked": "error", "fine": "ok"}
    time_limit: str | None = None  # runs that took as long or longer were stopped: 7200s, 2h

    def __post_init__(self) -> None:
        for name in ("factors", "responses", "ignore", "na", "fill_down"):
            object.__setattr__(self, name, names_in(getattr(self, name)))
        if self.time_unit is not None:
            seconds = SECONDS.get(self.time_unit.strip().lower())
            if seconds is None:
                raise StudyError(
                    f"`time_unit=` {self.time_unit!r} is not a unit of time", hint="use ns, us, ms, s, min, h or d"
                )
            object.__setattr__(self, "time_unit", _UNITS[seconds])
        if self.time_limit is not None:
            parse_seconds(self.time_limit)
        if self.decimal is not None and self.decimal not in _MARKS:
            raise StudyError(f"`decimal=` {self.decimal!r} is not a decimal mark", hint="use comma or point")
        if len(set(self.factors)) < len(self.factors):
            raise StudyError(f"a factor is listed twice: {', '.join(self.factors)}", hint="list each column once")
        if both := [name for name in (*self.factors, *self.responses, *self.roles) if name in self.ignore]:
            raise StudyError(f"{both[0]} is ignored, but another option uses it", hint="leave out one of them")

    def with_responses(self, *responses: str) -> "TableOptions":
        """These as well, each once."""
        return replace(self, responses=tuple(dict.fromkeys((*self.responses, *responses))))

    @property
    def mark(self) -> Mark | None:
        return None if self.decimal is None else _MARKS[self.decimal]

    @property
    def meanings(self) -> dict[str, str]:
        """The roles with their units; a time takes that of --time-unit where neither role nor name has one."""
        found = in_usual_units(self.roles)
        unit = f":{self.time_unit}" if self.time_unit else ""
        return {name: text + unit if text.strip() == "time" else text for name, text in found.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that an option names."""
        return (*self.factors, *self.responses, *self.roles, *self.ignore, *self.where, *self.fill_down)

    @property
    def limit_s(self) -> float | None:
        return None if self.time_limit is None else parse_seconds(self.time_limit)


def names_in(given: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several: a text is one, not a sequence of letters."""
    return (given,) if isinstance(given, str) else tuple(given)
