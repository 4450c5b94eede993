"""What a study asks: the settings it varies, the rules between them, what it measures and what it may spend."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkcast.errors import StudyError
from sparkcast.study.application import RUN_TIMES, TIME
from sparkcast.study.arrivals import Arrivals, MixPart
from sparkcast.study.configuration import Configuration, Level, normal_level, repeated
from sparkcast.study.expression import Expression
from sparkcast.study.names import COST, completed, in_usual_units
from sparkcast.study.redaction import redact, redact_plain
from sparkcast.study.response import Kind, Response
from sparkcast.study.vocabulary import Vocabulary

if TYPE_CHECKING:
    from sparkcast.study.space import Space

DOLLARS = "USD"  # the currency of a price that names none, as in the price lists of the large clouds


MOST_LEVELS = 10_000  # of one setting


@dataclass(frozen=True, slots=True)
class Factor:
    """One setting varied on purpose.

    >>> Factor("batch_size", (64, 128)).levels[-1]
    128
    """

    name: str
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        require_few_levels(self.name, len(self.levels))
        object.__setattr__(self, "levels", tuple(normal_level(level) for level in self.levels))
        if not self.levels:
            raise StudyError(f"factor {self.name!r} has no levels", hint="list at least two: [64, 128]")
        if len(set(self.levels)) < len(self.levels):
            raise StudyError(
                f"factor {self.name!r} repeats a level: {repeated(self.levels)!r}", hint="list each level once"
            )
        if len(self.levels) < 2:
            raise StudyError(
                f"factor {self.name!r} has the single level {self.levels[0]!r}",
                hint="write a value that never changes without the brackets",
            )


def require_few_levels(name: str, n: int) -> None:
    if n > MOST_LEVELS:
        raise StudyError(
            f"{name!r} has {n:,} levels, more than {MOST_LEVELS:,}",
            hint="give fewer of them, in larger steps",
        )


@dataclass(frozen=True, slots=True)
class DesignChoice:
    """Which combinations are run, and how often. `options` are the chosen design's own: it checks them."""

    kind: str = "full"
    replicates: int = 1
    seed: int = 0
    center_points: int = 0  # in each replicate, for each combination of categories
    blocks: int = 1  # in each replicate
    spread_s: float | None = None  # over which blocks are spread, at different hours; None: one after the other
    options: Mapping[str, object] = field(default_factory=dict)

    def as_plain(self) -> dict[str, Any]:
        """As plain data. What is not set is not there, so that studies from before it existed stay the same."""
        plain: dict[str, Any] = {"kind": self.kind, "replicates": self.replicates, "seed": self.seed}
        if self.center_points:
            plain["center_points"] = self.center_points
        if self.blocks != 1:
            plain["blocks"] = self.blocks
        if self.spread_s is not None:
            plain["spread_s"] = self.spread_s
        return plain | {name: list(v) if isinstance(v, tuple) else v for name, v in self.options.items()}


@dataclass(frozen=True, slots=True)
class Limits:
    """The most a study may spend, in seconds of wall time; None is no limit."""

    total_s: float | None = None
    trial_s: float | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """Money per hour: of the cores and memory that a run holds, of its machines by their type, or by a formula.

    >>> print(Price(core_hour=0.05, gib_hour=0.01, currency="EUR"))
    0.05 EUR per core-hour, 0.01 EUR per GiB-hour
    """

    core_hour: float = 0.0
    gib_hour: float = 0.0
    machine_hours: Mapping[str, float] = field(default_factory=dict)  # of one machine, by its type
    hour: Expression | None = None  # of the whole run, from its settings
    currency: str = DOLLARS

    def __post_init__(self) -> None:
        if not re.fullmatch("[A-Za-z]{3}", str(self.currency)):
            raise StudyError(
                f"price.currency = {self.currency!r} is no currency", hint="write its three letters: currency: EUR"
            )
        object.__setattr__(self, "currency", self.currency.upper())
        of_machines = {f"machine_hour.{kind}": amount for kind, amount in self.machine_hours.items()}
        for name, amount in {"core_hour": self.core_hour, "gib_hour": self.gib_hour, **of_machines}.items():
            if isinstance(amount, bool) or not isinstance(amount, (int, float)) or not 0 <= amount < inf:
                raise StudyError(
                    f"price.{name} = {amount!r} is not a price", hint="a price must be a number, 0 or more"
                )
        by = {"core_hour": self.core_hour, "gib_hour": self.gib_hour, "machine_hour": self.machine_hours}
        given = [name for name, amount in by.items() if amount] + (["hour"] if self.hour is not None else [])
        if len(given) > 1 and given != ["core_hour", "gib_hour"]:
            raise StudyError(
                f"a price cannot be given both as {given[0]} and as {given[-1]}",
                hint="choose one: core_hour and gib_hour, or machine_hour, or hour",
            )

    def __str__(self) -> str:
        if self.hour is not None:
            return f"{self.hour.text} {self.currency} per hour"
        if self.machine_hours:
            return ", ".join(f"{self._shown(amount)} per hour of {kind}" for kind, amount in self.machine_hours.items())
        memory = f", {self._shown(self.gib_hour)} per GiB-hour" if self.gib_hour else ""
        return f"{self._shown(self.core_hour)} per core-hour{memory}"

    def _shown(self, amount: float) -> str:
        return f"{amount:g} {self.currency}"  # as it was given

    def as_plain(self) -> dict[str, Any]:
        """As plain data. What is not set is not there, so that it reads as before machines and formulas had prices."""
        plain: dict[str, Any] = {"core_hour": self.core_hour, "gib_hour": self.gib_hour}
        if self.machine_hours:
            plain["machine_hours"] = dict(self.machine_hours)
        if self.currency != DOLLARS:
            plain["currency"] = self.currency
        return plain if self.hour is None else {**plain, "hour": self.hour.text}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Price":
        formula = plain.get("hour")
        return cls(**{**plain, "hour": None if formula is None else Expression(formula)})


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """Where to run, and Spark properties passed through untouched."""

    master: str = "embedded"
    conf: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Study:
    name: str
    workload: str
    factors: tuple[Factor, ...]
    fixed: Configuration = field(default_factory=Configuration)
    rules: tuple[Expression, ...] = ()
    design: DesignChoice = DesignChoice()
    responses: tuple[Response, ...] = (Response(TIME),)
    limits: Limits = Limits()
    price: Price | None = None
    spark: SparkOptions = SparkOptions()
    store: str | None = field(default=None, compare=False)  # the URL of a database for its results; None: a folder
    artifacts: str | None = field(default=None, compare=False)  # a folder or URL for copies of logs and output
    # Where it was read, for messages; two studies are equal when they ask the same.
    path: Path | None = field(default=None, compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    roles: Mapping[str, str] = field(default_factory=dict)  # what names mean, as its author says
    vocabulary: Vocabulary = field(default=Vocabulary(), compare=False, repr=False)  # what all names mean
    # What it says to its workload alone: the block of the study file that has the workload's name.
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    # Levels as the file writes them, where that is another way: {"rate": {1: "1.0"}}. A job may tell them apart.
    written: Mapping[str, Mapping[Level, str]] = field(default_factory=dict, compare=False, repr=False)
    arrivals: Arrivals | None = None  # a trial is a stream of jobs that arrive so; None: what its settings say
    mix: tuple[MixPart, ...] = ()  # the jobs of such a stream by share, where they differ

    def __post_init__(self) -> None:
        object.__setattr__(self, "fixed", Configuration(self.fixed))
        settings = (*(factor.name for factor in self.factors), *self.fixed)
        responses = [response.name for response in self.responses] + ([COST] if self.price is not None else [])
        declared_responses = Vocabulary(responses=tuple(r for r in self.responses if r.kind is not Kind.OTHER))
        declared = Vocabulary(responses=RUN_TIMES).declaring(self.vocabulary)
        words = completed(declared, settings, responses)
        if self.price is not None and not any(r.name == COST and r.formula is not None for r in self.responses):
            words = words.in_currency(COST, self.price.currency)
        words = words.declaring(declared_responses).meaning_by_time(declared.time)
        object.__setattr__(self, "vocabulary", words.assigning(in_usual_units(self.roles)))

    def where(self, *keys: str) -> str:
        """The place of a key in the study file, for messages: "mnist.yaml line 4: " or ""."""
        line = self.lines.get(".".join(keys))
        return f"{self.path.name} line {line}: " if self.path and line else ""

    def allows(self, configuration: Configuration) -> bool:
        return bool(self.space().allows([configuration])[0])

    def text(self, name: str, level: Level) -> str:
        """A level of a setting as the study file writes it."""
        return self.written.get(name, {}).get(level, str(level))

    def varied(self, configuration: Configuration) -> Configuration:
        """The settings of a configuration that the study varies."""
        return configuration.only(factor.name for factor in self.factors)

    def space(self) -> "Space":
        """The combinations that the rules allow, found without trying the others."""
        from sparkcast.study.space import Space

        return Space({factor.name: factor.levels for factor in self.factors}, self.fixed, self.rules)

    def measured_definition(self) -> dict[str, Any]:
        """What decides which runs are made and how, as plain data; a change here makes old runs another study's."""
        own = {"options": redact_plain(self.options)} if self.options else {}  # older studies have none
        if self.arrivals is not None:
            own["arrivals"] = self.arrivals.as_plain()
        if self.mix:
            own["mix"] = [part.as_plain() for part in self.mix]
        return own | {
            "workload": self.workload,
            "settings": {**{f.name: list(f.levels) for f in self.factors}, **self.fixed},
            "rules": [rule.text for rule in self.rules],
            "design": self.design.as_plain(),
            "spark": {"master": self.spark.master, "conf": redact(self.spark.conf)},  # a new password is no new study
        }


def differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> tuple[str, ...]:
    """What differs between two `measured_definition`s, one line each.

    >>> differences({"design": {"seed": 1}}, {"design": {"seed": 2}})
    ('design.seed: 1 -> 2',)
    """
    lines: list[str] = []
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if _normal(before) == _normal(after):
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            lines.extend(differences(before, after, f"{prefix}{key}."))
        else:
            lines.append(f"{prefix}{key}: {_shown(before)} -> {_shown(after)}")
    return tuple(lines)


def _normal(value: Any) -> Any:
    """The same for levels that are written differently."""
    if isinstance(value, list):
        return [_normal(item) for item in value]
    return normal_level(value) if isinstance(value, (int, float, str)) else value


def _shown(value: Any) -> str:
    return "(absent)" if value is None else str(value)
