"""Runs and model files answer alike; what both tell of the runs behind them; means where sums are meant."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Any

import pytest

from sparkcast import api
from sparkcast.data.table import read_csv
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.learned.knowledge import Knowledge, knowledge_of
from sparkcast.learned.predict import mean_of, predict
from sparkcast.models import MODELS
from sparkcast.study import Configuration, Dataset, Epoch, Fingerprint, Observation, Outcome, Price
from sparkcast.study.configuration import Levels
from tests_support import advice

LAST = 4
HERE = Fingerprint("Xeon 8375C", 8, 2**34, "Linux", "3.11", "3.5.3", "17", "yarn")
THERE = replace(HERE, cpu="EPYC 7R13", cores=16)


def measured(*fingerprints: Fingerprint) -> api.Data:
    """Runs with curves, one of which failed; the environments in turn."""
    dice, runs = random.Random(3), []
    for i, (e, b) in enumerate((e, b) for e in (1, 2, 4) for b in (64, 128, 256)):
        luck = math.exp(dice.gauss(0, 0.1))
        curve = tuple(Epoch(k, luck * (3 + k * 40 / e * 64 / b), {"accuracy": 1 - b / 900 / k}) for k in range(1, 5))
        responses = {"time_s": curve[-1].time_s, **curve[-1].values}
        settings = {"executors": e, "batch_size": b, "epochs": LAST, "cores": 2}
        where = fingerprints[i % len(fingerprints)] if fingerprints else None
        runs.append(Observation(settings, responses, curve=curve, fingerprint=where))
    broken = {"executors": 1, "batch_size": 512, "epochs": LAST, "cores": 2}
    runs.append(Observation(broken, {}, outcome=Outcome.OOM))
    return api.Data(Dataset(("executors", "batch_size"), tuple(runs), "made up", ("time_s", "accuracy")))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Knowledge, Knowledge]:
    """The same data as runs, and as a model file that was read again."""
    data, path = measured(), tmp_path_factory.mktemp("models") / "m.sparkcast"
    api.save_model(api.fit(data, model="ridge").model, path)
    return knowledge_of(data, "ridge"), api.load_model(path)


# ---------------------------------------------------------------- runs or a model file


@pytest.mark.parametrize("response", ["time_s", "accuracy"])
@pytest.mark.parametrize(
    "at",
    [
        {"executors": 2, "batch_size": 100},
        {"executors": 3, "batch_size": 256},
        {"executors": 2, "batch_size": 64, "epochs": 2},
    ],
)
def test_runs_and_their_model_file_predict_the_same(
    both: tuple[Knowledge, Knowledge], at: dict[str, int], response: str
) -> None:
    runs, file = (api.predict(known, at, response=response, level=0.8) for known in both)
    assert runs == file
    assert runs.failure_probability is not None


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"within_s": 60.0},
        {"within_s": 60.0, "budget": 0.2, "price": Price(core_hour=2.0), "minimize": "cost"},
        {"min_accuracy": 0.85, "minimize": "time_s", "fix": {"executors": 2}},
        {"limits": ["accuracy >= 0.9"], "minimize": "time_s"},
        {"free_epochs": True, "within_s": 60.0},
        {"levels": {"executors": [1, 2, 3, 4]}, "maximize": "accuracy"},
    ],
)
def test_runs_and_their_model_file_recommend_the_same(
    both: tuple[Knowledge, Knowledge], question: dict[str, Any]
) -> None:
    runs, file = (advice(known, **question) for known in both)
    assert runs == file


def test_both_refuse_what_they_do_not_know(both: tuple[Knowledge, Knowledge]) -> None:
    for known in both:
        with pytest.raises(StudyError, match="'acuracy'") as caught:
            api.predict(known, {"executors": 2, "batch_size": 64}, response="acuracy")
        assert "did you mean 'accuracy'" in caught.value.hint
        with pytest.raises(StudyError, match="'exectors' is not a factor"):
            api.predict(known, {"exectors": 2, "batch_size": 64})


def test_each_model_is_learned_once_when_a_question_needs_it() -> None:
    known = Knowledge(measured().dataset, "ridge")
    assert known.model_of("time_s") == known.model_of("time_s")
    assert known.model_of("time_s")[1] is known.model_of("time_s")[1]
    assert known.curve_of("time_s")[1] is known.curve_of("time_s")[1]


# ---------------------------------------------------------------- where the runs were made


MIXED = "The training runs come from 2 environments that differ in cpu, cores: predictions mix them."
ASSUMED = "no configuration was run twice, so the noise of single runs is assumed, not measured"


def test_runs_from_different_environments_are_told_with_every_prediction(tmp_path: Path) -> None:
    at = {"executors": 2, "batch_size": 100}
    mixed, alike = measured(HERE, THERE), measured(HERE)
    assert api.predict(mixed, at, model="ridge").notes == (MIXED, ASSUMED)
    assert api.predict(alike, at, model="ridge").notes == (ASSUMED,)
    path = tmp_path / "m.sparkcast"
    api.save_model(api.fit(mixed, model="ridge").model, path)
    assert api.predict(api.load_model(path), at).notes == (MIXED, ASSUMED)


def test_runs_from_different_environments_are_told_when_they_are_learned_from() -> None:
    assert MIXED in api.fit(measured(HERE, THERE), model="ridge").notes
    assert MIXED not in api.fit(measured(HERE), model="ridge").notes


def test_runs_from_different_environments_are_told_with_a_recommendation() -> None:
    mixed, alike = (
        api.recommend(data, within_s=60.0, model="ridge").staleness for data in (measured(HERE, THERE), measured(HERE))
    )
    assert mixed is not None
    assert MIXED in mixed.reasons
    assert alike is not None
    assert MIXED not in alike.reasons


# ---------------------------------------------------------------- the mean


@dataclass(frozen=True, slots=True)
class Normal:
    """A model that knows the distribution exactly: a normal one, or one of which the logarithm is normal."""

    mean: float
    sd: float
    is_log: bool = True

    def predict(self, at: Sequence[Levels]) -> list[float]:
        return [self._value(0.5)] * len(at)

    def interval(self, at: Sequence[Levels], *, level: float = 0.9) -> list[tuple[float, float]]:
        return [(self._value(0.5 - level / 2), self._value(0.5 + level / 2))] * len(at)

    def probability_below(self, at: Sequence[Levels], limit: float) -> list[float]:
        return [NormalDist(self.mean, self.sd).cdf(math.log(limit) if self.is_log else limit)] * len(at)

    def beyond(self, at: Sequence[Levels]) -> list[NotEnoughDataError | None]:
        return [None] * len(at)

    def _value(self, share: float) -> float:
        found = NormalDist(self.mean, self.sd).inv_cdf(share)
        return math.exp(found) if self.is_log else found


@pytest.mark.parametrize("sd", [0.02, 0.1, 0.3, 0.6])
def test_the_mean_of_ratios_is_that_of_the_lognormal_distribution_without_its_tails(sd: float) -> None:
    [mean] = mean_of(Normal(math.log(50), sd), [{}])
    normal = NormalDist()
    z = normal.inv_cdf(0.99)
    whole = 50 * math.exp(sd**2 / 2)
    # The closed form between the quantiles 1 % and 99 %.
    assert mean == pytest.approx(whole * (normal.cdf(z - sd) - normal.cdf(-z - sd)) / 0.98, rel=2e-3)
    assert 50 < mean < whole
    quantiles = [50 * math.exp(normal.inv_cdf(0.01 + 0.98 * (k + 0.5) / 20_000) * sd) for k in range(20_000)]
    assert mean == pytest.approx(fmean(quantiles), rel=2e-3)


def test_the_mean_of_what_scatters_alike_to_both_sides_is_the_median() -> None:
    assert mean_of(Normal(7.0, 2.0, is_log=False), [{}, {}]) == [pytest.approx(7.0)] * 2
    assert mean_of(Normal(7.0, 2.0), []) == []


def test_a_predicted_time_has_a_mean_above_its_median() -> None:
    answer = api.predict(measured(), {"executors": 2, "batch_size": 100}, model="ridge")
    assert answer.prediction.low < answer.prediction.value < answer.mean < answer.prediction.high


def test_a_plan_with_times_of_earlier_runs_adds_up_means(tmp_path: Path) -> None:
    dice = random.Random(5)
    rows = [
        f"{e},{s},{(2 + s / 1000 / e) * math.exp(dice.gauss(0, 0.4))}"
        for e in (1, 2, 4)
        for s in (10_000, 20_000, 40_000)
        for _ in range(3)
    ]
    (tmp_path / "earlier.csv").write_text("\n".join(["executors,samples,time_s", *rows]))
    study = tmp_path / "s.yaml"
    study.write_text(
        "study: s\nworkload: pi\nsettings: {executors: [1, 2, 4], samples: [10000, 40000]}\n"
        "design: {kind: optimal, runs: 8, time: earlier.csv}\n"
    )
    planned = api.plan(study)
    fitted = MODELS.get("auto")().fit(read_csv(tmp_path / "earlier.csv"), "time_s")
    at = [Configuration(trial).only(["executors", "samples"]) for trial in planned.trials]
    assert planned.total_s is not None
    assert planned.total_s == pytest.approx(math.fsum(mean_of(fitted, at)))
    assert planned.total_s > 1.02 * math.fsum(fitted.predict(at))


def test_a_prediction_tells_that_stopped_runs_count_as_lower_bounds() -> None:
    ended = [Observation({"executors": e}, {"time_s": 400.0 / e}) for e in (2, 4, 8)]
    stopped = Observation({"executors": 1}, {"time_s": 300.0}, Outcome.TIMEOUT)
    known = Knowledge(Dataset(("executors",), (*ended, stopped)), "bayesian")
    assert (
        "stopped runs count as lower bounds at 1 configuration"
        in predict(known, {"executors": 3}, response="time_s").notes
    )
