"""Answers beyond what was measured: refused, or wide and coherent."""

import math

import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.learned.support import Extrapolating, categories_of, like_known, require_support
from sparkcast.models import MODELS, Fitted
from sparkcast.study import Configuration, Dataset, Kind, Observation, Response

NETS = {"lenet5": 1.0, "vgg": 3.0, "resnet": 2.0, "mlp": 0.5}
NEW = Configuration({"executors": 2, "net": "transformer"})
TIME, SHARE = Response("time_s", kind=Kind.TIME), Response("accuracy", kind=Kind.SHARE)


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    data = Dataset(
        ("executors", "net"),
        tuple(
            Observation({"executors": e, "net": net}, {"time_s": slow * (5 + 40 / e) * 1.03 ** (e % 3)})
            for e in (1, 2, 4, 8)
            for net, slow in NETS.items()
        ),
    )
    return MODELS.get("ridge")().fit(data, "time_s")


@pytest.fixture
def stretched(fitted: Fitted) -> Extrapolating:
    return Extrapolating(fitted, TIME, {"net": tuple(NETS)})


def known(executors: int = 2) -> list[Configuration]:
    return [Configuration({"executors": executors, "net": net}) for net in NETS]


def test_a_category_that_was_never_run_gets_the_median_and_the_hull_of_the_known_ones(
    fitted: Fitted, stretched: Extrapolating
) -> None:
    points, spans = sorted(fitted.predict(known())), fitted.interval(known(), level=0.8)
    assert stretched.predict([NEW]) == [pytest.approx(math.sqrt(points[1] * points[2]))]
    assert stretched.interval([NEW], level=0.8) == [(min(low for low, _ in spans), max(high for _, high in spans))]


def test_the_median_of_shares_is_that_of_plain_numbers(fitted: Fitted) -> None:
    class Shares:
        def predict(self, at: list[Configuration]) -> list[float]:
            return [{"lenet5": 0.5, "vgg": 0.9}[str(c["net"])] for c in at]

    shares = Extrapolating(Shares(), SHARE, {"net": ("lenet5", "vgg")})  # type: ignore[arg-type]
    assert shares.predict([NEW]) == [pytest.approx(0.7)]


def test_probability_and_interval_of_a_new_category_agree(stretched: Extrapolating) -> None:
    for level in (0.5, 0.9):
        [(low, high)] = stretched.interval([NEW], level=level)
        assert stretched.probability_below([NEW], high) == [pytest.approx(0.5 + level / 2)]
        assert stretched.probability_below([NEW], low) == [pytest.approx(0.5 - level / 2)]
    assert stretched.probability_below([NEW], stretched.predict([NEW])[0]) == [0.5]
    chances = [stretched.probability_below([NEW], float(limit))[0] for limit in range(1, 200)]
    assert chances == sorted(chances)


def test_known_settings_are_answered_as_always(fitted: Fitted, stretched: Extrapolating) -> None:
    asked = [known()[1], known(5)[2]]
    assert stretched.predict(asked) == fitted.predict(asked)
    assert stretched.interval(asked) == fitted.interval(asked)
    assert stretched.probability_below(asked, 30.0) == fitted.probability_below(asked, 30.0)
    assert stretched.predict([]) == []


def test_mistakes_stay_mistakes(stretched: Extrapolating) -> None:
    with pytest.raises(StudyError, match="'executors' is missing"):
        stretched.predict([{"net": "transformer"}])
    with pytest.raises(StudyError, match="not a number"):
        stretched.predict([{"executors": math.nan, "net": "vgg"}])


def test_far_away_nothing_is_said_without_insisting(fitted: Fitted) -> None:
    require_support(fitted, [*known(), *known(20)], {})
    with pytest.raises(NotEnoughDataError, match=r"executors = 1000 is too far(.|\n)*run that would help most"):
        require_support(fitted, [{"executors": 1000, "net": "vgg"}], {})


def test_a_new_category_is_refused_with_the_way_to_insist(fitted: Fitted) -> None:
    with pytest.raises(NotEnoughDataError, match=r"was never run(.|\n)*`extrapolate=True` answers with an interval"):
        require_support(fitted, [NEW], {"net": tuple(NETS)})


def test_the_only_known_category_says_nothing_about_others() -> None:
    data = Dataset(
        ("executors", "net"), tuple(Observation({"executors": e, "net": "vgg"}, {"time_s": 9.0 / e}) for e in (1, 2, 4))
    )
    alone = Extrapolating(MODELS.get("median")().fit(data, "time_s"), TIME, {"net": ("vgg",)})
    with pytest.raises(NotEnoughDataError, match="every run has net = vgg"):
        alone.predict([NEW])


def test_categories_are_factors_whose_levels_are_not_all_numbers() -> None:
    seen = [
        Configuration({"memory": "1g", "net": "vgg", "size": 1}),
        Configuration({"memory": "512m", "net": 5, "size": 2}),
    ]
    assert categories_of(seen, ["memory", "net", "size"]) == {"net": ("vgg", 5)}


def test_several_new_categories_stand_for_every_known_combination() -> None:
    found = like_known({"a": "x", "b": "y", "c": 1}, {"a": ("p", "q"), "b": ("r", "s", "t")})
    assert len(found) == 6
    assert all(configuration["c"] == 1 for configuration in found)
