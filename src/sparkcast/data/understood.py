"""How a table was understood, for people to see and correct."""

from collections.abc import Collection
from dataclasses import dataclass

from sparkcast.study import Dataset, Kind, Role

_MOST_NAMES = 8  # left out, listed by name


@dataclass(frozen=True, slots=True)
class Understood:
    """What `--role`, `--factors`, `--response`, `--outcome`, `--ignore` and the other options of tables can correct."""

    source: str
    runs: int
    settings: tuple[tuple[str, str], ...]  # name, and its role and unit
    responses: tuple[tuple[str, str], ...]  # name, and its kind and unit
    left_out: tuple[tuple[str, str], ...] = ()  # name, and why
    notes: tuple[str, ...] = ()  # how the file was read
    is_declared: bool = False  # nothing of it was guessed
    sha256: str = ""  # of the file

    def lines(self) -> list[str]:
        """A few lines; none where everything was declared and read as it stands."""
        if self.is_declared:
            return []
        read = f"; {'; '.join(self.notes)}" if self.notes else ""
        found = [
            f"{self.source}: {self.runs} run{'' if self.runs == 1 else 's'}{read}",
            f"  settings: {_listed(self.settings)}",
            f"  responses: {_listed(self.responses) or 'none'}",
        ]
        if self.left_out:
            shown = _listed(self.left_out[:_MOST_NAMES])
            more = len(self.left_out) - _MOST_NAMES
            found.append(f"  left out: {shown}{f' and {more} more' if more > 0 else ''}")
        return found


def _listed(pairs: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{name} ({told})" if told else name for name, told in pairs)


def told_settings(data: Dataset, units: dict[str, str], assumed: Collection[str] = ()) -> tuple[tuple[str, str], ...]:
    """Role and unit of the varied settings; `units` are those that the cells had, `assumed` memories without one."""
    told = []
    for name in data.factors:
        setting = data.vocabulary.setting(name)
        role = "" if setting.role is Role.OTHER else setting.role.value
        unit = units.get(name, "")
        if setting.role is Role.MEMORY and not unit:
            unit = setting.unit
            levels = data.levels(name)
            if name in assumed:
                taken, other = ("GiB", "mb") if unit == "gib" else ("MiB", "gb")
                unit = f"taken as {taken}; or `roles={ {name: f'memory:{other}'} }`"
            elif not all(setting.is_size_clear(level) for level in levels):
                unit = f"unit unknown; declare `roles={ {name: 'memory:gb'} }`"
            elif unit == "bytes" and not any(isinstance(level, str) for level in levels):
                unit = f"assumed to be bytes; or `roles={ {name: 'memory:gb'} }`"
        told.append((name, ", ".join(part for part in (role, unit) if part)))
    return tuple(told)


def told_responses(data: Dataset, assumed: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Kind and unit of the responses; `assumed` are times whose unit nobody said."""
    told = []
    times = [name for name in data.responses if data.vocabulary.response(name).kind is Kind.TIME]
    for name in data.responses:
        response = data.vocabulary.response(name)
        kind = "" if response.kind is Kind.OTHER else response.kind.value
        unit = "assumed to be seconds; see `time_unit=`" if name in assumed else response.unit
        unit = "" if response.kind is Kind.SHARE and unit.startswith("share") else unit
        others = [other for other in times if other != name] if name == data.vocabulary.time else []
        chosen = f"taken as the time of a run; or `roles={ {others[0]: 'time'} }`" if others else ""
        told.append((name, ", ".join(part for part in (kind, unit, chosen) if part)))
    return tuple(told)
