"""A job as experience expects it, corrected by its runs: made for studies of few runs."""

from sparkcast.fitting.belief import ResponseBelief
from sparkcast.fitting.posterior import PosteriorSampler, posterior_of
from sparkcast.fitting.problem import Problem, pose
from sparkcast.fitting.uncertainty import LearnedPoints, one_thread
from sparkcast.models import MODELS
from sparkcast.models.base import FEW, Model
from sparkcast.study import Dataset

NAME = "bayesian"


@MODELS.register(NAME)
class Bayesian(Model):
    """Prior knowledge about jobs (serial part, exponents by role, smooth remainder), updated by a few runs."""

    is_usual = True
    auto_from = FEW + 1  # below it leads, see `auto`
    auto_outside = False  # of many, those who are tested by extrapolating do better
    auto_up_to = 300  # with more, others know as much and are quicker

    def __init__(self, seed: int = 0, sampler: PosteriorSampler = posterior_of) -> None:
        self._seed = seed
        self._sampler = sampler

    def fit(self, data: Dataset, response: str) -> ResponseBelief:
        problem = pose(data, response)
        with one_thread():
            posterior = self._sampler(problem, seed=self._seed)
        # Of very many configurations it learns from a sample, and the rest is no longer left out.
        error = problem.run_error(posterior.left_out) if len(posterior.left_out) == len(problem) else None
        return ResponseBelief(problem.domain, posterior, left_out_error=error, n_stopped=problem.n_stopped)

    def joins_auto(self, problem: Problem) -> bool:
        return self.auto_from <= len(problem) <= self.auto_up_to

    def learn(self, problem: Problem) -> LearnedPoints:
        posterior = self._sampler(problem, seed=self._seed)
        # Of very many configurations it learns from a sample, and the rest is no longer left out.
        is_whole = len(posterior.left_out) == len(problem)
        return LearnedPoints(posterior, posterior.left_out if is_whole else None)
