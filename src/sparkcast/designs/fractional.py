"""A fraction of the 2^k combinations of two-level factors, chosen so that important effects are told apart."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import xor

import numpy as np

from sparkcast.designs import DESIGNS, Chosen, TimeOf
from sparkcast.designs._generators import LETTERS, MAX_LOG_RUNS, generators_for, resolution_of, runs_of, smallest_for
from sparkcast.designs._regular import find_fraction, signs
from sparkcast.errors import SparkcastError, StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Factor, Level, Study, natural_order
from sparkcast.units import as_number

_ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV")
_COMFORTABLE = 64  # runs: the most that the default spends to keep pairs of factors apart


def roman(resolution: int) -> str:
    """
    >>> roman(4), roman(20)
    ('IV', '20')
    """
    return _ROMAN[resolution] if resolution < len(_ROMAN) else str(resolution)


@DESIGNS.register("fractional")
@dataclass(frozen=True, slots=True)
class Fractional:
    """A 2^(k-p) fraction of two-level factors, by resolution, number of runs or generators.

    resolution: V or 5; the fewest runs that reach it are taken
    runs: 16; a power of two; the highest resolution they allow is taken
    generators: [F = A*B*C, G = B*C*D]; names of factors, or letters for the factors in order without I: F=ABC

    Without options: resolution V in at most 64 runs, else resolution IV; of three or four factors one half.
    """

    resolution: int | str | None = None
    runs: int | None = None
    generators: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.resolution is not None:
            object.__setattr__(self, "resolution", _read_resolution(self.resolution))
        if self.runs is not None and (self.runs < 4 or self.runs & (self.runs - 1)):
            below = max(4, 1 << (max(self.runs, 1).bit_length() - 1))
            raise StudyError(
                f"design.runs = {self.runs} is not a power of two of at least 4",
                hint=f"a two-level fraction has 4, 8, 16, ... runs; use runs: {below} or runs: {2 * below}",
            )
        if self.generators and self.runs is not None:
            raise StudyError("design.generators already determines the number of runs", hint="leave out runs")

    def choose(self, study: Study, time_of: TimeOf | None = None) -> Chosen:
        levels = [_two_levels(study, factor, self) for factor in study.factors]
        k = len(levels)
        if k < 3:
            raise StudyError(
                f"{study.where('design')}a fraction needs at least three factors, but the study has {k}",
                hint="use design kind: two-level",
            )
        if self.generators:
            runs, stated = self._from_generators(study)
        else:
            m = self._log_runs(study, k)
            words = generators_for(k, m)
            assert words is not None
            runs, stated = runs_of(words, m), resolution_of(words, m)
        require_fraction(runs, k, stated)
        names = [factor.name for factor in study.factors]
        chosen = [Configuration((name, levels[i][run >> i & 1]) for i, name in enumerate(names)) for run in runs]
        return Chosen([configuration | study.fixed for configuration in chosen])

    def _log_runs(self, study: Study, k: int) -> int:
        if self.runs is not None:
            return self._given_runs(study, k)
        if self.resolution is None:
            return _default_log_runs(k)
        assert isinstance(self.resolution, int)
        if self.resolution > k:
            raise StudyError(
                f"{study.where('design', 'resolution')}{k} factors allow a fraction of resolution {roman(k)} at "
                f"most, not {roman(self.resolution)}",
                hint=f"resolution: {roman(k)} takes {2 ** (k - 1)} runs; kind: two-level takes all {2**k}",
            )
        m = smallest_for(k, self.resolution)
        if m is None:
            raise StudyError(
                f"{study.where('design', 'resolution')}resolution {roman(self.resolution)} of {k} factors takes more "
                f"than {2**MAX_LOG_RUNS} runs",
                hint=(
                    "use a lower resolution: IV separates main effects from two-factor interactions, V those "
                    "from each other"
                ),
            )
        return m

    def _given_runs(self, study: Study, k: int) -> int:
        assert self.runs is not None
        m = self.runs.bit_length() - 1
        if m >= k:
            raise StudyError(
                f"{study.where('design', 'runs')}{k} two-level factors have {2**k} combinations, so {self.runs} "
                "runs are not a fraction of them",
                hint="use design kind: two-level, with replicates for more runs",
            )
        words = generators_for(k, m)
        if words is None:
            least = k.bit_length()
            raise StudyError(
                f"{study.where('design', 'runs')}{self.runs} runs allow at most {2**m - 1} two-level factors, not {k}",
                hint=f"runs: {2**least}",
            )
        if isinstance(self.resolution, int) and resolution_of(words, m) < self.resolution:
            needed = smallest_for(k, self.resolution) if self.resolution <= k else None
            raise StudyError(
                f"{study.where('design', 'runs')}{k} factors in {self.runs} runs have resolution "
                f"{roman(resolution_of(words, m))}, not {roman(self.resolution)}",
                hint=f"runs: {2**needed}" if needed else f"{k} factors allow resolution {roman(k)} at most",
            )
        return m

    def _from_generators(self, study: Study) -> tuple[list[int], int]:
        names = [factor.name for factor in study.factors]
        try:
            products = _resolve([_read_generator(text, names) for text in self.generators], names)
        except StudyError as error:
            raise StudyError(f"{study.where('design', 'generators')}{error.problem}", hint=error.hint) from error
        free = [i for i in range(len(names)) if i not in products]
        runs = []
        for number in range(2 ** len(free)):
            run = sum((number >> j & 1) << i for j, i in enumerate(free))
            for i, (sign, word) in products.items():
                low = word.bit_count() - (word & run).bit_count() + (sign < 0)
                run |= (low % 2 == 0) << i
            runs.append(run)
        fraction = find_fraction(runs, len(names))
        stated = 0 if isinstance(fraction, str) else fraction.resolution() or 0
        if stated < 3:
            raise StudyError(
                f"{study.where('design', 'generators')}with these generators some factors always change together",
                hint="give each generated factor its own product of two or more other factors",
            )
        if isinstance(self.resolution, int) and stated < self.resolution:
            raise StudyError(
                f"{study.where('design', 'generators')}these generators have resolution {roman(stated)}, not "
                f"{roman(self.resolution)}",
                hint="leave out the generators; sparkcast knows the best ones for each resolution",
            )
        return runs, stated


def require_fraction(runs: Sequence[int], k: int, resolution: int) -> None:
    """Raise unless these runs are balanced, orthogonal and of this resolution, judged by their columns alone."""
    matrix = signs(runs, k)
    products = matrix.T @ matrix
    fraction = find_fraction(runs, k)
    found = None if isinstance(fraction, str) else fraction.resolution()
    is_orthogonal = (products == len(runs) * (products.diagonal()[:, None] > 0) * np.eye(k, dtype=np.int64)).all()
    if matrix.sum(axis=0).any() or not is_orthogonal or found != resolution:
        raise SparkcastError(
            f"internal error: {len(runs)} runs of {k} factors should be a fraction of resolution {roman(resolution)}, "
            f"but it is {'none' if found is None else roman(found)}"
        )


def _default_log_runs(k: int) -> int:
    fifth = smallest_for(k, 5) if k >= 5 else None
    if fifth is not None and 2**fifth <= _COMFORTABLE:
        return fifth
    return smallest_for(k, min(k, 4)) or k - 1


def _read_resolution(value: int | str) -> int:
    text = str(value).strip().upper()
    number = _ROMAN.index(text) if text and text in _ROMAN else int(text) if text.isdigit() else None
    if number is None or number < 3:
        raise StudyError(
            f"design.resolution = {value!r} is not a resolution", hint="write III, IV, V, ... or 3, 4, 5, ..."
        )
    return number


def _two_levels(study: Study, factor: Factor, design: Fractional) -> tuple[Level, Level]:
    if len(factor.levels) == 2:
        low, high = natural_order(factor.levels)
        return low, high
    place = study.where("settings", factor.name) or study.where("design")
    problem = f"{place}a fraction needs two-level factors, but {factor.name} has {len(factor.levels)}"
    enough = _enough_runs(study)
    other = f"use design: {{kind: optimal, runs: {enough}}}, which uses all levels"
    if any(as_number(level) is None for level in factor.levels):
        raise StudyError(f"{problem}: {list(factor.levels)}", hint=f"list two of them, or {other}")
    ordered = natural_order(factor.levels)
    raise StudyError(
        f"{problem}: {list(factor.levels)}",
        hint=f"list only its extremes, {factor.name}: [{ordered[0]}, {ordered[-1]}], or {other}",
    )


def _enough_runs(study: Study) -> int:
    """Runs that let `optimal` estimate its default model with some to spare."""
    sizes = []
    for factor in study.factors:
        is_number = all(as_number(level) is not None for level in factor.levels)
        sizes.append((1 if is_number else len(factor.levels) - 1, int(is_number and len(factor.levels) > 2)))
    main = sum(size + bend for size, bend in sizes)
    total = sum(size for size, _ in sizes)
    pairs = (total**2 - sum(size**2 for size, _ in sizes)) // 2
    return 1 + main + pairs + 5


# ---------------------------------------------------------------- generators as people write them


def _read_generator(text: str, names: Sequence[str]) -> tuple[int, int, int]:
    """The generated factor, the sign, and the product (bits) it equals."""
    left, equals, right = (part.strip() for part in text.partition("="))
    negative = right.startswith("-")
    right = right.removeprefix("-").removeprefix("+").strip()
    if not equals or not right or not left:
        raise StudyError(f"{text!r} is not a generator", hint="write it like: F = A*B*C, or F=ABC with letters")
    [target] = _factors(left, names, text) if left in names or len(left) == 1 else [_index(left, names, text)]
    product = reduce(xor, (1 << i for i in _factors(right, names, text)), 0)
    return target, -1 if negative else 1, product


def _factors(text: str, names: Sequence[str], whole: str) -> list[int]:
    parts = [part.strip() for part in re.split(r"[*:]", text)]
    if len(parts) == 1 and parts[0] not in names and all(letter in LETTERS for letter in parts[0]):
        found = [LETTERS.index(letter) for letter in parts[0]]
        if max(found) >= len(names):
            last = LETTERS[min(len(names), len(LETTERS)) - 1]
            raise StudyError(
                f"generator {whole!r} uses the letter {LETTERS[max(found)]}, but the factors are A to {last}",
                hint="letters stand for the factors in order, skipping I: " + _letters(names),
            )
        return found
    return [_index(part, names, whole) for part in parts]


def _index(name: str, names: Sequence[str], whole: str) -> int:
    if name in names:
        return names.index(name)
    if len(name) == 1 and name in LETTERS[: len(names)]:
        return LETTERS.index(name)
    raise StudyError(f"generator {whole!r} uses {name!r}, which is not a factor", hint=did_you_mean(name, list(names)))


def _letters(names: Sequence[str]) -> str:
    return ", ".join(f"{letter} = {name}" for letter, name in zip(LETTERS, names, strict=False))


def _resolve(generators: Sequence[tuple[int, int, int]], names: Sequence[str]) -> Mapping[int, tuple[int, int]]:
    """For each generated factor its sign and its product of factors that are free."""
    open_ = {}
    for target, sign, product in generators:
        if target in open_:
            raise StudyError(f"there are two generators for {names[target]}", hint="give one per generated factor")
        open_[target] = (sign, product)
    done: dict[int, tuple[int, int]] = {}
    while open_:
        ready = [t for t, (_, product) in open_.items() if not any(product >> other & 1 for other in open_)]
        if not ready:
            circle = ", ".join(names[t] for t in open_)
            raise StudyError(
                f"the generators of {circle} are circular",
                hint="define a generated factor as a product of factors that do not depend on it",
            )
        for target in ready:
            sign, product = open_.pop(target)
            for other, (other_sign, word) in list(done.items()):
                if product >> other & 1:
                    product, sign = product ^ (1 << other) ^ word, sign * other_sign
            done[target] = (sign, product)
    return done
