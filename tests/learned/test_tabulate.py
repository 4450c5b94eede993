"""Tables of many candidates say what the model says of each."""

import math
import random
from itertools import product
from typing import Any

import numpy as np
import pytest

from sparkcast.learned.feasibility import fit_feasibility
from sparkcast.learned.support import Extrapolating
from sparkcast.learned.tabulate import failure_table, is_supported, tabulate
from sparkcast.models import MODELS
from sparkcast.study import Dataset, Observation, Outcome
from sparkcast.study.space import Space

# Inside the measured range, outside it along either number, and too far from it.
SPACE = Space({"executors": (1, 2, 3, 6, 12, 500), "net": ("a", "b"), "size": (5, 10, 20, 60)})
LIMITS = (5.0, 40.0, 300.0)


def measured() -> Dataset:
    noise = random.Random(2)
    runs = []
    for e, net, size in product((1, 2, 8), ("a", "b"), (10, 40)):
        fails = e == 1 and size == 40
        seconds = (3 + 40 / e) * (1.5 if net == "b" else 1.0) * size / 10 * math.exp(noise.gauss(0, 0.03))
        outcome = Outcome.OOM if fails else Outcome.OK
        runs.append(
            Observation(
                {"executors": e, "net": net, "size": size}, {} if fails else {"time_s": seconds}, outcome=outcome
            )
        )
    return Dataset(("executors", "net", "size"), tuple(runs))


@pytest.fixture(scope="module", params=["ridge", "auto", "extrapolating"])
def fitted(request: pytest.FixtureRequest) -> Any:
    name = "ridge" if request.param == "extrapolating" else request.param
    model = MODELS.get(name)().fit(measured(), "time_s")
    time = measured().vocabulary.response("time_s")
    return Extrapolating(model, time, {"net": ("a", "b")}) if request.param == "extrapolating" else model


def test_a_table_says_of_each_candidate_what_the_model_says(fitted: Any) -> None:
    candidates = SPACE.candidates()
    at, table = candidates.configurations(), tabulate(fitted, candidates)
    assert table.values.tolist() == pytest.approx(fitted.predict(at))
    for level in (0.5, 0.9, 0.99):
        assert np.column_stack(table.interval(level)).tolist() == pytest.approx(
            np.array(fitted.interval(at, level=level))
        )
    for limit in LIMITS:
        assert table.probability_below(limit).tolist() == pytest.approx(fitted.probability_below(at, limit))


def test_every_candidate_may_have_a_limit_of_its_own(fitted: Any) -> None:
    candidates = SPACE.candidates()
    limits = np.resize(LIMITS, len(candidates))
    found = tabulate(fitted, candidates).probability_below(limits)
    for place, (configuration, limit) in enumerate(zip(candidates.configurations(), limits.tolist(), strict=True)):
        assert found[place] == pytest.approx(fitted.probability_below([configuration], limit)[0])


def test_some_rows_of_a_table_are_the_table_of_these(fitted: Any) -> None:
    candidates = SPACE.candidates()
    rows = np.array([17, 3, 40, 0, 25, 3])
    table, some = tabulate(fitted, candidates), tabulate(fitted, candidates).take(rows)
    assert some.values.tolist() == pytest.approx(table.values[rows].tolist())
    assert some.interval(0.8)[1].tolist() == pytest.approx(table.interval(0.8)[1][rows].tolist())
    assert some.probability_below(40.0).tolist() == pytest.approx(table.probability_below(40.0)[rows].tolist())


def test_support_is_what_beyond_says(fitted: Any) -> None:
    candidates = SPACE.candidates()
    expected = [error is None for error in fitted.beyond(candidates.configurations())]
    assert is_supported(fitted, candidates).tolist() == expected


def test_failures_are_what_the_model_of_failures_says() -> None:
    failures, candidates = fit_feasibility(measured()), SPACE.candidates()
    expected = failures.probability_of_failure(candidates.configurations())
    assert failure_table(failures, candidates).tolist() == pytest.approx(expected)


def test_a_category_that_was_never_run_fails_as_often_as_the_worst_known_one() -> None:
    failures = fit_feasibility(measured())
    new = SPACE.with_levels({"net": ("a", "c")}).candidates()
    worst = [
        max(failures.probability_of_failure([{**c, "net": net} for net in ("a", "b")])) for c in new.configurations()
    ]
    found = failure_table(failures, new)
    for place, configuration in enumerate(new.configurations()):
        if configuration["net"] == "c":
            assert found[place] == pytest.approx(worst[place])
