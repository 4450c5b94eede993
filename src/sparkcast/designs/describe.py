"""What a plan can tell apart, computed from the columns of its runs and from nothing else."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.designs._blocks import as_fraction, effect_name
from sparkcast.designs._columns import coding_of, main_columns
from sparkcast.designs._regular import Fraction, bits
from sparkcast.designs.fractional import roman
from sparkcast.designs.power import Power, plan_power
from sparkcast.study import Configuration, Plan, Study
from sparkcast.study.matrix import interaction

_MAX_ORDER = 3  # of effects whose aliases are listed
_SHORT_CHAIN = 7  # words: aliases of every order are listed when the defining relation has no more
_MAX_SHOWN_WORDS = 63
_PARTIAL = 0.2  # the correlation from which an effect of a design that is no regular fraction counts as partly aliased
_MAX_EFFECTS = 60  # whose correlations with each other are all given
_MAX_COMPARED = 1000  # effects whose correlations are computed at all


@dataclass(frozen=True, slots=True)
class Correlation:
    """How alike two effects' columns are: 0 apart, 1 the same. For categories the largest canonical correlation."""

    a: str
    b: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    runs: int  # all of them, center points and replicates included
    combinations: int  # different ones, center points excluded
    center_points: int
    is_regular: bool = False  # a two-level fraction (or the whole) in which effects are either told apart or the same
    not_regular_because: str = ""
    resolution: int | None = None  # None when nothing is aliased, or when the design is not regular
    resolution_text: str
    generators: tuple[str, ...] = ()
    defining_relation: tuple[str, ...] = ()  # the shortest words
    n_words: int = 0
    word_lengths: tuple[int, ...] = ()  # how many words of length 1, 2, 3, ...
    aliases: tuple[tuple[str, ...], ...] = ()  # sets of effects up to third order that are one and the same
    clear: tuple[str, ...]  # main effects and pairs that are aliased with no other of these
    partial_aliases: tuple[Correlation, ...] = ()
    effects: tuple[str, ...]  # main effects and pairs: the rows of `correlations`
    compared_with: tuple[str, ...]  # its columns: the same, but main effects only when there are more than 60
    correlations: tuple[tuple[float, ...], ...]  # absolute
    largest: Correlation | None
    variance_inflation: Mapping[str, float]  # of main effects, by correlation with each other
    d_efficiency: float | None  # of the main effects, 1 for an orthogonal two-level design
    confounded_with_blocks: tuple[str, ...]
    power: Power


def describe(study: Study, plan: Plan, *, effect_sd: float = 1.0) -> Description:
    """Resolution, aliases, correlations and power of a plan."""
    own = [t.configuration for t in plan.trials if t.kind == "factorial"]
    names = [factor.name for factor in study.factors]
    found = as_fraction(study, own)
    columns = _effect_columns(study, own)
    correlations = _correlate(columns)
    pairs = _largest_first(columns, correlations)
    inflation, efficiency = _main_effects(columns)
    compared = columns if len(columns) <= _MAX_EFFECTS else [effect for effect in columns if ":" not in effect.name]
    description = Description(
        runs=len(plan.trials),
        combinations=len({tuple(c[name] for name in names) for c in own}),
        center_points=len(plan.trials) - len(own),
        resolution_text=_resolution_text(found),
        clear=_clear(found, names) if isinstance(found, Fraction) else _apart(columns, pairs),
        effects=tuple(effect.name for effect in columns),
        compared_with=tuple(effect.name for effect in compared),
        correlations=tuple(tuple(round(float(v), 6) for v in row[: len(compared)]) for row in correlations),
        largest=pairs[0] if pairs else None,
        variance_inflation=inflation,
        d_efficiency=efficiency,
        confounded_with_blocks=plan.confounded,
        power=plan_power(study, [t.configuration for t in plan.trials], study.design.replicates, effect_sd),
    )
    if isinstance(found, Fraction):
        return _with_structure(description, found, names)
    partial = tuple(pair for pair in pairs if pair.value >= _PARTIAL)
    return replace(description, not_regular_because=found, partial_aliases=partial)


# ---------------------------------------------------------------- regular fractions


def _with_structure(description: Description, fraction: Fraction, names: Sequence[str]) -> Description:
    """What follows from the defining relation."""
    return replace(
        description,
        is_regular=True,
        resolution=fraction.resolution(),
        generators=tuple(_generator(fraction, word, names) for word in fraction.generators()),
        defining_relation=_relation(fraction, names),
        n_words=fraction.n_words,
        word_lengths=fraction.word_lengths()[1:],
        aliases=_aliases(fraction, names),
    )


def _resolution_text(found: Fraction | str) -> str:
    if isinstance(found, str):
        return f"not a regular two-level design: {found}"
    if not found.k:
        return "nothing is varied: make a setting a list to vary it"
    resolution = found.resolution()
    if resolution is None:
        return f"full 2^{found.k}: nothing is aliased"
    return f"resolution {roman(resolution)}: a 2^({found.k}-{found.k - found.m}) fraction"


def _generator(fraction: Fraction, word: int, names: Sequence[str]) -> str:
    generated = max(bits(word))
    product = word ^ 1 << generated
    sign = "-" if fraction.sign(word) < 0 else ""
    return f"{names[generated]} = {sign}{'*'.join(names[i] for i in bits(product))}"


def _relation(fraction: Fraction, names: Sequence[str]) -> tuple[str, ...]:
    words = fraction.words()[:_MAX_SHOWN_WORDS]
    return tuple(("-" if fraction.sign(word) < 0 else "") + effect_name(word, names) for word in words)


def _alias_sets(fraction: Fraction, highest: int) -> list[list[int]]:
    """Effects up to an order, grouped by the column they share."""
    sets: dict[int, list[int]] = defaultdict(list)
    single = fraction.signatures
    for order in range(1, min(highest, fraction.k) + 1):
        for factors in combinations(range(fraction.k), order):
            signature = effect = 0
            for i in factors:
                signature ^= single[i]
                effect |= 1 << i
            sets[signature].append(effect)
    sets.pop(0, None)  # words: the same as the mean
    return list(sets.values())


def _aliases(fraction: Fraction, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    words = fraction.words() if fraction.n_words <= _SHORT_CHAIN else ()
    chains = []
    for members in _alias_sets(fraction, _MAX_ORDER):
        others = sorted({members[0] ^ word for word in words} - set(members), key=lambda e: (e.bit_count(), e))
        chain = [*members, *others]
        if len(chain) > 1:
            chains.append(tuple(_signed(fraction, chain[0], effect, names) for effect in chain))
    return tuple(chains)


def _signed(fraction: Fraction, first: int, effect: int, names: Sequence[str]) -> str:
    return ("-" if fraction.sign(first) != fraction.sign(effect) else "") + effect_name(effect, names)


def _clear(fraction: Fraction, names: Sequence[str]) -> tuple[str, ...]:
    alone = [members[0] for members in _alias_sets(fraction, 2) if len(members) == 1]
    return tuple(effect_name(effect, names) for effect in sorted(alone, key=lambda e: (e.bit_count(), [*bits(e)])))


# ---------------------------------------------------------------- any design


@dataclass(frozen=True, slots=True)
class _Effect:
    name: str
    columns: Floats  # centered and orthonormal
    raw: Floats


def _effect_columns(study: Study, configurations: Sequence[Configuration]) -> list[_Effect]:
    """Main effects, then pairs as far as they can be compared."""
    coding = coding_of(study, configurations)
    main = {name: columns for name, columns in main_columns(coding, configurations).items() if name in coding.varied}
    raw = dict(main)
    n_pairs = len(main) * (len(main) - 1) // 2
    if len(main) + n_pairs <= _MAX_COMPARED:
        raw |= {f"{a}:{b}": interaction(main[a], main[b]) for a, b in combinations(main, 2)}
    made = []
    for name, columns in raw.items():
        centered = columns - columns.mean(axis=0)
        if columns.shape[1] == 1:
            length = float(np.linalg.norm(centered))
            made.append(_Effect(name, centered / length if length > 1e-9 else centered * 0, columns))
        else:
            left, sizes, _ = np.linalg.svd(centered, full_matrices=False)
            made.append(_Effect(name, left * (sizes > 1e-9), columns))
    return made


def _largest_first(columns: Sequence[_Effect], correlations: Floats) -> list[Correlation]:
    """The largest correlation, and all that count as partial aliases."""
    if len(columns) < 2:
        return []
    above = np.triu(correlations, 1)
    places = np.argwhere(above >= min(_PARTIAL, above.max()))
    found = [Correlation(columns[i].name, columns[j].name, round(float(above[i, j]), 6)) for i, j in places if i < j]
    return sorted(found, key=lambda pair: -pair.value)


def _correlate(columns: Sequence[_Effect]) -> Floats:
    if columns and all(effect.columns.shape[1] == 1 for effect in columns):
        matrix = np.hstack([effect.columns for effect in columns])
        return np.abs(matrix.T @ matrix).clip(0, 1)
    result = np.eye(len(columns))
    for i, j in combinations(range(len(columns)), 2):
        singular = np.linalg.norm(columns[i].columns.T @ columns[j].columns, 2)
        result[i, j] = result[j, i] = min(1.0, float(singular))
    return result


def _apart(columns: Sequence[_Effect], pairs: Sequence[Correlation]) -> tuple[str, ...]:
    touched = {name for pair in pairs if pair.value >= _PARTIAL for name in (pair.a, pair.b)}
    return tuple(effect.name for effect in columns if effect.name not in touched)


def _main_effects(columns: Sequence[_Effect]) -> tuple[dict[str, float], float | None]:
    """Variance inflation of each main effect (generalized to one column), and D-efficiency of all."""
    main = [effect for effect in columns if ":" not in effect.name]
    if not main:
        return {}, None
    matrix = np.hstack([effect.raw for effect in main])
    centered = matrix - matrix.mean(axis=0)
    if np.linalg.matrix_rank(centered) < centered.shape[1]:
        return {}, None
    with_mean = np.hstack([np.ones((len(matrix), 1)), matrix])
    sign, logarithm = np.linalg.slogdet(with_mean.T @ with_mean / len(matrix))
    efficiency = float(np.exp(logarithm / with_mean.shape[1])) if sign > 0 else None
    correlation = np.atleast_2d(np.corrcoef(centered, rowvar=False))
    inverse = np.linalg.inv(correlation)
    inflation, start = {}, 0
    for effect in main:
        part = slice(start, start + effect.raw.shape[1])
        start = part.stop
        generalized = np.linalg.det(np.atleast_2d(correlation[part, part])) * np.linalg.det(inverse[part, part])
        inflation[effect.name] = round(float(generalized) ** (1 / effect.raw.shape[1]), 6)
    return inflation, efficiency
