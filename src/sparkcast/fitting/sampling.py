"""Samples of a posterior distribution by tempered sequential Monte Carlo.

Particles drawn from the prior feel the likelihood in steps, each as large as leaves enough of them in play; after each
step they are resampled and moved (Del Moral, Doucet and Jasra 2006). Plain importance sampling would leave a handful
of them, and the mode alone would be too sure of itself.

Where the unknowns are standard normal numbers before anything was seen, and a model turns them into its own quantities,
`sample` serves every prior: its moves (preconditioned Crank-Nicolson steps; Cotter, Roberts, Stuart and White 2013)
leave that prior as it is, and are accepted by the likelihood alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sparkcast.arrays import Floats, Ints

LogLikelihood = Callable[[Floats], Floats]  # of each row of unknowns

_IN_PLAY = 0.5  # of the particles, as effective sample size, after each step
_ACCEPTED = 0.3  # of the moves: steps are made shorter or longer until that holds
_FEW = 0.3  # every other move changes this share of the unknowns only, so that some moves fit many unknowns
_BISECTIONS = 40


class Moves(Protocol):
    def propose(self, particles: Floats, number: int, random: "np.random.Generator") -> Floats:
        """Where each might go in the move `number` after a step; under the prior, the way back is as likely."""
        ...

    def learn(self, accepted: float) -> None:
        """The share of the last proposals that was accepted."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Tempered:
    particles: Floats  # equally likely given what was seen
    evidence: float  # logarithm of how likely that was before it was seen


def sample(
    log_likelihood: LogLikelihood, n_unknown: int, *, n_particles: int = 256, n_moves: int = 3, seed: int = 0
) -> Floats:
    """Rows of unknowns, equally likely given what was seen."""
    random = np.random.default_rng(seed)
    start = random.standard_normal((2 * n_particles, n_unknown))
    found = temper(
        log_likelihood,
        start,
        CrankNicolson(),
        n_particles=n_particles,
        n_moves=n_moves,
        in_play=lambda _: _IN_PLAY * n_particles,
        random=random,
    )
    return found.particles


def temper(
    log_likelihood: LogLikelihood,
    particles: Floats,
    moves: Moves,
    *,
    n_particles: int,
    n_moves: int,
    in_play: Callable[[int], float],
    random: "np.random.Generator",
    least_step: float = 0.0,
) -> Tempered:
    """From particles as likely as the prior makes them to `n_particles` as likely as what was seen makes them.

    `in_play` says how many of so many particles must still count after each step, by their effective number.
    """
    likelihood = log_likelihood(particles)
    temperature, evidence = 0.0, 0.0
    while temperature < 1:
        step = max(least_step, _step(likelihood, 1 - temperature, in_play(len(particles))))
        temperature += step
        weights = np.exp(step * (likelihood - likelihood.max()))
        evidence += float(np.log(weights.mean()) + step * likelihood.max())
        chosen = _resampled(weights, n_particles, random)
        particles, likelihood = particles[chosen], likelihood[chosen]
        for number in range(n_moves):
            moved = moves.propose(particles, number, random)
            found = log_likelihood(moved)
            is_changed = (moved != particles).any(axis=1)
            is_accepted = is_changed & (np.log(random.random(n_particles)) < temperature * (found - likelihood))
            particles = np.where(is_accepted[:, None], moved, particles)
            likelihood = np.where(is_accepted, found, likelihood)
            moves.learn(is_accepted.sum() / max(1, is_changed.sum()))
    return Tempered(particles, evidence)


class CrankNicolson:
    """Moves of standard normal numbers, as long as lets a good share of them be accepted."""

    def __init__(self) -> None:
        self._length = 0.5

    def propose(self, particles: Floats, number: int, random: "np.random.Generator") -> Floats:
        length = self._length
        moved: Floats = np.sqrt(1 - length**2) * particles + length * random.standard_normal(particles.shape)
        return moved if number % 2 else np.where(random.random(particles.shape) < _FEW, moved, particles)

    def learn(self, accepted: float) -> None:
        self._length = float(np.clip(self._length * np.exp(accepted - _ACCEPTED), 0.05, 0.95))


def _step(likelihood: Floats, most: float, in_play: float) -> float:
    """How much further the likelihood may be felt."""
    relative = likelihood - likelihood.max()

    def effective(step: float) -> float:
        weights = np.exp(step * relative)
        return float(weights.sum() ** 2 / (weights**2).sum())

    if effective(most) >= in_play:
        return most
    low, high = 0.0, most
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if effective(middle) > in_play else (low, middle)
    return high


def _resampled(weights: Floats, n: int, random: "np.random.Generator") -> Ints:
    """Which particles go on, each about as often as it weighs (systematic resampling)."""
    places = np.cumsum(weights / weights.sum())
    return np.minimum(np.searchsorted(places, (np.arange(n) + random.random()) / n), len(weights) - 1)
