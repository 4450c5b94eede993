"""Settings whose effects the runs cannot tell apart, and the runs that would."""

from collections.abc import Sequence

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.recommend.evaluation import Asked, RunRecord
from sparkcast.study import Configuration, Level
from sparkcast.units import as_number

_MOST_CANDIDATES = 2000  # looked at
_MOST_NAMED = 4  # settings
_MOST_RUNS = 2
_NEGLIGIBLE = 1e-6


def untold_note(asked: Asked, known: RunRecord) -> str | None:
    """None where every candidate differs from the runs only in settings whose effects these tell.

    Each setting is taken to have one effect (of its logarithm), and each category one for each further level. Where
    candidates differ in a way that no combination of runs does, a prediction for them is an assumption of the model.
    """
    ran = [seen.configuration for seen in known.seen if seen.ok]
    rows = np.flatnonzero(asked.kept)
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, _MOST_CANDIDATES).round().astype(int))]
    candidates = asked.view.candidates.configurations(rows)
    levels = {
        name: tuple(dict.fromkeys([*(c[name] for c in ran), *(c[name] for c in candidates)])) for name in known.factors
    }
    owners, measured, possible = _owners(levels), _matrix(levels, ran), _matrix(levels, candidates)
    scale = np.maximum(np.abs(measured).max(axis=0), np.abs(possible).max(axis=0))
    scale[scale == 0] = 1.0
    measured, possible = measured / scale, possible / scale
    beyond, told = _beyond(possible, measured), measured
    if np.abs(beyond).max(initial=0.0) < _NEGLIGIBLE:
        return None
    columns = np.flatnonzero(np.abs(beyond).max(axis=0) > _NEGLIGIBLE)
    names = list(dict.fromkeys(owners[j] for j in columns if owners[j]))
    helpful: list[Configuration] = []
    while len(helpful) < _MOST_RUNS and np.abs(left := _beyond(possible, told)).max() >= _NEGLIGIBLE:
        best = int(np.argmax((left**2).sum(axis=1)))
        helpful.append(candidates[best])
        told = np.vstack([told, possible[best]])
    which = ", ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} of the {len(known.factors)} settings"
    return (
        f"the {len(ran)} configurations that were run cannot tell the effects of {which} apart; run "
        f"{'this one' if len(helpful) == 1 else 'these'} first: {'; '.join(map(str, helpful))}"
    )


def _beyond(rows: Floats, known: Floats) -> Floats:
    """What is left of rows after the best combination of known ones."""
    _, sizes, directions = np.linalg.svd(known, full_matrices=False)
    kept = directions[sizes > _NEGLIGIBLE * sizes.max(initial=0.0)]
    left: Floats = rows - (rows @ kept.T) @ kept
    return left


def _owners(levels: dict[str, tuple[Level, ...]]) -> list[str]:
    """Whose effect each column of `_matrix` is; the first one is the mean of all runs."""
    return ["", *(name for name, own in levels.items() for _ in range(1 if _is_number(own) else len(own) - 1))]


def _matrix(levels: dict[str, tuple[Level, ...]], configurations: Sequence[Configuration]) -> Floats:
    columns: list[Floats] = [np.ones(len(configurations))]
    for name, own in levels.items():
        values = [configuration[name] for configuration in configurations]
        if _is_number(own):
            numbers = np.array([as_number(value) or 0.0 for value in values])
            is_positive = all((as_number(level) or 0.0) > 0 for level in own)
            columns.append(np.log(numbers) if is_positive else numbers)
        else:
            columns += [np.array([float(value == level) for value in values]) for level in own[1:]]
    return np.column_stack(columns)


def _is_number(levels: Sequence[Level]) -> bool:
    return all(as_number(level) is not None for level in levels)
