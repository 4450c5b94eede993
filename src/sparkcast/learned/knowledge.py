"""What questions are asked of: runs, from which models are learned when a question needs them, or a model file."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from sparkcast.analysis.runs import usable_runs
from sparkcast.data.sources import Data
from sparkcast.errors import StudyError
from sparkcast.fitting.encoding import Domain, domain_of
from sparkcast.fitting.problem import MIN_CONFIGURATIONS
from sparkcast.learned.curves import fit_curve, has_curves
from sparkcast.learned.feasibility import Feasibility, fit_feasibility
from sparkcast.learned.sample import Sample, sample_of
from sparkcast.learned.saved import About, about_of, learned_from, not_by_epoch
from sparkcast.models import MODELS, Fitted
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Listed, Price, Space


class Knowledge(Protocol):
    """The same for runs and for a model file, so that nobody needs to ask which it is."""

    @property
    def about(self) -> About:
        """Factors, what was run, what names mean."""
        ...

    @property
    def runs(self) -> Dataset | None:
        """The runs themselves, where they are at hand."""
        ...

    @property
    def responses(self) -> tuple[str, ...]:
        """What can be asked for."""
        ...

    @property
    def last_epoch(self) -> int:
        """Of the longest curve; 0 when there is none."""
        ...

    def model_of(self, response: str) -> tuple[str, Fitted]:
        """The model of a response, and its name. Raises StudyError for a response that is not known."""
        ...

    def domain_of(self, response: str) -> Domain | None:
        """The settings about which it can be asked, known before anything is fitted; None where the model knows best.

        Raises StudyError for a response that is not known.
        """
        ...

    def has_curve(self, response: str) -> bool:
        """Whether another number of epochs may be asked for than the runs had."""
        ...

    def curve_of(self, response: str) -> tuple[str, Fitted]:
        """The model of a response over the factors and the number of epochs."""
        ...

    @property
    def feasibility(self) -> Feasibility | None:
        """How likely settings are to fail."""
        ...


@dataclass(frozen=True)
class FromRuns:
    """Knowledge that is learned when a question needs it, each part once; of large tables, from a sample."""

    runs: Dataset
    model: str = "auto"
    pool: Space | Listed | None = None
    price: Price | None = None
    _fitted: dict[tuple[str, bool], Fitted] = field(default_factory=dict, repr=False, compare=False)
    _samples: dict[str | None, Sample] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def about(self) -> About:
        learned = {name: learned_from(self.sample(name), name, self.model) for name in self.responses}
        about = replace(about_of(self.runs, (), self.model), responses=learned, price=self.price)
        if isinstance(self.pool, Listed):
            return replace(about, candidates=self.pool.configurations)
        return replace(about, space=self.pool)

    @cached_property
    def responses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for run in self.runs.observations if run.ok for name in run.responses))

    @cached_property
    def last_epoch(self) -> int:
        return max((epoch.number for run in self.runs.observations if run.ok for epoch in run.curve), default=0)

    def sample(self, response: str | None = None) -> Sample:
        """What a response, or the chance of failing, is learned from."""
        is_in_all = response is None or len(self.runs.successful(response)) == len(self.runs.observations)
        key = None if is_in_all else response
        if key not in self._samples:
            self._samples[key] = sample_of(self.runs, key)
        return self._samples[key]

    def model_of(self, response: str) -> tuple[str, Fitted]:
        self._require(response)
        if (response, False) not in self._fitted:
            self._fitted[response, False] = MODELS.get(self.model)().fit(self.sample(response).runs, response)
        return self.model, self._fitted[response, False]

    def has_curve(self, response: str) -> bool:
        return has_curves(self.runs, response)

    def curve_of(self, response: str) -> tuple[str, Fitted]:
        if not self.has_curve(response):
            raise not_by_epoch(response)
        if (response, True) not in self._fitted:
            self._fitted[response, True] = fit_curve(self.sample(response).runs, response)
        return "curve", self._fitted[response, True]

    def domain_of(self, response: str) -> Domain | None:
        self._require(response)
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
        return fit_feasibility(self.sample().runs)


def knowledge_of(source: Data | Knowledge, model: str = "auto") -> Knowledge:
    """Runs become knowledge when they are asked; a model file is some."""
    return FromRuns(source.dataset, model, source.pool(), source.price) if isinstance(source, Data) else source
