"""What every model promises, whoever wrote it: a new file in models/ is tested the day it appears."""

import math
import random
import subprocess
import sys
from collections.abc import Sequence

import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models import MODELS, Fitted
from sparkcast.study import Configuration, Dataset, Observation

EXECUTORS = (1, 2, 4, 16)
INSIDE: list[Configuration] = [{"executors": 3, "net": "lenet5"}, {"executors": 8, "net": "vgg"}]


def runs(executors: Sequence[int] = EXECUTORS, replicates: int = 2) -> Dataset:
    noise = random.Random(5)
    return Dataset(
        ("executors", "net"),
        tuple(
            Observation(
                {"executors": e, "net": net, "epochs": 2},
                {"time_s": slow * (5 + 60 / e + 0.2 * e) * math.exp(noise.gauss(0, 0.05)), "stage_0_s": slow * 60 / e},
                replicate=r,
            )
            for e in executors
            for net, slow in (("lenet5", 1.0), ("vgg", 3.0))
            for r in range(1, replicates + 1)
        ),
    )


@pytest.fixture(scope="module", params=MODELS.names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def fitted(name: str) -> Fitted:
    return MODELS.get(name)().fit(runs(), "time_s")


@pytest.fixture(scope="module")
def from_few(name: str) -> Fitted:
    return fit(name, few())


# What takes seconds to learn promises the same with fewer trees or steps.
QUICK: dict[str, dict[str, int]] = {
    "boosted-terms": {"trees": 20},
    "gradient-boosting": {"trees": 20},
    "mlp": {"networks": 2, "steps": 30},
}


def fit(name: str, data: Dataset, response: str = "time_s") -> Fitted:
    return MODELS.get(name)(**QUICK.get(name, {})).fit(data, response)


def few(times: int = 1) -> Dataset:
    data = runs((1, 4, 16), replicates=1)
    return Dataset(data.factors, data.observations * times)


def test_the_interval_contains_the_point_and_grows_with_the_level(fitted: Fitted) -> None:
    points = fitted.predict(INSIDE)
    previous = [(point, point) for point in points]
    for level in (0.1, 0.5, 0.9, 0.99):
        intervals = fitted.interval(INSIDE, level=level)
        for point, (low, high), (inner_low, inner_high) in zip(points, intervals, previous, strict=True):
            assert 0 < low < inner_low <= point <= inner_high < high
        previous = intervals


def test_probability_and_interval_come_from_one_distribution(fitted: Fitted) -> None:
    for level in (0.5, 0.9, 0.98):
        for at in INSIDE:
            [(low, high)] = fitted.interval([at], level=level)
            assert fitted.probability_below([at], high) == [pytest.approx(0.5 + level / 2)]
            assert fitted.probability_below([at], low) == [pytest.approx(0.5 - level / 2)]
    assert fitted.probability_below(INSIDE, 0.0) == [0.0, 0.0]
    assert fitted.probability_below(INSIDE, -1.0) == [0.0, 0.0]
    assert fitted.probability_below(INSIDE, math.inf) == [1.0, 1.0]


def test_the_same_data_give_the_same_answers(name: str, from_few: Fitted) -> None:
    again = fit(name, few())
    assert again.predict(INSIDE) == from_few.predict(INSIDE)
    assert again.interval(INSIDE) == from_few.interval(INSIDE)


def test_replicates_are_left_out_together(name: str, from_few: Fitted) -> None:
    # Were a replicate left in while its twin is left out, identical twins would make every error look smaller.
    from_twins = fit(name, few(times=2))
    for once, twice in zip(from_few.interval(INSIDE), from_twins.interval(INSIDE), strict=True):
        assert twice == pytest.approx(once, rel=1e-6)


def test_outside_the_measured_range_the_interval_is_wider(fitted: Fitted) -> None:
    def ratio(executors: int) -> float:
        [(low, high)] = fitted.interval([{"executors": executors, "net": "vgg"}])
        return high / low

    # Most double the logarithm when the overshoot is the whole measured range, 16 - 1; some know more about the way.
    assert math.log(ratio(31)) > 1.2 * math.log(ratio(16))
    assert ratio(3) == pytest.approx(ratio(16))


def test_accuracy_stays_between_zero_and_one(name: str) -> None:
    noise = random.Random(2)
    data = Dataset(
        ("executors",),
        tuple(
            Observation({"executors": e}, {"accuracy": 0.995 - noise.random() / 20, "time_s": 9 / e})
            for e in (1, 2, 4, 8, 16)
        ),
    )
    try:
        fitted = fit(name, data, "accuracy")
    except StudyError:
        return  # a model may be about times only
    [(low, high)] = fitted.interval([{"executors": 16}], level=0.999)
    assert 0 <= low <= fitted.predict([{"executors": 16}])[0] <= high == 1
    assert fitted.probability_below([{"executors": 16}], 1.0) == [1.0]
    assert fitted.probability_below([{"executors": 16}], -0.1) == [0.0]


def test_two_configurations_are_not_enough(name: str) -> None:
    data = Dataset(("executors",), tuple(Observation({"executors": e}, {"time_s": 9 / e}) for e in (1, 2, 1, 2)))
    with pytest.raises(NotEnoughDataError, match=r"2 different configurations(.|\n)*at least 3"):
        fit(name, data)


def test_three_configurations_are_enough_and_the_interval_is_wide(name: str) -> None:
    data = Dataset(
        ("executors",),
        tuple(Observation({"executors": e}, {"time_s": 9 / e + e / 7, "stage_0_s": 9 / e}) for e in (1, 2, 4)),
    )
    [(low, high)] = fit(name, data).interval([{"executors": 2}])
    assert 0 < low < high


def test_an_unknown_response_gets_a_suggestion(name: str) -> None:
    with pytest.raises(StudyError, match="did you mean 'time_s'"):
        fit(name, runs(), "time")


@pytest.mark.parametrize(
    ("at", "error", "words"),
    [
        ({"executors": 2, "net": "resnet"}, NotEnoughDataError, r"'resnet' was never run(.|\n)*lenet5, vgg"),
        ({"executors": 2}, StudyError, r"'net' is missing(.|\n)*lenet5, vgg"),
        ({"executors": math.nan, "net": "vgg"}, StudyError, "not a number"),
        ({"executors": "many", "net": "vgg"}, StudyError, "not a number"),
        ({"executors": 2, "net": "vgg", "epochs": 9}, NotEnoughDataError, "every run has epochs = 2"),
        ({"exectors": 2, "net": "vgg"}, StudyError, "did you mean 'executors'"),
    ],
)
def test_settings_that_the_runs_say_nothing_about_are_refused(
    fitted: Fitted, at: Configuration, error: type[Exception], words: str
) -> None:
    for ask in (fitted.predict, fitted.interval, lambda at: fitted.probability_below(at, 1.0)):
        with pytest.raises(error, match=words):
            ask([at])


def test_a_factor_that_never_changed_can_only_be_asked_at_its_value(name: str) -> None:
    data = Dataset(
        ("executors", "cores"),
        tuple(
            Observation({"executors": e, "cores": 2}, {"time_s": 9 / e + e / 7, "stage_0_s": 9 / e})
            for e in (1, 2, 4, 8)
        ),
    )
    fitted = fit(name, data)
    assert fitted.predict([{"executors": 2, "cores": 2}])[0] > 0
    with pytest.raises(NotEnoughDataError, match=r"every run has cores = 2"):
        fitted.predict([{"executors": 2, "cores": 4}])


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, math.nan])
def test_a_level_that_is_no_probability_is_refused(fitted: Fitted, level: float) -> None:
    with pytest.raises(StudyError, match="between 0 and 1"):
        fitted.interval(INSIDE, level=level)


def test_asking_about_nothing_answers_nothing(fitted: Fitted) -> None:
    assert fitted.predict([]) == []
    assert fitted.interval([]) == []


def test_listing_names_imports_no_heavy_library() -> None:
    code = (
        "import sys\n"
        "from sparkcast.models import MODELS\n"
        "from sparkcast.validate import PROTOCOLS\n"
        "from sparkcast.search.base import SEARCHERS\n"
        "import sparkcast.analyse.anova, sparkcast.recommend.choose\n"
        "assert MODELS.summaries() and PROTOCOLS.summaries() and SEARCHERS.summaries()\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'sklearn', 'statsmodels'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
