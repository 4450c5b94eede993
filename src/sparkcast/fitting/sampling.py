"""Samples of a posterior distribution by tempered sequential Monte Carlo.

The unknowns are standard normal numbers before anything was seen, and a model turns them into its own quantities. So
one sampler serves every prior, and its moves (preconditioned Crank-Nicolson steps; Cotter, Roberts, Stuart and White
2013) leave that prior as it is: they are accepted by the likelihood alone.

Particles drawn from the prior feel the likelihood in steps, each as large as leaves half of them in play; after each
step they are resampled and moved (Del Moral, Doucet and Jasra 2006). Plain importance sampling would leave a handful
of them, and the mode alone would be too sure of itself.
"""

from collections.abc import Callable

from sparkcast.arrays import Floats

LogLikelihood = Callable[[Floats], Floats]  # of each row of unknowns

_IN_PLAY = 0.5  # of the particles, as effective sample size, after each step
_ACCEPTED = 0.3  # of the moves: steps are made shorter or longer until that holds
_FEW = 0.3  # every other move changes this share of the unknowns only, so that some moves fit many unknowns


def sample(
    log_likelihood: LogLikelihood, n_unknown: int, *, n_particles: int = 256, n_moves: int = 3, seed: int = 0
) -> Floats:
    """Rows of unknowns, equally likely given what was seen."""
    import numpy as np

    random = np.random.default_rng(seed)
    particles = random.standard_normal((2 * n_particles, n_unknown))
    likelihood = log_likelihood(particles)
    temperature, length = 0.0, 0.5
    while temperature < 1:
        step = _step(likelihood, 1 - temperature, _IN_PLAY * n_particles)
        temperature += step
        weights = np.exp(step * (likelihood - likelihood.max()))
        places = np.cumsum(weights / weights.sum())
        chosen = np.searchsorted(places, (np.arange(n_particles) + random.random()) / n_particles)
        chosen = np.minimum(chosen, len(particles) - 1)
        particles, likelihood = particles[chosen], likelihood[chosen]
        for move in range(n_moves):
            moved = np.sqrt(1 - length**2) * particles + length * random.standard_normal(particles.shape)
            if move % 2 == 0:
                moved = np.where(random.random(particles.shape) < _FEW, moved, particles)
            found = log_likelihood(moved)
            is_changed = (moved != particles).any(axis=1)
            is_accepted = is_changed & (np.log(random.random(n_particles)) < temperature * (found - likelihood))
            particles = np.where(is_accepted[:, None], moved, particles)
            likelihood = np.where(is_accepted, found, likelihood)
            share = is_accepted.sum() / max(1, is_changed.sum())
            length = float(np.clip(length * np.exp(share - _ACCEPTED), 0.05, 0.95))
    return particles


def _step(likelihood: Floats, most: float, in_play: float) -> float:
    """How much further the likelihood may be felt."""
    import numpy as np

    relative = likelihood - likelihood.max()

    def effective(step: float) -> float:
        weights = np.exp(step * relative)
        return float(weights.sum() ** 2 / (weights**2).sum())

    if effective(most) >= in_play:
        return most
    low, high = 0.0, most
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if effective(middle) > in_play else (low, middle)
    return high
