"""How pages say numbers: counts of runs, at most three digits, "about" and an interval for what is predicted."""

from collections.abc import Sequence
from math import floor, isfinite, log10
from typing import TYPE_CHECKING

from markupsafe import Markup

from sparkcast.plain import to_json
from sparkcast.study import Configuration, Kind, Response, Role, Vocabulary
from sparkcast.study.names import COST
from sparkcast.units import show_bytes, show_money, show_percent

if TYPE_CHECKING:
    from sparkcast.learned.feasibility import NoFailure
    from sparkcast.recommend.question import Objective
    from sparkcast.serve.pages._adviser import RunAdviser
    from sparkcast.serve.pages._controls import SliderStep
    from sparkcast.serve.pages._query import RunQuery

_NICE_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_MOST_SURE, _LEAST = 0.995, 0.01


def in_hundred(chance: float) -> str:
    """A probability as a count of runs, rounded down.

    >>> in_hundred(0.946), in_hundred(0.997), in_hundred(0.001), in_hundred(0.57)
    ('94 in 100', 'more than 99 in 100', 'less than 1 in 100', '57 in 100')
    """
    if chance > _MOST_SURE:
        return "more than 99 in 100"
    return "less than 1 in 100" if chance < _LEAST else f"{floor(100 * chance + 1e-9)} in 100"


def short_chance(chance: float) -> str:
    """The same in a column.

    >>> short_chance(0.946), short_chance(0.999), short_chance(0.0)
    ('94%', '> 99%', '< 1%')
    """
    if chance > _MOST_SURE:
        return "> 99%"
    return "< 1%" if chance < _LEAST else f"{floor(100 * chance + 1e-9)}%"


def duration(seconds: float) -> str:
    """A time in at most three digits.

    >>> duration(4.887), duration(28.31), duration(93), duration(2278), duration(8650), duration(120), duration(300000)
    ('4.89 s', '28.3 s', '1 min 33 s', '38 min', '2 h 24 min', '2 min', '83 h')
    """
    if seconds < 59.95:
        return f"{seconds:.3g} s"
    if seconds < 599.5:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02d} s" if rest else f"{minutes} min"
    if seconds < 5970:
        return f"{round(seconds / 60)} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min" if minutes and hours < 10 else f"{round(seconds / 3600)} h"


def duration_range(low: float, high: float) -> str:
    """Two times, their unit once.

    >>> duration_range(1980, 2640), duration_range(4, 5.5), duration_range(50, 80)
    ('33 to 44 min', '4 to 5.5 s', '50 s to 1 min 20 s')
    """
    first, last = duration(low), duration(high)
    (number, unit), (_, other) = first.split(" ", 1), last.split(" ", 1)
    return f"{number} to {last}" if unit == other and " " not in unit else f"{first} to {last}"


def value(response: Response, amount: float) -> str:
    """A value of a response."""
    if response.kind is Kind.TIME:
        return duration(response.seconds(amount))
    if response.kind is Kind.MONEY:
        return money(amount, response.unit)
    if response.kind is Kind.SHARE and response.unit == "share correct" and abs(amount) <= 1:
        return show_percent(amount, 3)
    return f"{amount:,.0f}" if abs(amount) >= 1000 else f"{amount:.3g}"


def value_range(response: Response, low: float, high: float) -> str:
    """Two values, their unit once where it is the same."""
    if response.kind is Kind.TIME:
        return duration_range(response.seconds(low), response.seconds(high))
    return f"{value(response, low)} to {value(response, high)}"


def money(amount: float, unit: str) -> str:
    """An amount.

    >>> money(1.944, "USD"), money(0.000136, "USD"), money(6943, "USD"), money(2, "EUR")
    ('$1.94', '0.0136¢', '$6,943', '2.00 EUR')
    """
    if unit in ("USD", "$"):
        if 0 < abs(amount) < 0.1:
            return show_money(amount, "USD")
        return f"${amount:,.2f}" if abs(amount) < 1000 else f"${amount:,.0f}"
    if unit and 0.1 <= abs(amount) < 1000:
        return f"{amount:.2f} {unit}"
    return show_money(amount, unit)


def noun(response: Response) -> str:
    """What a response is called."""
    if response.kind in (Kind.TIME, Kind.MONEY):
        return "time" if response.kind is Kind.TIME else COST
    return response.name.replace("_", " ")


def settings(configuration: Configuration, vocabulary: Vocabulary) -> str:
    """Settings inside a sentence.

    >>> settings(Configuration({"machines": 2, "batch": 64}), Vocabulary())
    'machines 2, batch 64'
    """
    parts = []
    for name, level in configuration.items():
        plain = name.replace("_", " ")
        if vocabulary.setting(name).role in (Role.MACHINES, Role.EPOCHS):
            parts.append(f"{level} {plain[:-1] if str(level) == '1' and plain.endswith('s') else plain}")
        else:
            parts.append(f"{plain} {level}")
    return ", ".join(parts)


def count(n: int, what: str, many: str = "") -> str:
    """So many of something.

    >>> count(1, "run"), count(1200, "run"), count(2, "study", "studies")
    ('1 run', '1,200 runs', '2 studies')
    """
    return f"{n:,} {what if n == 1 else many or f'{what}s'}"


def nice_seconds(low: float, high: float, most: int = 120) -> list[float]:
    """Times to choose from, evenly spaced.

    >>> nice_seconds(7, 61, 8)
    [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
    """
    wanted = (high - low) / most
    step = next((step for step in _NICE_S if step >= wanted), 86400.0 * max(1, round(wanted / 86400)))
    return _steps(low, high, nice(wanted) if wanted < 1 else step)


def nice_amounts(low: float, high: float, most: int = 120) -> list[float]:
    """Amounts to choose from."""
    return _steps(low, high, nice((high - low) / most))


def nice(wanted: float) -> float:
    """The next of 1, 2, 5, 10, ...

    >>> nice(0.013), nice(3)
    (0.02, 5.0)
    """
    if not wanted > 0:
        return 1.0
    exponent, least = floor(log10(wanted)), wanted * (1 - 1e-9)
    return next(float(f"{digit}e{exponent}") for digit in (1, 2, 5, 10) if digit * 10.0**exponent >= least)


def _steps(low: float, high: float, step: float) -> list[float]:
    first = max(1, -(-low // step)) if isfinite(low) else 1
    last = -(-high // step)
    return [float(f"{number * step:.10g}") for number in range(int(first), int(last) + 1)]


size = show_bytes


def axis_steps(high: float) -> list[float]:
    """Distances of ticks on an axis of times, the smallest first."""
    small = [float(f"{digit}e{exponent}") for exponent in range(-4, 1) for digit in (1, 2, 5)]
    whole = [10, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400]
    return [*small, *whole, *(86400.0 * 2**k for k in range(1, 20)), high]


def axis_unit(high: float) -> tuple[float, str]:
    """The unit of an axis of times."""
    return (1.0, "s") if high < 180 else (60.0, "min") if high < 3 * 3600 else (3600.0, "h")


def objective_first(objective: "Objective", vocabulary: Vocabulary) -> str:
    """Which candidate comes first: "the highest accuracy"."""
    response = vocabulary.response(objective.response)
    return f"{'the highest' if objective.is_maximum else 'the lowest'} {noun(response)}"


def anchor_at(share: float) -> str:
    """How a label at a place along a picture is written, so that it stays inside."""
    return "start" if share < 0.15 else "end" if share > 0.85 else "middle"


def middle(time_s: Sequence[float]) -> str:
    return duration(time_s[len(time_s) // 2])


def spread(time_s: Sequence[float]) -> str:
    from sparkcast.serve.pages._options import ends

    return duration_range(*ends(time_s))


def failure_bound(bound: "NoFailure") -> str:
    return show_percent(bound.below)


def clock(at: float) -> str:
    """When something happened, by the server's clock."""
    from datetime import datetime

    then, now = datetime.fromtimestamp(at), datetime.now()
    if then.date() == now.date():
        return f"today at {then:%H:%M}"
    return f"on {then:%B} {then.day}" + ("" if then.year == now.year else f", {then.year}")


def command_of(query: "RunQuery", adviser: "RunAdviser") -> str:
    """The command that repeats an answer; without the folders of this machine."""
    import shlex
    from pathlib import Path

    entry = adviser.learned.entry
    source = entry.source if "://" in entry.source and "@" not in entry.source else Path(entry.source).name
    parts = ["sparkcast", "recommend", source]
    options = [("within", "" if query.within_s is None else f"{query.within_s:g}s")]
    options += [("budget", "" if query.budget is None else f"{query.budget:g}")]
    options += [("confidence", "" if query.confidence == 0.95 else f"{query.confidence:g}")]
    maximize, minimize = adviser.objective(query.best)
    options += [("maximize", maximize or ""), ("minimize", minimize or "")]
    options += [("fix", ",".join(f"{name}={level}" for name, level in query.hold.items()))]
    options += [("jobs-running", "" if query.running is None else str(query.running))]
    for name, value in options:
        parts += [f"{'-' * 2}{name}", value] if value else []
    return shlex.join([*parts, *([f"{'-' * 2}extrapolate"] if query.is_far_allowed else [])])


def steps_json(steps: "Sequence[SliderStep]") -> Markup:
    """For the script; what people wrote cannot end it."""
    text = to_json([[step.value, step.text] for step in steps])
    return Markup((text.decode() if isinstance(text, bytes) else text).replace("<", "\\u003c"))


def line(parts: "Sequence[str]") -> str:
    """A line to paste, an option below the other; without a program they begin alike.

    >>> print(line(["--conf a=1", "--conf b=2"]))
    --conf a=1 \\
    --conf b=2
    """
    is_command = bool(parts) and not parts[0].startswith("-")
    return (" \\\n  " if is_command else " \\\n").join(parts)


def file_name(source: str) -> str:
    """Without the folders of the server."""
    from pathlib import Path

    return Path(source).name


def listing(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listing(["cores", "batch_size"])
    'cores and batch size'
    """
    plain = [name.replace("_", " ") for name in names]
    return plain[0] if len(plain) == 1 else f"{', '.join(plain[:-1])} and {plain[-1]}" if plain else "nothing"


def worth(amount: float, currency: str) -> str:
    """Money, or core-hours where there is no price.

    >>> worth(6943.2, ""), worth(12.34, "USD")
    ('6,943 core-hours', '$12.34')
    """
    if currency:
        return money(amount, currency)
    return f"{amount:,.0f} core-hours" if amount >= 100 else f"{amount:.3g} core-hours"


def worth_range(low: float, high: float, currency: str) -> str:
    """Both ends, their unit once.

    >>> worth_range(5900, 7950, "")
    '5,900 to 7,950 core-hours'
    """
    first, last = worth(low, currency), worth(high, currency)
    return f"{first.removesuffix(' core-hours')} to {last}"
