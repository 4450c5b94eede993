"""Which model the runs can support: chosen from the settings alone, or the p values would lie."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

import numpy as np
import pandas as pd

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.study import Observation
from sparkcast.study.estimable import MIN_RESIDUAL_DF, ToldApart, leaving
from sparkcast.study.formula import Formula, make_formula, read_formula, term_label, terms_of
from sparkcast.study.matrix import Coding, model_columns, model_matrix

# Below this share of its own length a column is a combination of others, up to rounding.
_TOLERANCE = 1e-7
_MAX_COLUMNS = 400  # of one interaction
_MOST_SHOWN = 6  # of aliases
_MIN_FOR_IDENTIFIER = 8  # runs; in fewer, a category may well be different in each


@dataclass(frozen=True)
class CodedRuns:
    """The settings of the runs as a coded frame."""

    coding: Coding
    frame: "pd.DataFrame"

    @classmethod
    def of(cls, factors: Sequence[str], runs: Sequence[Observation]) -> "CodedRuns":
        coding = Coding.of({name: [run.configuration[name] for run in runs] for name in factors})
        return cls(coding, coding.frame([run.configuration for run in runs]))

    def __len__(self) -> int:
        return len(self.frame)

    @cached_property
    def codes(self) -> "pd.DataFrame":
        """The place of each run's level among the levels of each factor: a pandas frame of whole numbers."""
        columns = {name: self.frame[f"levels_{i}"].cat.codes for i, name in enumerate(self.coding.factors)}
        return pd.DataFrame(columns, dtype="int64")

    def matrix(self, formula: Formula) -> Floats:
        return model_matrix(formula, self.frame)


def default_model(runs: CodedRuns, notes: list[str]) -> Formula:
    """Main effects, bends, and the two-factor interactions that the runs can tell apart; `notes` gets the rest."""
    coding = runs.coding
    names = coding.varied
    constant = [name for name in coding.factors if name not in names]
    notes += [
        f"{name} is {coding.levels[name][0]} in every run, so its effect cannot be estimated" for name in constant
    ]
    if not names:
        raise NotEnoughDataError("no factor has two levels among the successful runs", hint="vary at least one setting")
    for name in names:
        if not coding.is_number(name) and len(coding.levels[name]) == len(runs) >= _MIN_FOR_IDENTIFIER:
            raise StudyError(
                f"{name} is different in every run: it looks like a run ID, not a setting",
                hint=f"leave {name} out: `factors={[n for n in names if n != name] or '...'}`",
            )
    names = _without_determined(runs, names, notes)
    distinct = _distinct(runs)
    for i in range(1, len(names) + 1):
        check_told_apart(distinct, make_formula(coding, names[:i], bends=()))
    check_estimable(runs, make_formula(coding, names, bends=()))
    known = ToldApart(distinct.matrix(make_formula(coding, names, bends=())))
    bends = [
        name for name in coding.bendable if known.add(distinct.matrix(make_formula(coding, [], bends=[name]))[:, 1:])
    ]
    pairs: list[tuple[str, str]] = []
    aliased: list[tuple[str, str]] = []
    for pair in combinations(names, 2):
        # Of two settings with hundreds of categories each, the interaction alone would fill the memory.
        is_small = _columns(coding, *pair) <= min(len(distinct), _MAX_COLUMNS)
        is_new = is_small and known.add(distinct.matrix(make_formula(coding, [], [pair], bends=()))[:, 1:])
        (pairs if is_new else aliased).append(pair)
    notes += _alias_notes(distinct, aliased, names, bends, pairs)
    dropped = _drop_costliest(runs, names, bends, pairs)
    if dropped:
        notes.append(
            f"too few runs to estimate {', '.join(dropped)}; left out, so any effect ends up in the residuals; "
            "replicates would help"
        )
    return make_formula(coding, names, pairs, bends=bends)


def _alias_notes(
    distinct: CodedRuns,
    aliased: Sequence[tuple[str, str]],
    names: Sequence[str],
    bends: Sequence[str],
    pairs: Sequence[tuple[str, str]],
) -> list[str]:
    """What interactions that were left out look like."""
    notes: list[str] = []
    twins = {pair: _twin(distinct, pair, names, bends, pairs) for pair in aliased}
    aliases = [f"{twin} or {':'.join(pair)}" for pair, twin in twins.items() if twin]
    if aliases:
        notes.append(
            f"the runs cannot tell apart {'; '.join(aliases[:_MOST_SHOWN])}{_and_more(aliases)}: an effect of either "
            "is shown as that of the first"
        )
    if mixed := [pair for pair in aliased if not twins[pair]]:
        notes.append(
            f"{_shown(mixed)} cannot be separated from other terms in these runs (aliased, or combinations "
            "are missing); left out, so any effect is attributed to those terms"
        )
    return notes


def fewer_terms(runs: CodedRuns, formula: Formula, n_blocks: int) -> Formula:
    """What is left of a formula when blocks, not runs, are counted: interactions leave it, then bends."""
    if runs.matrix(formula).shape[1] + MIN_RESIDUAL_DF <= n_blocks:
        return formula
    terms = terms_of(formula)
    shapes = [[t for t in terms if len(t) == 1], [t for t in terms if len(t) == 1 and not t[0].startswith("curve")]]
    for kept in shapes:
        internal = " + ".join(":".join(term) for term in kept)
        smaller = Formula(
            " + ".join(term_label(":".join(t), runs.coding.factors) for t in kept), internal, formula.names
        )
        if runs.matrix(smaller).shape[1] < n_blocks:
            return smaller
    return smaller


def _drop_costliest(runs: CodedRuns, names: Sequence[str], bends: list[str], pairs: list[tuple[str, str]]) -> list[str]:
    """Take out interactions, the costliest first, then bends, until something is left to judge the noise by."""
    coding = runs.coding
    sizes = [_columns(coding, *pair) for pair in pairs]
    free = len(runs) - 1 - sum(_columns(coding, n) for n in names) - len(bends) - sum(sizes)
    places, n_bends = leaving(free, sizes, len(bends))
    gone = [pairs[place] for place in places]
    pairs[:] = [pair for pair in pairs if pair not in gone]
    return [*map(":".join, gone), *(f"{bends.pop()}^2" for _ in range(n_bends))]


def _columns(coding: Coding, *names: str) -> int:
    """The degrees of freedom of a main effect or an interaction."""
    return math.prod(1 if coding.is_number(name) else len(coding.levels[name]) - 1 for name in names)


def _distinct(runs: CodedRuns) -> CodedRuns:
    frame = runs.frame.drop_duplicates()
    # What a few thousand settings tell apart, more of them do too.
    return CodedRuns(runs.coding, frame if len(frame) <= 5000 else frame.sample(5000, random_state=0))


def _shown(pairs: Sequence[tuple[str, str]]) -> str:
    names = [":".join(pair) for pair in pairs]
    return ", ".join(names[:_MOST_SHOWN]) + _and_more(names)


def _and_more(names: Sequence[str]) -> str:
    return f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""


def _twin(
    runs: CodedRuns, pair: tuple[str, str], names: Sequence[str], bends: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> str:
    """The one term of a model that an interaction equals in these runs; "" where it is a mixture, or none."""
    coding = runs.coding
    if _columns(coding, *pair) != 1:
        return ""
    column = runs.matrix(make_formula(coding, [], [pair], bends=()))[:, 1]
    for name in names:
        known = runs.matrix(make_formula(coding, [name], bends=()))
        if known.shape[1] == 2 and _is_combination(column, known):
            return name
    for other in pairs:
        known = runs.matrix(make_formula(coding, [], [other], bends=()))
        if known.shape[1] == 2 and _is_combination(column, known):
            return ":".join(other)
    for name in bends:
        if _is_combination(column, runs.matrix(make_formula(coding, [], bends=[name]))):
            return f"{name}^2"
    return ""


def _is_combination(column: Floats, known: Floats) -> bool:
    rest = column - known @ np.linalg.lstsq(known, column, rcond=None)[0]
    return float(np.linalg.norm(rest)) <= _TOLERANCE * max(1.0, float(np.linalg.norm(column)))


def _without_determined(runs: CodedRuns, names: Sequence[str], notes: list[str]) -> tuple[str, ...]:
    """The settings less those that another one determines, which `notes` names: `machine` determines `cloud`."""
    kept = list(names)
    for name in names:
        others = [other for other in kept if other != name and determines(runs, other, name)]
        if not others:
            continue
        # Of two that always change together the first stays; of a number with as many levels as the other, too.
        both = [other for other in others if determines(runs, name, other)]
        if both and kept.index(name) < kept.index(both[0]) and len(both) == len(others):
            continue
        kept.remove(name)
        notes.append(_determined(runs, others[0], name))
    return tuple(kept)


def determines(runs: CodedRuns, first: str, second: str) -> bool:
    """Whether each level of one setting occurs with one level of the other only.

    A number drawn at random is another one in each configuration, which says nothing about the other settings.
    """
    levels = runs.codes[first].nunique()
    if runs.coding.is_number(first) and _MIN_FOR_IDENTIFIER <= levels == len(runs.codes.drop_duplicates()):
        return False
    return levels == len(runs.codes[[first, second]].drop_duplicates())


def _determined(runs: CodedRuns, first: str, second: str) -> str:
    if determines(runs, second, first):
        return (
            f"`{first}` and `{second}` always change together, so their effects cannot be told apart; {second} is left "
            f"out, and an effect of either is shown as that of {first}"
        )
    return (
        f"`{first}` determines `{second}` (each {first} has one {second}), so {second} is left out: an effect of it is "
        f"shown as that of {first}"
    )


def addable(runs: CodedRuns, formula: Formula, most: int = 3) -> list[str]:
    """Terms that a model lacks and the runs can tell apart from it, as one would write them: pairs, levels, triples."""
    coding, matrix = runs.coding, runs.matrix(formula)
    is_number = {name: coding.is_number(name) for name in coding.factors}
    present = {frozenset(coding.factors[int(code.partition("_")[2])] for code in term) for term in terms_of(formula)}
    pairs, triples = (
        [":".join(names) for names in combinations(formula.names, size) if frozenset(names) not in present]
        for size in (2, 3)
    )
    bent = [f"C({name})" for name in formula.names if name in coding.bendable]
    found: list[str] = []
    for text in (*pairs, *bent, *triples):
        if len(found) == most:
            break
        if text.count(":") and _columns(coding, *text.split(":")) > _MAX_COLUMNS:
            continue
        columns = runs.matrix(read_formula(text, "", coding.factors, is_number))[:, 1:]
        both = np.hstack([matrix, columns])
        if both.shape[1] < len(both) and np.linalg.matrix_rank(both) > matrix.shape[1]:
            found.append(text)
    return found


def written_model(runs: CodedRuns, text: str, response: str) -> Formula:
    """A user's formula, checked against what the runs can tell."""
    coding = runs.coding
    is_number = {name: coding.is_number(name) for name in coding.factors}
    formula = read_formula(text, response, coding.factors, is_number)
    _check_hierarchy(formula, coding)
    check_estimable(runs, formula)
    return formula


def _check_hierarchy(formula: Formula, coding: Coding) -> None:
    """An interaction without its main effects would mean something else in every coding of the settings."""
    terms = terms_of(formula)
    known = {frozenset(term) for term in terms}
    for term in terms:
        smaller = [tuple(other for other in term if other != part) for part in term]
        smaller += [(part.replace("curve", "number"),) for part in term if part.startswith("curve")]
        for lacking in smaller:
            if lacking and frozenset(lacking) not in known:
                shown, missing = (term_label(":".join(part), coding.factors) for part in (term, lacking))
                raise StudyError(
                    f"formula {formula.text!r} has {shown} without {missing}",
                    hint="include the main effects too: a * b is a + b + a:b",
                )


def check_told_apart(runs: CodedRuns, formula: Formula) -> None:
    matrix = runs.matrix(formula)
    gram = matrix.T @ matrix
    if np.linalg.matrix_rank(gram, hermitian=True, tol=gram.max() * _TOLERANCE) < matrix.shape[1]:
        raise NotEnoughDataError(
            f"the runs cannot separate the terms of {formula.text!r}: {_why_alike(runs, formula)}",
            hint="run the missing combinations, or use fewer terms in the formula",
        )


def _why_alike(runs: CodedRuns, formula: Formula) -> str:
    """The settings, or the terms, that cannot be told apart."""
    for first, second in permutations(formula.names, 2):
        if determines(runs, first, second):
            together = determines(runs, second, first)
            return (
                f"`{first}` and `{second}` always change together" if together else f"`{first}` determines `{second}`"
            )
    places, matrix = model_columns(formula, runs.frame)
    _, sizes, right = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=0), full_matrices=False)
    involved = np.abs(right[sizes <= sizes.max() * _TOLERANCE**0.5]).max(axis=0, initial=0.0) > 1e-3
    terms = [term_label(term, runs.coding.factors) for term, at in places.items() if involved[at].any()]
    if len(terms) < 2:
        return "some settings always change together, or combinations are missing"
    return f"{', '.join(terms[:-1])} and {terms[-1]} always change together, or combinations are missing"


def check_estimable(runs: CodedRuns, formula: Formula) -> None:
    coding = runs.coding
    for name in formula.names:
        if name not in coding.varied:
            raise NotEnoughDataError(
                f"{name} is {coding.levels[name][0]} in every run, so its effect cannot be estimated",
                hint=f"run other levels of {name}, or leave it out of the formula",
            )
    matrix = runs.matrix(formula)
    rows, columns = matrix.shape
    if columns < 2:
        raise StudyError(f"formula {formula.text!r} leaves no term", hint="include at least one factor")
    if columns > rows:
        raise StudyError(
            f"{formula.text!r} has {columns} parameters, more than the {rows} runs",
            hint="use fewer terms in the formula, or do more runs",
        )
    check_told_apart(runs, formula)
    if columns == rows:
        raise NotEnoughDataError(
            f"{rows} runs are too few for {formula.text!r}: no degrees of freedom are left to estimate the noise",
            hint="run every configuration at least twice (replicates: 2), or use fewer terms in the formula",
        )
