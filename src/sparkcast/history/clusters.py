"""Which cluster suits a job: from other jobs that ran on the same clusters, and from its own runs when there are some.

The logarithm of a job's time on a cluster is a level of the job, plus what the cluster does to most jobs, plus how this
job differs. How jobs differ is learned: a normal distribution over clusters, whose covariance is that of the other
jobs, with what clusters of alike resources have in common. Runs of the job itself are conditioned on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.errors import NotEnoughDataError, StudyError

_LEVEL = 100.0  # variance of the level of a job: nothing is known of it
_OWN = 0.06  # standard deviation of a run's noise, of the logarithm
_WORTH = 4.0  # jobs that the covariance by resources is worth
_SLOPE = 0.25  # by which jobs differ in how much more of a resource brings, of the logarithm
_APART = 0.10  # by which a job differs on one cluster alone


@dataclass(frozen=True, slots=True)
class KnownCluster:
    name: str
    hourly: float  # price
    resources: tuple[float, ...]  # such as cores and memory, in all and of a machine


@dataclass(frozen=True, slots=True)
class ClusterChoice:
    """The cluster on which a run is expected to cost least."""

    name: str
    expected: Mapping[str, float]  # cost of each cluster against the cheapest, as expected
    n_jobs: int  # that it is known from
    n_runs: int  # of the job itself


class ClusterBelief:
    """What other jobs tell of clusters. `times`: of each job, seconds by the name of the cluster."""

    def __init__(self, clusters: Sequence[KnownCluster], times: Sequence[Mapping[str, float]]) -> None:
        if not clusters:
            raise StudyError("there is no cluster to choose from", hint="give clusters with their prices")
        self.clusters = tuple(clusters)
        self._names = [one.name for one in clusters]
        usable = [one for one in times if len({*one} & {*self._names}) > 1]
        if not usable:
            raise NotEnoughDataError("no job ran on two of these clusters", hint="run one job on each of them")
        self.n_jobs = len(usable)
        self._mean, self._cover = self._learn(usable)

    def _learn(self, times: Sequence[Mapping[str, float]]) -> tuple[Floats, Floats]:
        by_resources = self._by_resources()
        filled = np.array([self._filled(one, by_resources) for one in times])
        centered = filled - filled.mean(axis=1, keepdims=True)
        mean = centered.mean(axis=0)
        apart = centered - mean
        n = len(times)
        cover = (apart.T @ apart + _WORTH * by_resources) / (max(n - 1, 0) + _WORTH)
        return mean, cover * (1 + 1 / n)

    def _by_resources(self) -> Floats:
        logs = np.log(np.array([one.resources for one in self.clusters]))
        spread = np.maximum(logs.std(axis=0), 1e-9)
        scaled = (logs - logs.mean(axis=0)) / spread * np.minimum(spread, 1.0)
        found: Floats = _SLOPE**2 * scaled @ scaled.T + _APART**2 * np.eye(len(self.clusters))
        return found

    def _filled(self, times: Mapping[str, float], cover: Floats) -> Floats:
        """The logarithms of a job on all clusters; those where it did not run as clusters of like resources."""
        values = np.array([np.log(times[name]) if name in times else np.nan for name in self._names])
        seen = ~np.isnan(values)
        if seen.all():
            return values
        level = values[seen].mean()
        inner = cover[np.ix_(seen, seen)] + _OWN**2 * np.eye(int(seen.sum()))
        guess = level + cover[:, seen] @ np.linalg.solve(inner, values[seen] - level)
        return np.where(seen, values, guess)

    def after(self, own: Mapping[str, Sequence[float]] | None = None) -> tuple[Floats, Floats]:
        """Mean and covariance of the logarithm of the job's time on each cluster, given its own runs."""
        cover = self._cover + _LEVEL
        rows = [(self._names.index(name), np.log(took)) for name, runs in (own or {}).items() for took in runs]
        if not rows:
            return self._mean, self._cover
        at, values = np.array([place for place, _ in rows]), np.array([value for _, value in rows])
        inner = cover[np.ix_(at, at)] + _OWN**2 * np.eye(len(rows))
        gain = np.linalg.solve(inner, cover[at]).T
        return self._mean + gain @ (values - self._mean[at]), cover - gain @ cover[at]

    def choose(self, own: Mapping[str, Sequence[float]] | None = None) -> ClusterChoice:
        """The cluster that is expected to cost least for one run."""
        mean, cover = self.after(own)
        logs = mean + np.log([one.hourly for one in self.clusters]) + 0.5 * np.diag(cover)
        costs = np.exp(logs - logs.min())
        expected = dict(zip(self._names, costs.tolist(), strict=True))
        return ClusterChoice(
            self._names[int(np.argmin(costs))], expected, self.n_jobs, sum(map(len, (own or {}).values()))
        )

    def next_run(self, own: Mapping[str, Sequence[float]], *, seed: int = 0) -> str:
        """The cluster whose run is likeliest to lower the cost: where draws of the job's costs have their least."""
        mean, cover = self.after(own)
        draws = np.random.default_rng(seed).multivariate_normal(mean, cover + 1e-9 * np.eye(len(mean)), size=400)
        costs = np.exp(draws) * np.array([one.hourly for one in self.clusters])
        tried = [self._names.index(name) for name in own]
        best = costs[:, tried].min(axis=1) if tried else np.full(len(costs), np.inf)
        gains = np.maximum(best[:, None] - costs, 0.0).mean(axis=0) if tried else -costs.mean(axis=0)
        if tried:
            gains[tried] = -1.0
        return self._names[int(np.argmax(gains))]
