"""Large tables are learned from a sample, which is the same every time and which every answer tells."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from sparkcast import api
from sparkcast.learned.knowledge import Knowledge
from sparkcast.learned.sample import MOST, sample_of
from sparkcast.study import Dataset, Level, Observation, Outcome

N = 20_000
NETS = ("lenet5", "vgg", "resnet")
ASKED: dict[str, Level] = {"executors": 8, "data_gb": 4000, "net": "vgg"}


def large(n: int = N) -> Dataset:
    """Configurations that are all different, of which the last few alone have the largest network and the most data."""
    dice, runs = Random(7), []
    for i in range(n):
        net = NETS[2] if i == n - 3 else NETS[i % 2]
        executors = dice.randint(1, 64)
        runs.append(Observation({"executors": executors, "data_gb": 1 + i, "net": net}, {"time_s": 5 + i / executors}))
    return Dataset(("executors", "data_gb", "net"), tuple(runs), "large")


@pytest.fixture(scope="module")
def data() -> Dataset:
    return large()


def test_a_small_table_is_learned_from_as_it_is() -> None:
    small = large(MOST)
    assert sample_of(small, "time_s").runs is small
    assert sample_of(small, "time_s").is_whole


def test_of_a_large_table_a_sample_of_the_configurations_is_learned_from(data: Dataset) -> None:
    sample = sample_of(data, "time_s")
    assert (sample.n_configurations, sample.n_available) == (MOST, N)
    assert len({*map(data.key, sample.runs.observations)}) == MOST
    assert {*sample.runs.observations[0].configuration} == {"executors", "data_gb", "net"}
    assert sample.runs.vocabulary == data.vocabulary
    # Spread over the whole table, not its beginning.
    firsts = sum(run.configuration["data_gb"] <= N / 2 for run in sample.runs.observations)  # type: ignore[operator]
    assert firsts == pytest.approx(MOST / 2, rel=0.1)


def test_the_sample_reaches_as_far_as_the_table_and_has_every_category(data: Dataset) -> None:
    sample = sample_of(data, "time_s").runs
    for factor in data.factors:
        assert sample.levels(factor)[0] == data.levels(factor)[0]
        assert sample.levels(factor)[-1] == data.levels(factor)[-1]
    assert {*sample.levels("net")} == {*NETS}


def test_the_same_table_gives_the_same_sample(data: Dataset) -> None:
    assert sample_of(data, "time_s").runs.observations == sample_of(data, "time_s").runs.observations


def test_replicates_come_into_the_sample_together() -> None:
    once = large(300)
    twice = replace(once, observations=(*once.observations, *(replace(o, replicate=2) for o in once.observations)))
    sample = sample_of(twice, "time_s", most=50)
    assert len(sample.runs.observations) == 100
    assert sample.n_available == 300


def test_more_categories_than_the_sample_holds_do_not_make_it_larger() -> None:
    runs = tuple(Observation({"net": f"net-{i}", "executors": i}, {"time_s": 1.0 + i}) for i in range(100))
    assert sample_of(Dataset(("net", "executors"), runs), "time_s", most=20).n_configurations == 20


def test_a_response_that_few_runs_have_is_learned_from_all_of_them(data: Dataset) -> None:
    some = tuple(
        replace(run, responses={**run.responses, "accuracy": 0.9}) if i < 50 else run
        for i, run in enumerate(data.observations)
    )
    known = Knowledge(replace(data, observations=some), "median")
    assert known.sample("accuracy").n_configurations == 50
    assert len(known.sample("accuracy").runs.successful("accuracy")) == 50
    assert known.sample("time_s").n_configurations == MOST


def test_runs_that_failed_are_in_the_sample_for_what_fails_and_in_no_other(data: Dataset) -> None:
    some = tuple(
        replace(run, outcome=Outcome.OOM, responses={}) if i % 4 == 0 else run
        for i, run in enumerate(data.observations)
    )
    known = Knowledge(replace(data, observations=some), "median")
    assert all(run.ok for run in known.sample("time_s").runs.observations)
    failures = known.feasibility
    assert failures is not None
    assert failures.n_runs == MOST
    assert failures.n_failed == pytest.approx(MOST / 4, rel=0.15)


NOTE = f"trained on a sample of {MOST:,} of {N:,} configurations"


def test_every_answer_says_that_it_was_learned_from_a_sample(data: Dataset, tmp_path: Path) -> None:
    source = api.Data(data)
    assert api.predict(source, ASKED, model="median").notes == (NOTE,)
    learned = api.fit(source, model="median")
    assert f"time_s: {NOTE}" in learned.notes
    assert learned.responses[0].configurations == MOST
    api.save_model(learned.model, tmp_path / "m.sparkcast")
    read = api.load_model(tmp_path / "m.sparkcast")
    assert api.predict(read, ASKED).notes == (NOTE,)
    assert api.recommend(read, fix={"data_gb": 4000, "net": "vgg"}).notes == (f"time_s: {NOTE}",)


def test_answers_from_all_runs_say_nothing_of_a_sample() -> None:
    source = api.Data(large(20))
    notes = api.predict(source, ASKED | {"data_gb": 5}, model="median").notes
    assert notes == ("no configuration was run twice, so the noise of single runs is assumed, not measured",)
    assert api.recommend(source, model="median").notes == ()
