import altair
import pytest

from sparkcast.designs import make_plan
from sparkcast.designs.describe import Description, describe
from sparkcast.report import figures
from sparkcast.study import DesignChoice, Factor, Study


def description(k: int, **options: object) -> Description:
    factors = tuple(Factor(f"factor_{i}", (1, 3)) for i in range(k))
    study = Study("s", "pi", factors, design=DesignChoice("fractional", 2, options=options))
    return describe(study, make_plan(study))


@pytest.mark.parametrize("k", [3, 6, 9, 20])
def test_figures_of_a_plan_are_valid_and_fit_a_phone(k: int) -> None:
    described = description(k, resolution=3)
    for made in (figures.alias_map(described), figures.power_curve(described)):
        assert made is not None
        altair.Root.validate(made.spec)
        assert made.png(scale=1).startswith(b"\x89PNG")
        assert int(made.svg(narrow=True).split('width="')[1].split('"')[0]) <= 345


def test_the_map_shows_every_pair_of_effects_once_in_each_order() -> None:
    made = figures.alias_map(description(4, resolution=4))
    assert made is not None
    assert len(made.rows) == 10 * 9
    same = {(row["effect"], row["with"]) for row in made.rows if row["correlation"] == 1.0}
    assert ("factor_0 × factor_1", "factor_2 × factor_3") in same
    assert len(same) == 6


def test_a_map_of_many_effects_says_what_it_shows() -> None:
    made = figures.alias_map(description(20, resolution=3))
    assert made is not None
    assert len(made.rows) == 40 * 20
    assert "Shown: the 20 main effects against the 40 of 190 interactions" in made.caption


def test_the_curve_marks_the_replicates_of_the_plan() -> None:
    made = figures.power_curve(description(5))
    assert made is not None
    assert {row["replicates"] for row in made.rows} == {"1", "2 (this plan)", "3", "5"}
    assert {row["replicates"] for row in made.rows if row["is_plan"]} == {"2 (this plan)"}


def test_a_plan_that_tells_everything_apart_has_no_map() -> None:
    study = Study("s", "pi", (Factor("a", (1, 2)), Factor("b", (1, 2))))
    assert figures.alias_map(describe(study, make_plan(study))) is None


def test_a_plan_of_one_factor_has_no_map() -> None:
    study = Study("s", "pi", (Factor("a", (1, 2)),))
    assert figures.alias_map(describe(study, make_plan(study))) is None
