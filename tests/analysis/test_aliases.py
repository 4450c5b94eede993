"""Settings and terms that the runs cannot tell apart are named, and so are columns that the model leaves out."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from sparkcast import api
from sparkcast.data.options import TableOptions
from sparkcast.errors import NotEnoughDataError, StudyError

CLOUD = {"m5": "aws", "c5": "aws", "n1": "gcp", "n2": "gcp"}


def _frame(rows: list[dict[str, object]], seed: int = 0) -> pd.DataFrame:
    """The runs in random order."""
    return pd.DataFrame(rows).sample(frac=1, random_state=seed, ignore_index=True)


def nested() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    return _frame(
        [
            {"machine": m, "cloud": c, "executors": e, "time_s": 100 / e + 5 * (c == "aws") + draw.normal()}
            for (m, c), e, _ in product(CLOUD.items(), (1, 2, 4), "ab")
        ]
    )


def half_fraction() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    return _frame(
        [
            {"a": a, "b": b, "c": c, "d": 1 + (a + b + c) % 2, "time_s": 20 + a + b + c + draw.normal()}
            for a, b, c, _ in product((1, 2), (1, 2), (1, 2), "ab")
        ]
    )


def releases() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    return pd.DataFrame(
        [
            {"executors": e, "partitions": p, "release": r, "time_s": 100 / e + 15 * (r == "v3.3") + draw.normal()}
            for r in ("v3.3", "v3.5")
            for _ in "ab"
            for e, p in draw.permutation(list(product((1, 2, 4), (16, 64)))).tolist()
        ]
    )


def test_a_setting_that_another_determines_is_named_and_left_out() -> None:
    found = api.analyze(nested())
    assert {verdict.factor for verdict in found.factors} == {"machine", "executors"}
    assert any("`machine` determines `cloud`" in warning for warning in found.warnings)
    with pytest.raises(NotEnoughDataError, match="`machine` determines `cloud`"):
        api.analyze(nested(), formula="machine + cloud")


def test_interactions_that_look_alike_are_named_together() -> None:
    warnings = " ".join(api.analyze(half_fraction()).warnings)
    for alike in ("a:b or c:d", "a:c or b:d", "a:d or b:c"):
        assert alike in warnings


def test_numbers_drawn_at_random_do_not_determine_other_settings() -> None:
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({"lr": draw.random(20).round(4), "batch": draw.choice([32, 64], 20)})
    frame["time_s"] = 10 + 5 * frame["lr"] + draw.normal(size=20)
    found = api.analyze(frame, table=TableOptions(factors=("lr", "batch")))
    assert not any("determine" in warning for warning in found.warnings)


@pytest.mark.parametrize("formula", ["executors * partitions", None])
def test_a_column_left_out_that_explains_the_rest_is_blamed_before_warm_up(formula: str | None) -> None:
    table = None if formula else TableOptions(factors=("executors", "partitions"))
    warnings = " ".join(api.analyze(releases(), formula=formula, table=table).warnings)
    assert "release is not in the model and explains most of what is left" in warnings
    assert "warm-up" not in warnings


@pytest.mark.parametrize("responses", [(), ("minutes",), ("cost",)])
def test_what_the_runs_yielded_is_not_blamed_for_what_is_left(responses: tuple[str, ...]) -> None:
    draw = np.random.default_rng(2)
    frame = pd.DataFrame([{"executors": e, "cores": c} for e in (1, 2, 4) for c in (1, 2) for _ in range(8)])
    noise = draw.integers(0, 3, len(frame))  # rounded, so that equal results group the runs
    frame["minutes"], frame["cost"] = 10 + noise, 1 + 2 * noise
    frame = frame.sample(frac=1, random_state=1)
    found = api.analyze(frame, table=TableOptions(factors=("executors", "cores"), responses=responses))
    assert not any("add it as a factor" in warning for warning in found.warnings)


def test_columns_of_noise_are_not_blamed() -> None:
    draw = np.random.default_rng(3)
    blamed = 0
    for seed in range(40):
        frame = releases().assign(release=draw.permutation(["u", "v"] * 12), time_s=draw.normal(50, 1, 24))
        warnings = api.analyze(frame.sample(frac=1, random_state=seed), formula="executors + partitions").warnings
        blamed += any("not in the model" in warning for warning in warnings)
    assert blamed <= 2


def test_a_formula_may_have_logarithms_roots_and_inverses() -> None:
    draw = np.random.default_rng(0)
    frame = _frame(
        [
            {"executors": e, "rows": r, "time_s": 100 / e + 10 * np.log(r) + draw.normal(0, 0.1)}
            for e, r, _ in product((1, 2, 4), (10, 100, 1000), "ab")
        ]
    )
    found = api.analyze(frame, formula="I(1/executors) + log(rows)", transform="none")
    slopes = {effect.term: effect for effect in found.effects}
    assert found.r_squared > 0.9999
    assert slopes["1/executors"].coefficient == pytest.approx(100, rel=0.01)
    assert slopes["log(rows)"].coefficient == pytest.approx(10, rel=0.01)
    assert slopes["log(rows)"].unit == "time_s per log(rows)"
    assert slopes["1/executors"].change == pytest.approx(-75, rel=0.01)
    assert {verdict.factor: verdict.matters for verdict in found.factors} == {"executors": True, "rows": True}
    assert api.analyze(frame, formula="sqrt(rows) * executors", transform="none").rows[0].term == "sqrt(rows)"


@pytest.mark.parametrize(
    ("formula", "problem"),
    [("log(zeros)", "not always above 0"), ("log(name)", "not numeric"), ("log(zeros + 1)", "rejected at")],
)
def test_a_logarithm_that_does_not_exist_is_refused(formula: str, problem: str) -> None:
    frame = _frame(
        [{"zeros": z, "name": n, "time_s": 10 + z + i} for i, (z, n) in enumerate(product((0, 1, 2), "xy"))] * 2
    )
    with pytest.raises(StudyError, match=problem):
        api.analyze(frame, formula=formula, table=TableOptions(factors=("zeros", "name")))
