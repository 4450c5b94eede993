"""A small study, made by hand: batch size {64, 128, 256} x executors {1, 2} x 2 replicates, every stage's result."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import SimpleNamespace

import pytest

from sparkcast.analysis import (
    Analysis,
    AnovaRow,
    AssumptionCheck,
    CellMean,
    CheckResult,
    Effect,
    FactorVerdict,
    LevelMean,
    Regression,
    ResidualPoint,
)
from sparkcast.recommend import Candidate, Launch, Limit, Prediction, Recommendation
from sparkcast.study import (
    Configuration,
    Dataset,
    DesignChoice,
    Epoch,
    Expression,
    Factor,
    Fingerprint,
    Limits,
    Observation,
    Outcome,
    Plan,
    Response,
    Study,
    Trial,
    Utilization,
)
from sparkcast.study.names import usual_vocabulary
from sparkcast.validate import Scorecard, TestedRun, Validation

MACHINE = Fingerprint(
    cpu="Example CPU 3000",
    cores=8,
    memory_bytes=16 * 2**30,
    system="Linux 6.1",
    python="3.11.9",
    spark="3.5.1",
    java="17.0.11",
    cluster="standalone, 2 workers",
    data="mnist, 5,000 images, sha256 1f2e3d",
)
ORDER = (7, 2, 11, 5, 9, 1, 12, 4, 8, 3, 10, 6)
WORDS = usual_vocabulary(["batch_size", "executors"], ["time_s", "accuracy", "cost"])


def expected_time(at: Configuration) -> float:
    share: float = float(at["executors"]) ** 0.7
    return 10 + 2400 / (float(at["batch_size"]) * share)


def expected_accuracy(at: Configuration) -> float:
    return 0.97 - float(at["batch_size"]) / 2600


@dataclass(frozen=True)
class Known:
    """A fitted model that knows the truth, give or take a tenth."""

    accuracy: bool = False

    def predict(self, at: Sequence[Configuration]) -> list[float]:
        return [expected_accuracy(c) if self.accuracy else expected_time(c) for c in at]

    def interval(self, at: Sequence[Configuration], *, level: float = 0.9) -> list[tuple[float, float]]:
        share = 0.02 if self.accuracy else 0.1
        return [(value * (1 - share), value * (1 + share)) for value in self.predict(at)]

    def probability_below(self, at: Sequence[Configuration], limit: float) -> list[float]:
        return [float(value <= limit) for value in self.predict(at)]


def make_dataset() -> Dataset:
    runs = []
    for index, (batch, executors, replicate) in enumerate(product((64, 128, 256), (1, 2), (1, 2))):
        at = Configuration({"batch_size": batch, "executors": executors, "epochs": 3})
        time_s = expected_time(at) * (1 + 0.03 * (index % 5 - 2))
        accuracy = expected_accuracy(at) + 0.003 * (index % 4 - 1.5)
        curve = tuple(Epoch(n, time_s * n / 3, {"accuracy": accuracy * (1 - 0.3 / n**2 + 0.3 / 9)}) for n in (1, 2, 3))
        busy = Utilization(62.0 + 9 * executors, 12.0 / executors, 3e9, 2e5, 4e6, samples=40)
        responses = {"time_s": time_s, "accuracy": accuracy}
        runs.append(
            Observation(
                at,
                responses,
                replicate=replicate,
                position=ORDER[index],
                curve=curve,
                utilization=busy,
                fingerprint=MACHINE,
                run_id=f"run-{index}",
            )
        )
    return Dataset(("batch_size", "executors"), tuple(runs), "mnist-batch-size", ("time_s", "accuracy"))


def make_failures() -> Dataset:
    """The same runs, all of them out of memory."""
    data = make_dataset()
    failed = (replace(r, responses={}, curve=(), outcome=Outcome.OOM, cause="exit 137") for r in data.observations)
    return replace(data, observations=tuple(failed))


def make_one_factor() -> Dataset:
    data = make_dataset()
    kept = tuple(run for run in data.observations if run.configuration["batch_size"] == 64)
    return replace(data, factors=("executors",), observations=kept)


def make_bare() -> Dataset:
    """One factor, one response, nothing else: what is quick to draw."""
    data = make_one_factor()
    runs = tuple(replace(run, curve=(), utilization=None) for run in data.observations)
    return replace(data, observations=runs, responses=("time_s",))


def make_study() -> Study:
    return Study(
        name="mnist-batch-size",
        workload="mnist-training",
        factors=(Factor("batch_size", (64, 128, 256)), Factor("executors", (1, 2))),
        fixed=Configuration({"epochs": 3}),
        rules=(Expression("batch_size % executors == 0"),),
        design=DesignChoice("full", 2, 7),
        responses=(Response("time_s"), Response("accuracy")),
        limits=Limits(total_s=1800, trial_s=300),
    )


def make_plan() -> Plan:
    trials = (Trial(run.configuration, run.replicate, run.position) for run in make_dataset().observations)
    return Plan("full", 7, tuple(sorted(trials, key=lambda trial: trial.position)))


def make_analysis(response: str = "time_s") -> Analysis:
    unit = 1.0 if response == "time_s" else 0.01
    means = [
        LevelMean("batch_size", 64, 42.0, 39.5, 44.5, 4),
        LevelMean("batch_size", 128, 26.0, 23.5, 28.5, 4),
        LevelMean("batch_size", 256, 18.0, 15.5, 20.5, 4),
        LevelMean("executors", 1, 33.0, 31.0, 35.0, 6),
        LevelMean("executors", 2, 24.0, 22.0, 26.0, 6),
    ]
    scaled = (replace(m, mean=m.mean * unit, low=m.low * unit, high=m.high * unit) for m in means)
    return Analysis(
        vocabulary=WORDS,
        response=response,
        formula=f"{response} ~ C(batch_size) * C(executors)",
        anova_type=2,
        transform="none",
        n=12,
        r_squared=0.97,
        rows=(
            AnovaRow("batch_size", 2, 1181.0, 76.2, 152.0, 0.000004, p_robust=0.00002),
            AnovaRow("executors", 1, 243.0, 15.7, 62.5, 0.0002),
            AnovaRow("batch_size:executors", 2, 79.0, 5.1, 5.2, 0.031),
            AnovaRow("Residual", 6, 46.5, 3.0, None, None),
        ),
        means=tuple(scaled),
        warnings=("only 2 replicates per configuration: the test of equal variances has little power",),
        summary=("batch_size explains 76% of the variation of the time; executors another 16%.",),
        effects=(
            Effect("batch_size", 2, 12.3, 2.27, 0.000004),
            Effect("executors", 1, 7.9, 2.45, 0.0002, change=-9.0 * unit),
            Effect("batch_size:executors", 2, 2.28, 2.27, 0.031),
        ),
        factors=(
            FactorVerdict("batch_size", True, 81.3, 0.00001, "batch_size matters: see batch_size:executors."),
            FactorVerdict("executors", True, 20.8, 0.0004, "executors matters: 21% of the variation."),
        ),
        checks=(
            AssumptionCheck("normality", "Shapiro-Wilk", 0.97, 0.9, CheckResult.HOLDS, "The residuals look normal."),
            AssumptionCheck(
                "equal variance", "Levene", 4.0, 0.01, CheckResult.VIOLATED, "The variances differ.", "take logarithms"
            ),
            AssumptionCheck("influence", "Cook", 0.9, None, CheckResult.DOUBTFUL, "One run pulls the result."),
            AssumptionCheck(
                "lack of fit", "F", None, None, CheckResult.UNKNOWN, "Not tested: no setting was run twice."
            ),
        ),
        cells=tuple(
            CellMean("executors", "batch_size", e, b, unit * (10 + 2400 / (b * e)), 2)
            for e in (1, 2)
            for b in (64, 128, 256)
        ),
        regressions=(
            Regression("executors", -9.0, 42.0, -0.41, 0.18, 12),
            Regression("batch_size", -0.12, 46.0, -0.83, 0.001, 12),
            Regression("repetition", 0.4, 28.0, 0.02, 0.95, 12, is_setting=False),
        ),
        residuals=tuple(
            ResidualPoint(n, 20.0 + n, (n % 5 - 2) * unit, (n % 5 - 2) * 0.7, (n - 6.5) / 4) for n in ORDER
        ),
    )


def make_validation(response: str = "time_s") -> Validation:
    data, known = make_dataset(), Known(accuracy=response == "accuracy")

    def card(name: str, mape: float, off: float) -> Scorecard:
        tested = []
        for index, run in enumerate(data.observations):
            [value] = known.predict([run.configuration])
            value *= 1 + off * (-1) ** index
            actual = run.responses[response]
            width = 0.12 if index != 3 else 0.01
            low, high = value * (1 - width), value * (1 + width)
            at = {name: run.configuration[name] for name in data.factors}
            tested.append(TestedRun(Configuration(at), run.replicate, actual, value, low, high))
        return Scorecard(name, mape, mape * 0.9, 1.2, 1.6, 0.96, 11 / 12, 0.24, 0.08, tuple(tested))

    cards = (card("ernest", 4.3, 0.04), card("forest", 9.8, 0.1), card("median", 38.0, 0.3))
    return Validation(
        response, "leave-one-out", 0.9, 3.1, cards, (("courier", "it needs the factor 'cores'"),), vocabulary=WORDS
    )


def make_recommendation() -> Recommendation:
    time, accuracy = Known(), Known(accuracy=True)

    def candidate(batch: int, executors: int) -> Candidate:
        at = Configuration({"batch_size": batch, "executors": executors})
        predictions = []
        for response, model in (("time_s", time), ("accuracy", accuracy)):
            [value], [(low, high)] = model.predict([at]), model.interval([at])
            predictions.append(Prediction(response, value, low, high, 0.9))
        probability = 0.98 if predictions[0].high <= 36 else 0.21
        return Candidate(at, tuple(predictions), probability, 2)

    every = [candidate(batch, executors) for batch in (64, 128, 256) for executors in (1, 2)]
    ranked = sorted(every, key=lambda c: (c.probability < 0.95, -c.predicted("accuracy").value))
    return Recommendation(
        objective="maximize accuracy",
        within_s=36.0,
        confidence=0.95,
        models={"time_s": "ernest", "accuracy": "ridge"},
        chosen=ranked[0],
        runner_up=ranked[1],
        candidates=tuple(ranked),
        why="the most accurate of the configurations that end within 36 s with 95% confidence",
        margin_s=3.4,
        launch=Launch({"spark.executor.instances": "2", "spark.executor.cores": "1"}, "train.py"),
        limits=(Limit("time_s", 36.0),),
        vocabulary=WORDS,
    )


@pytest.fixture(scope="session")
def example() -> SimpleNamespace:
    """What the tests start from, by name: `example.data`, `example.analysis`, ..."""
    return SimpleNamespace(
        data=make_dataset(),
        failures=make_failures(),
        one_factor=make_one_factor(),
        bare=make_bare(),
        study=make_study(),
        plan=make_plan(),
        analysis=make_analysis(),
        validation=make_validation(),
        recommendation=make_recommendation(),
        fitted={"time_s": Known(), "accuracy": Known(accuracy=True)},
    )
