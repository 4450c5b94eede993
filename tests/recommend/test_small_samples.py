"""A recommendation from too few configurations says so, and names the runs that would help most."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparkcast import api
from sparkcast.recommend.small_samples import few_note, relative_width, two_widest
from sparkcast.study import Configuration, Dataset, Observation, Outcome
from sparkcast.study.derive import parse_price
from sparkcast.study.space import Candidates
from tests_support import Call, recommend

GRID = [Configuration({"executors": e, "batch_size": b}) for e, b in product((1, 2, 4, 8), (64, 128, 256))]
RUN = ((1, 64), (2, 128), (4, 64), (1, 256), (8, 128), (4, 256))
OTHERS = "trained on {n} configurations: the probabilities rest mostly on how other jobs behave; "


def measured(n: int, **responses: float) -> Dataset:
    runs = [
        Observation(
            {"executors": e, "batch_size": b}, {"time_s": 40 / e * (64 / b) ** 0.5 + 2, **responses}, replicate=r
        )
        for e, b in RUN[:n]
        for r in (1, 2)
    ]
    return Dataset(("executors", "batch_size"), tuple(runs), responses=("time_s", *responses))


def notes(n: int, **options: Any) -> tuple[str, ...]:
    return recommend(measured(n), GRID, **{"within_s": 45.0, **options}).notes


def suggested(note: str) -> list[str]:
    return note.partition("first: ")[2].split("; ")


def test_few_configurations_are_told_with_two_runs_that_were_not_made_yet() -> None:
    [note] = notes(4)
    assert note.startswith(OTHERS.format(n=4) + "run these two first: ")
    first, second = suggested(note)
    made = {f"executors={e}, batch_size={b}" for e, b in RUN[:4]}
    assert not {first, second} & made
    assert {first, second} < {str(configuration) for configuration in GRID}
    assert all(a != b for a, b in zip(first.split(", "), second.split(", "), strict=True))


def test_from_six_configurations_on_nothing_is_said() -> None:
    assert notes(6) == ()
    assert len(notes(5)) == 1


def test_a_model_that_counts_errors_is_held_to_what_so_many_can_show() -> None:
    [note] = notes(5, model="ridge")
    assert note.startswith(
        "with 5 configurations, ridge cannot support probabilities above 0.83; run these two first: "
    )
    [note] = notes(4, model="ridge", confidence=0.8)
    assert note.startswith(
        "trained on 4 configurations: the probabilities rest on only that many errors of ridge; run "
    )
    [note] = notes(4, model="ridge", extrapolate=True)
    assert note.startswith("with 4 configurations, ridge cannot support probabilities above 0.8; ")


def test_without_a_limit_nothing_was_promised() -> None:
    [note] = notes(5, model="ridge", within_s=None)
    assert note.startswith("trained on 5 configurations: the probabilities rest on only that many errors of ridge")


def test_the_model_that_knows_other_jobs_says_that_it_relies_on_them() -> None:
    for model in ("auto", "bayesian"):
        [note] = notes(5, model=model)
        assert note.startswith(OTHERS.format(n=5))


def test_suggestions_keep_to_what_is_given_and_to_what_is_left() -> None:
    [note] = notes(4, fix={"executors": 8})
    assert all(run.startswith("executors=8, ") for run in suggested(note))
    [note] = recommend(measured(4), [*GRID[:1], GRID[4]], within_s=45.0).notes
    assert note == OTHERS.format(n=4) + "run more configurations first"
    [note] = recommend(measured(4), GRID[:2], within_s=45.0).notes
    assert note == OTHERS.format(n=4) + "run this one first: executors=1, batch_size=128"


def test_what_is_likely_to_fail_is_not_suggested() -> None:
    data = measured(4)
    failed = [Observation({"executors": 8, "batch_size": b}, {}, outcome=Outcome.OOM) for b in (64, 256)]
    data = Dataset(data.factors, (*data.observations, *failed), responses=data.responses)
    [note] = recommend(data, GRID, within_s=45.0).notes
    assert "trained on 4 configurations" in note, "those that only failed taught nothing of the time"
    assert not any(run.startswith("executors=8") for run in suggested(note)), "128 is between two that failed"
    [note] = recommend(data, GRID, within_s=45.0, max_failure=0.999).notes
    assert "executors=8, batch_size=128" in suggested(note), "it is what would teach most"


def test_the_response_that_was_learned_from_least_decides() -> None:
    data = measured(6)
    told = [
        Observation(o.configuration, {**o.responses, "accuracy": 0.9}, replicate=o.replicate)
        for o in data.observations[:8]
    ]
    data = Dataset(data.factors, (*told, *data.observations[8:]), responses=("time_s", "accuracy"))
    assert recommend(data, GRID, minimize="time_s", within_s=45.0).notes == ()
    [note] = recommend(data, GRID, within_s=45.0, min_accuracy=0.5).notes
    assert note.startswith("trained on 4 configurations")


def test_a_cost_is_known_as_well_as_the_time_that_it_is_made_of() -> None:
    data = measured(5)
    [note] = recommend(data, GRID, minimize="cost", price=parse_price("hour = executors * 0.1")).notes
    assert note.startswith("trained on 5 configurations")


def test_the_second_run_differs_in_most_settings_before_it_is_the_widest() -> None:
    candidates = Candidates.of(GRID, ["executors", "batch_size"])
    widths = np.array([1.0] * len(GRID))
    widths[[0, 1, 5]] = 9.0, 8.0, 3.0  # (1, 64), (1, 128), (2, 256)
    every = np.ones(len(GRID), dtype=bool)
    assert two_widest(widths, every, candidates) == [0, 5]
    assert two_widest(widths, np.arange(len(GRID)) < 3, candidates) == [0, 1]
    assert two_widest(widths, np.arange(len(GRID)) < 1, candidates) == [0]
    assert two_widest(widths, ~every, candidates) == []


def test_widths_are_relative_and_a_prediction_of_zero_has_none() -> None:
    values, low, high = np.array([10.0, -2.0, 0.0]), np.array([5.0, -3.0, 0.0]), np.array([20.0, -1.0, 1.0])
    assert relative_width(values, low, high).tolist() == [1.5, 1.0, 0.0]


@pytest.mark.parametrize(("n", "bound"), [(3, "0.75"), (4, "0.8"), (5, "0.83")])
def test_the_bound_is_never_rounded_up(n: int, bound: str) -> None:
    note = few_note(n, "ridge", is_by_errors=True, confidence=0.95, teaching=())
    assert (
        note
        == f"with {n} configurations, ridge cannot support probabilities above {bound}; run more configurations first"
    )


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    rows = [
        f"{o.configuration['executors']},{o.configuration['batch_size']},{o.responses['time_s']}"
        for o in measured(4).observations
    ]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["executors,batch_size,time_s", *rows]) + "\n")
    return path


def test_the_command_shows_the_note_and_json_has_it(runs: Path, call: Call) -> None:
    asked = (
        "recommend",
        "runs.csv",
        "--within",
        "45s",
        "--levels",
        "executors=1,2,4",
        "--levels",
        "batch_size=64,128,256",
    )
    answer = call(*asked)
    assert answer.code == 0, answer.err
    assert "note: trained on 4 configurations: " in answer.err
    assert "run these two first: executors=" in answer.err
    [note] = json.loads(call(*asked, "--json").out)["notes"]
    assert f"note: {note}" in answer.err


def test_a_model_file_says_the_same_as_the_runs_it_was_learned_from(runs: Path, tmp_path: Path) -> None:
    data = api.load_data(runs, table=api.TableOptions(["executors", "batch_size"]))
    saved = tmp_path / "m.sparkcast"
    api.save_model(api.fit(data, ["time_s"]).model, saved)
    choices = api.Choices({"executors": (1, 2, 4), "batch_size": (64, 128, 256)})
    first, again = (api.recommend(known, within_s=45.0, choices=choices) for known in (data, api.load_model(saved)))
    assert len(first.notes) == 1
    assert again.notes == first.notes
