"""What every model promises, whoever wrote it."""

import math
import random
from collections.abc import Callable, Sequence
from typing import ClassVar

import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models import Fitted, Predictor
from sparkcast.study import Dataset, Observation
from sparkcast.study.configuration import Levels

INSIDE: list[Levels] = [{"executors": 3, "net": "lenet5"}, {"executors": 8, "net": "vgg"}]


def runs(executors: Sequence[int] = (1, 2, 4, 16), replicates: int = 2) -> Dataset:
    """Times of two networks on some executors, with noise, and a metric beside them."""
    noise = random.Random(5)

    def run(e: int, net: str, slow: float, replicate: int) -> Observation:
        time_s = slow * (5 + 60 / e + 0.2 * e) * math.exp(noise.gauss(0, 0.05))
        settings: Levels = {"executors": e, "net": net, "epochs": 2}
        return Observation(settings, {"time_s": time_s, "stage_0_s": slow * 60 / e}, replicate=replicate)

    cells = [(e, net, slow, r) for e in executors for net, slow in (("lenet5", 1.0), ("vgg", 3.0)) for r in (1, 2)]
    return Dataset(("executors", "net"), tuple(run(*cell) for cell in cells if cell[-1] <= replicates))


def few(times: int = 1) -> Dataset:
    data = runs((1, 4, 16), replicates=1)
    return Dataset(data.factors, data.observations * times)


class ModelSuite:
    """Set `plug` to the class of a model, or override the fixture `make` with something that makes one."""

    plug: ClassVar[Callable[[], Predictor]]

    @pytest.fixture(scope="class")
    @classmethod
    def make(cls) -> Callable[[], Predictor]:
        return cls.plug

    @pytest.fixture(scope="class")
    @classmethod
    def fitted(cls, make: Callable[[], Predictor]) -> Fitted:
        return make().fit(runs(), "time_s")

    @pytest.fixture(scope="class")
    @classmethod
    def from_few(cls, make: Callable[[], Predictor]) -> Fitted:
        return make().fit(few(), "time_s")

    def test_the_interval_contains_the_point_and_grows_with_the_level(self, fitted: Fitted) -> None:
        points = fitted.predict(INSIDE)
        previous = [(point, point) for point in points]
        for level in (0.1, 0.5, 0.9, 0.99):
            intervals = fitted.interval(INSIDE, level=level)
            for point, (low, high), (inner_low, inner_high) in zip(points, intervals, previous, strict=True):
                assert 0 < low < inner_low <= point <= inner_high < high
            previous = intervals

    def test_probability_and_interval_come_from_one_distribution(self, fitted: Fitted) -> None:
        for level in (0.5, 0.9, 0.98):
            for at in INSIDE:
                [(low, high)] = fitted.interval([at], level=level)
                assert fitted.probability_below([at], high) == [pytest.approx(0.5 + level / 2)]
                assert fitted.probability_below([at], low) == [pytest.approx(0.5 - level / 2)]
        assert fitted.probability_below(INSIDE, 0.0) == [0.0, 0.0]
        assert fitted.probability_below(INSIDE, -1.0) == [0.0, 0.0]
        assert fitted.probability_below(INSIDE, math.inf) == [1.0, 1.0]

    def test_the_same_data_give_the_same_answers(self, make: Callable[[], Predictor], from_few: Fitted) -> None:
        again = make().fit(few(), "time_s")
        assert again.predict(INSIDE) == from_few.predict(INSIDE)
        assert again.interval(INSIDE) == from_few.interval(INSIDE)

    def test_replicates_are_left_out_together(self, make: Callable[[], Predictor], from_few: Fitted) -> None:
        # Were a replicate left in while its twin is left out, identical twins would make every error look smaller.
        from_twins = make().fit(few(times=2), "time_s")
        for once, twice in zip(from_few.interval(INSIDE), from_twins.interval(INSIDE), strict=True):
            assert twice == pytest.approx(once, rel=1e-6)

    def test_outside_the_measured_range_the_interval_is_wider(self, fitted: Fitted) -> None:
        def ratio(executors: int) -> float:
            [(low, high)] = fitted.interval([{"executors": executors, "net": "vgg"}])
            return high / low

        # Most double the logarithm when the overshoot is the whole measured range, 16 - 1; some know more of the way.
        assert math.log(ratio(31)) > 1.2 * math.log(ratio(16))
        assert ratio(3) < ratio(31)  # inside, a model may know more at one place than at another

    def test_a_share_stays_between_zero_and_one(self, make: Callable[[], Predictor]) -> None:
        noise = random.Random(2)
        levels = (1, 2, 4, 8, 16)
        seen = [(e, {"accuracy": 0.995 - noise.random() / 20, "time_s": 9 / e}) for e in levels]
        data = Dataset(("executors",), tuple(Observation({"executors": e}, values) for e, values in seen))
        try:
            fitted = make().fit(data, "accuracy")
        except StudyError:
            return  # a model may be about times only
        [(low, high)] = fitted.interval([{"executors": 16}], level=0.999)
        assert 0 <= low <= fitted.predict([{"executors": 16}])[0] <= high <= 1
        assert fitted.probability_below([{"executors": 16}], 1.0) == [1.0]
        assert fitted.probability_below([{"executors": 16}], -0.1) == [0.0]

    def test_two_configurations_are_not_enough(self, make: Callable[[], Predictor]) -> None:
        data = Dataset(("executors",), tuple(Observation({"executors": e}, {"time_s": 9 / e}) for e in (1, 2, 1, 2)))
        with pytest.raises(NotEnoughDataError, match=r"2 different configurations(.|\n)*at least 3"):
            make().fit(data, "time_s")

    def test_three_configurations_are_enough(self, make: Callable[[], Predictor]) -> None:
        seen = [(e, {"time_s": 9 / e + e / 7, "stage_0_s": 9 / e}) for e in (1, 2, 4)]
        data = Dataset(("executors",), tuple(Observation({"executors": e}, values) for e, values in seen))
        [(low, high)] = make().fit(data, "time_s").interval([{"executors": 2}])
        assert 0 < low < high

    def test_an_unknown_response_gets_a_suggestion(self, make: Callable[[], Predictor]) -> None:
        with pytest.raises(StudyError, match="did you mean 'time_s'"):
            make().fit(runs(), "time")

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
        self, fitted: Fitted, at: Levels, error: type[Exception], words: str
    ) -> None:
        for ask in (fitted.predict, fitted.interval, lambda at: fitted.probability_below(at, 1.0)):
            with pytest.raises(error, match=words):
                ask([at])

    def test_a_factor_that_never_changed_can_only_be_asked_at_its_value(self, make: Callable[[], Predictor]) -> None:
        seen = [(e, {"time_s": 9 / e + e / 7, "stage_0_s": 9 / e}) for e in (1, 2, 4, 8)]
        observations = tuple(Observation({"executors": e, "cores": 2}, values) for e, values in seen)
        fitted = make().fit(Dataset(("executors", "cores"), observations), "time_s")
        assert fitted.predict([{"executors": 2, "cores": 2}])[0] > 0
        with pytest.raises(NotEnoughDataError, match=r"every run has cores = 2"):
            fitted.predict([{"executors": 2, "cores": 4}])

    @pytest.mark.parametrize("level", [0.0, 1.0, -1.0, math.nan])
    def test_a_level_that_is_no_probability_is_refused(self, fitted: Fitted, level: float) -> None:
        with pytest.raises(StudyError, match="between 0 and 1"):
            fitted.interval(INSIDE, level=level)

    def test_asking_about_nothing_answers_nothing(self, fitted: Fitted) -> None:
        assert fitted.predict([]) == []
        assert fitted.interval([]) == []
