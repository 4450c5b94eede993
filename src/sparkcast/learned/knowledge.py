"""What questions are asked of: models that are learned from runs when a question needs them."""

from dataclasses import dataclass, field
from functools import cached_property

from sparkcast.analysis.runs import usable_runs
from sparkcast.data.sources import Data
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.encoding import Domain, domain_of
from sparkcast.fitting.problem import MIN_CONFIGURATIONS
from sparkcast.learned.about import About, constants_in, fingerprints_in, learned_from, seen_in
from sparkcast.learned.across_blocks import across_blocks
from sparkcast.learned.curves import fit_curve, has_curves
from sparkcast.learned.feasibility import Feasibility, fit_feasibility
from sparkcast.learned.sample import TrainingRuns, sample_of
from sparkcast.models import MODELS, Fitted, Predictor
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Listed, Price, Space


@dataclass(frozen=True)
class Knowledge:
    """Runs, and what was learned from them so far: each part once; of large tables, from a sample."""

    runs: Dataset
    model: str = "auto"
    pool: Space | Listed | None = None
    price: Price | None = None
    _fitted: dict[tuple[str, bool], Fitted] = field(default_factory=dict, repr=False, compare=False)
    _samples: dict[str | None, TrainingRuns] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def about(self) -> About:
        """Factors, what was run, what names mean."""
        return About(
            data=self.runs.name,
            factors=self.runs.factors,
            responses={name: learned_from(self.sample(name), name, self.model) for name in self.responses},
            fixed=constants_in(self.runs),
            seen=seen_in(self.runs),
            candidates=self.pool.configurations if isinstance(self.pool, Listed) else (),
            space=self.pool if isinstance(self.pool, Space) else None,
            price=self.price,
            fingerprints=fingerprints_in(self.runs),
            vocabulary=self.runs.vocabulary,
        )

    @cached_property
    def responses(self) -> tuple[str, ...]:
        """What can be asked for."""
        return tuple(dict.fromkeys(name for run in self.runs.observations if run.ok for name in run.responses))

    @cached_property
    def last_epoch(self) -> int:
        """Of the longest curve; 0 when there is none."""
        return max((epoch.number for run in self.runs.observations if run.ok for epoch in run.curve), default=0)

    def sample(self, response: str | None = None) -> TrainingRuns:
        """What a response, or the chance of failing, is learned from."""
        is_in_all = response is None or len(self.runs.successful(response)) == len(self.runs.observations)
        key = None if is_in_all else response
        if key not in self._samples:
            self._samples[key] = sample_of(self.runs, key)
        return self._samples[key]

    def predictor(self, response: str) -> Predictor:
        """The method that learns a response."""
        return MODELS.get(self.model)()

    def model_of(self, response: str) -> tuple[str, Fitted]:
        """The model of a response, and its name. Raises StudyError for a response that is not known."""
        self._require(response)
        if (response, False) not in self._fitted:
            runs = self.sample(response).runs
            fitted = self.predictor(response).fit(runs, response)
            self._fitted[response, False] = across_blocks(fitted, runs, runs.vocabulary.response(response))
        return self.model, self._fitted[response, False]

    def has_curve(self, response: str) -> bool:
        """Whether another number of epochs may be asked for than the runs had."""
        return has_curves(self.runs, response)

    def curve_of(self, response: str) -> tuple[str, Fitted]:
        """The model of a response over the factors and the number of epochs."""
        if not self.has_curve(response):
            raise NotEnoughDataError(
                f"the runs do not report {response} per epoch, so the number of epochs cannot be free",
                hint="make the number of epochs a factor, or measure with a workload that reports every epoch",
            )
        if (response, True) not in self._fitted:
            self._fitted[response, True] = fit_curve(self.sample(response).runs, response)
        return "curve", self._fitted[response, True]

    def domain_of(self, response: str) -> Domain | None:
        """The settings about which it can be asked, known before anything is fitted; None where the model knows best.

        Raises StudyError for a response that is not known.
        """
        self._require(response)
        if self._replays:
            return None
        first: dict[Configuration, Configuration] = {}
        for run in usable_runs(self.sample(response).runs, response):
            first.setdefault(self.runs.key(run), run.configuration)
        if len(first) < MIN_CONFIGURATIONS:
            return None  # the model says that they are too few
        return domain_of(self.runs.factors, list(first.values()), self.runs.vocabulary)

    def _require(self, response: str) -> None:
        if response not in self.responses:
            known = self.responses or self.runs.responses
            raise StudyError(f"no run has the response {response!r}", hint=did_you_mean(response, known))

    @cached_property
    def feasibility(self) -> Feasibility | None:
        """How likely settings are to fail; None where nothing is known of them."""
        return None if self._replays else fit_feasibility(self.sample().runs)

    @property
    def _replays(self) -> bool:
        """Whether the model takes logs instead of runs: it says itself what it can be asked."""
        return getattr(MODELS.get(self.model), "replays_logs", False)


def knowledge_of(source: Data | Knowledge, model: str = "auto") -> Knowledge:
    """Runs become knowledge when they are asked; a model file is some."""
    return Knowledge(source.dataset, model, source.pool(), source.price) if isinstance(source, Data) else source
