"""The prior as it would be had a data set never been measured: learned again from the jobs of all others.

One step of expectation maximization, as `priors.py` prints it: the pooled numbers take the place of those in use.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from _jobs import Job
from priors import Said, learn, pooled, said_by

from sparkcast.fitting import prior
from sparkcast.fitting.uncertainty import one_thread
from sparkcast.study import Role

_SIZES = {
    "noise": "_NOISE",
    "between": "_BETWEEN",
    "remainder": "_REMAINDER",
    "lengths": "_LENGTH",
    "offsets": "_OFFSET",
    "distance": "_DISTANCE",
    "cliff": "_CLIFF",
}
_CHANCES = {"serial part": "_NO_SERIAL_PART", "growth": "_GROWS_WITH_MACHINES", "cliff": "_HAS_CLIFF"}
_FEWEST = 3  # jobs that tell a number; of fewer it stays as it is

Numbers = Mapping[str, Any]  # of the module of the prior, by name


def learned(jobs: Sequence[Job], n: int = 20, seed: int = 0) -> list[Said]:
    """What up to n random configurations of each job say of every quantity."""
    with one_thread():
        return [said for job in jobs for said in said_by(job, learn(job, n, 0, seed))]


def without(data_set: str, found: Sequence[Said]) -> Numbers:
    others = [one for one in found if one.job.data_set != data_set and len(one.values)]
    by_quantity: dict[tuple[str, str], list[Said]] = {}
    for one in others:
        by_quantity.setdefault((one.kind, one.quantity), []).append(one)
    numbers: dict[str, Any] = {"_POWERS": dict(prior._POWERS)}
    for (kind, quantity), said in by_quantity.items():
        if len({one.job.label for one in said}) < _FEWEST:
            continue
        number = pooled(said[0].kind, said)
        if kind == "size":
            numbers[_SIZES[quantity]] = number
        elif kind == "power" and quantity in [role.value for role in prior._POWERS]:
            # What particles expect varies less than powers do: they are unsure, too.
            role = Role(quantity)
            numbers["_POWERS"][role] = (number[0], max(number[1], prior._POWERS[role][1]))
        elif kind == "chance" and quantity in _CHANCES:
            numbers[_CHANCES[quantity]] = 1 - number[1] if quantity == "serial part" else number[1]
    if "_LENGTH" in numbers:  # of all settings together: less what each adds
        middle, spread = numbers["_LENGTH"]
        numbers["_LENGTH"] = middle, float(np.sqrt(max(spread**2 - prior._LENGTH_EACH**2, 0.01)))
    return numbers


@contextmanager
def in_use(numbers: Numbers) -> Iterator[None]:
    before = {name: getattr(prior, name) for name in numbers}
    try:
        for name, number in numbers.items():
            setattr(prior, name, number)
        yield
    finally:
        for name, number in before.items():
            setattr(prior, name, number)
