"""Jobs that could be the one searched for: how their times depend on the settings, and where they fail.

The times are those of the `scaling` models, with shares drawn at random: work done by one process, shared by all cores,
or shared by the machines (their disks and networks), and waiting that grows with the machines. Half of the jobs go over
data again and again that they keep in memory. When all machines together hold less than that, the share that is missing
is made again on every pass; or all of it, because the data that are needed last were dropped first (the usual fate of
a loop over a cache that drops what was used longest ago). Half of the jobs need some resource to run at all, at most as
much memory as their data take.

Settings of which nothing is known make times longer or shorter by a power of them, categories by a ratio per level.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkcast.fitting.encoding import Axis
from sparkcast.search.points import Points
from sparkcast.study import Role
from sparkcast.study.setting import PASSES, SIZES

_ROLES = {"machines": Role.MACHINES, "cores": Role.CORES, "memory": Role.MEMORY}
_SPARSE = 0.5  # of Dirichlet's distribution (Jeffreys): most of the time goes into one or two kinds of work
_AGAIN = (0.1, 30.0)  # the work of making dropped data again, in terms of the work itself
_SLOPE_SD = 0.5  # of the power of an unknown setting
_LEVEL_SD = 0.2  # of the logarithm of the ratio of a level
RARELY = 0.02  # share of runs that fail, or succeed, against all reason


@dataclass(frozen=True, slots=True)
class Jobs:
    """One row per job, one column per candidate."""

    log_times: Any  # up to a constant of each job, which the first run shows
    failures: Any  # probabilities


def draw_jobs(points: Points, n: int, seed: int) -> Jobs:
    import numpy as np

    rng = np.random.default_rng(seed)
    roles = _roles(points)
    machines, cores = roles.get("machines", 1.0), roles.get("cores", 1.0)
    ones = np.ones(len(points.candidates))
    serial, by_core, by_machine, waiting = (_relative(ones * part) for part in _parts(machines, cores))
    shares = rng.dirichlet([_SPARSE] * 4, n)[:, :, None]
    divided = shares[:, 1] * by_core + shares[:, 2] * by_machine
    times = shares[:, 0] * serial + divided + shares[:, 3] * waiting
    total = _relative(machines * roles["memory"] * ones) if "memory" in roles else ones
    needed = _within(rng, total, n)
    times = times + _again(rng, n) * _missing(rng, total, needed) * divided
    return Jobs(np.log(times) + _others(rng, points, n), _failures(rng, points, roles, total, needed))


def flat(jobs: Jobs) -> Jobs:
    """The same jobs where nothing is known of the answer, but of the failures."""
    import numpy as np

    return Jobs(np.zeros_like(jobs.log_times), jobs.failures)


def _roles(points: Points) -> dict[str, Any]:
    """The settings whose meaning is known, by candidate."""
    columns = {axis.name: points.encoded[:, j] for j, axis in enumerate(points.domain.axes)}
    return {role: columns[name] for role, name in _role_names(points).items()}


def _role_names(points: Points) -> dict[str, str]:
    positive = tuple(axis.name for axis in points.domain.axes if axis.is_positive)
    found = {part: points.domain.first(role, among=positive) for part, role in _ROLES.items()}
    return {part: name for part, name in found.items() if name is not None}


def _parts(machines: Any, cores: Any) -> tuple[Any, Any, Any, Any]:
    return 1.0, 1 / (machines * cores), 1 / machines, machines


def _relative(values: Any) -> Any:
    """1 in the middle of the candidates, so that shares are shares of the time there."""
    import numpy as np

    return values / np.exp(np.log(values).mean())


def _within(rng: Any, values: Any, n: int) -> Any:
    import numpy as np

    return np.exp(rng.uniform(np.log(values.min()), np.log(values.max()), (n, 1)))


def _again(rng: Any, n: int) -> Any:
    import numpy as np

    return np.exp(rng.uniform(*np.log(_AGAIN), (n, 1))) * (rng.random((n, 1)) < 0.5)


def _missing(rng: Any, total: Any, needed: Any) -> Any:
    import numpy as np

    share = np.maximum(0.0, 1 - total / needed)
    return np.where(rng.random(needed.shape) < 0.5, share, share > 0)


def _others(rng: Any, points: Points, n: int) -> Any:
    """The logarithm of what all other settings do."""
    import numpy as np

    found, known = np.zeros((n, len(points.candidates))), set(_role_names(points).values())
    for j, axis in enumerate(points.domain.axes):
        if axis.is_constant or axis.name in known:
            continue
        column = points.encoded[:, j]
        if axis.numbers is None:
            found += rng.normal(0, _LEVEL_SD, (n, len(axis.levels)))[:, column.astype(int)]
        elif axis.role in (*SIZES, *PASSES) and axis.is_positive:
            found += rng.uniform(0, 1, (n, 1)) * np.log(column)  # between no matter and proportional
        else:
            found += rng.normal(0, _SLOPE_SD, (n, 1)) * _centred(axis, column)
    return found


def _centred(axis: Axis, column: Any) -> Any:
    import numpy as np

    values = np.log(column) if axis.is_positive else column / np.ptp(column)
    return values - values.mean()


def _failures(rng: Any, points: Points, roles: Mapping[str, Any], total: Any, needed: Any) -> Any:
    """Half of the jobs fail below some amount of one resource."""
    import numpy as np

    resources = _resources(points, roles, total)
    fails = np.zeros((len(needed), len(points.candidates)), dtype=bool)
    if resources:
        which = rng.integers(0, len(resources), len(needed))
        least = rng.random((len(needed), 1))
        for k, resource in enumerate(resources):
            most = np.log(needed) if resource is resources[0] and "memory" in roles else resource.max()
            fails |= (which == k)[:, None] & (resource < resource.min() + least * (most - resource.min()))
    fails &= rng.random((len(needed), 1)) < 0.5
    return np.where(fails, 1 - RARELY, RARELY)


def _resources(points: Points, roles: Mapping[str, Any], total: Any) -> list[Any]:
    """What a job may need some amount of: memory, and of settings with no known meaning more or less of any."""
    import numpy as np

    found, known = [], set(_role_names(points).values()) if "memory" in roles else set()
    if "memory" in roles:
        per_core = np.log(roles["memory"] / roles.get("cores", 1.0))
        found = [np.log(total), *([per_core] if np.ptp(per_core) > 0 else [])]
    for j, axis in enumerate(points.domain.axes):
        column = points.encoded[:, j]
        if axis.is_constant or axis.name in known:
            continue
        if axis.is_number:
            found += [_centred(axis, column), -_centred(axis, column)]
        else:
            found += [(column != code) * 1.0 for code in range(len(axis.levels))]
    return found
