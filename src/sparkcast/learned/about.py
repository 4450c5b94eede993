"""What the runs behind a model say of themselves: settings, outcomes, places, and how much each model has seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sparkcast.learned.sample import TrainingRuns, note_on
from sparkcast.study import Configuration, Dataset, Fingerprint, Level, Outcome, Price, Vocabulary
from sparkcast.study.configuration import normal_level
from sparkcast.study.space import Listed, Pool, Space


@dataclass(frozen=True, slots=True)
class ConfigurationRuns:
    """A configuration that was run, and how its runs ended."""

    configuration: Configuration
    ok: int
    failed: int
    lost: int = 0  # with their machine or process, which says nothing about the settings


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """The model of one response, and how much it has seen."""

    model: str
    runs: int
    configurations: int
    available: int | None = None  # configurations in the data, where these are a sample of them

    @property
    def note(self) -> str | None:
        """What to say of it with every answer."""
        return None if self.available is None else note_on(self.configurations, self.available)


@dataclass(frozen=True, slots=True)
class About:
    """What questions need beside the models."""

    data: str  # its name
    factors: tuple[str, ...]
    responses: Mapping[str, LearnedFrom]
    fixed: Configuration = field(default_factory=Configuration)  # no factors, with one value in every run
    seen: tuple[ConfigurationRuns, ...] = ()
    candidates: tuple[Configuration, ...] = ()  # that a recommendation chooses from; or
    space: Space | None = None  # all that the levels and rules of a study allow
    price: Price | None = None
    fingerprints: tuple[Fingerprint, ...] = ()  # where the runs were made
    vocabulary: Vocabulary = field(default_factory=Vocabulary)  # what all names mean

    def pool(self) -> Pool:
        """Where candidates come from."""
        return self.space or Listed(self.candidates)

    def require_possible(self, settings: Mapping[str, Sequence[Level]]) -> None:
        """Raise StudyError for a level that was never run, and that no run can have: 0 executors."""
        for name, levels in settings.items():
            measured = {seen.configuration.get(name) for seen in self.seen}
            for level in (level for level in levels if normal_level(level) not in measured):
                self.vocabulary.setting(name).require_possible(level)


def seen_in(data: Dataset) -> tuple[ConfigurationRuns, ...]:
    """Every configuration that was run, by its varied settings."""
    counts: dict[Configuration, list[int]] = {}
    for run in data.observations:
        count = counts.setdefault(data.key(run), [0, 0, 0])
        count[0 if run.ok else 2 if run.outcome is Outcome.LOST else 1] += 1
    return tuple(ConfigurationRuns(key, *count) for key, count in counts.items())


def constants_in(data: Dataset) -> Configuration:
    """Settings that are no factors and had one value in every run."""
    if not data.observations:
        return Configuration()
    first = data.observations[0].configuration.without(*data.factors)
    return first.only(n for n in first if all(o.configuration.get(n) == first[n] for o in data.observations))


def fingerprints_in(data: Dataset) -> tuple[Fingerprint, ...]:
    """Where successful runs were made, each place once, in the order they were first used."""
    return tuple(dict.fromkeys(run.fingerprint for run in data.observations if run.ok and run.fingerprint))


def learned_from(sample: TrainingRuns, response: str, model: str) -> LearnedFrom:
    n_runs = len(sample.runs.successful(response))
    available = None if sample.is_whole else sample.n_available
    return LearnedFrom(model, n_runs, sample.n_configurations, available)
