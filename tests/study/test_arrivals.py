"""Streams in the study file: when jobs arrive, and which settings each has."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.study import Configuration, Study
from sparkcast.study.arrivals import ARRIVAL_RATE, At, FromLogs, MixPart, Poisson, dealt
from sparkcast.study.file import parse_study
from sparkcast.workloads import resolve

STUDY = """\
study: s
workload: pi
settings: {samples: 1000}
"""
POISSON = "arrivals: {kind: poisson, rate: 12/h, jobs: 20, seed: 4}\n"
MIX = "mix: [{share: 0.7, executors: 1}, {share: 0.3, executors: 2, partitions: 4}]\n"


def made(text: str) -> Study:
    return resolve(parse_study(STUDY + text))


# ---------------------------------------------------------------- reading


def test_a_rate_is_a_setting_of_the_trial_and_a_list_of_rates_a_factor() -> None:
    study = made(POISSON)
    assert study.arrivals == Poisson(20, 4)
    assert study.fixed[ARRIVAL_RATE] == 12
    varied = made("arrivals: {rate: [12/h, 1/min], jobs: 20}\n")
    assert [(factor.name, factor.levels) for factor in varied.factors] == [(ARRIVAL_RATE, (12, 60))]


def test_a_stream_has_no_number_of_jobs_at_once() -> None:
    assert "jobs" not in made(POISSON).fixed
    assert "jobs" in resolve(parse_study(STUDY)).fixed


def test_given_times_and_logs_are_read(tmp_path: Path) -> None:
    assert made("arrivals: {at: [0s, 30s, 1m]}\n").arrivals == At((0.0, 30.0, 60.0))
    study = parse_study(f"{STUDY}arrivals: {{logs: old, speed: 10}}\n", tmp_path / "s.yaml")
    assert study.arrivals == FromLogs(tmp_path / "old", 10.0)


def test_each_part_of_a_mix_has_all_settings_in_which_parts_differ() -> None:
    study = made(POISSON + MIX)
    assert [dict(part.settings) for part in study.mix] == [
        {"executors": 1, "partitions": 2},
        {"executors": 2, "partitions": 4},
    ]
    assert not {"executors", "partitions"} & set(study.fixed)


def test_a_changed_stream_is_another_study() -> None:
    definitions = [made(text).measured_definition() for text in (POISSON, POISSON + MIX, "")]
    assert definitions[0]["arrivals"] == {"kind": "poisson", "jobs": 20, "seed": 4}
    assert definitions[1]["mix"][1]["share"] == 0.3
    assert not {"arrivals", "mix"} & set(definitions[2])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("arrivals: {rate: 12, jobs: 20}", ["line 4", "'12' is a rate without a unit", "12/h"]),
        ("arrivals: {rate: 0/h, jobs: 20}", ["a rate of 0/h cannot be"]),
        ("arrivals: {rate: -3/h, jobs: 20}", ["a rate of -3/h cannot be"]),
        ("arrivals: {rate: [12/h], jobs: 20}", ["single level 12"]),
        ("arrivals: {rate: 12/h}", ["without a number of jobs", "jobs: 20"]),
        ("arrivals: {jobs: 20}", ["without a rate"]),
        ("arrivals: {rate: 12/h, jobs: 1}", ["a stream of 1 job is not possible"]),
        ("arrivals: {rate: 12/h, jobs: 0}", ["a stream of 0 jobs is not possible"]),
        ("arrivals: {rate: 12/h, jobs: 100001}", ["100,001 jobs"]),
        ("arrivals: {kind: bursts, rate: 12/h, jobs: 9}", ["arrivals.kind", "poisson"]),
        ("arrivals: {rates: 12/h, jobs: 9}", ["unknown key 'arrivals.rates'", "did you mean 'rate'"]),
        ("arrivals: {}", ["arrivals are given by nothing"]),
        ("arrivals: {at: []}", ["a stream of 0 jobs"]),
        ("arrivals: {at: [0s, 45s, 30s]}", ["not in order: 30 s comes after 45 s"]),
        ("arrivals: {at: [-5s, 30s]}", ["'-5s' is not a duration"]),
        ("arrivals: {at: [0s, 30s], rate: 12/h, jobs: 2}", ["given by rate and at", "give one"]),
        ("arrivals: {speed: 10}", ["a speed and no logs"]),
        ("arrivals: {logs: x, speed: 0}", ["a speed of 0 is not possible"]),
        (f"{POISSON}mix: [{{share: 0.7, executors: 1}}, {{share: 0.2, executors: 2}}]", ["add up to 0.9, not 1"]),
        (f"{POISSON}mix: [{{share: 1.5, executors: 1}}]", ["a share of 1.5 is not possible"]),
        (f"{POISSON}mix: [{{executors: 1}}]", ["line 5", "part 1 of the mix has no share"]),
        (f"{POISSON}mix: [{{share: 0.5, cores: 1}}, {{share: 0.5, cores: 1}}]", ["the same settings"]),
        (f"{POISSON}mix: [{{share: 1.0, hosts: 1}}]", ["no setting 'hosts' for a mix"]),
        (f"{POISSON}mix: [{{share: 1.0, jobs: 2}}]", ["no setting 'jobs' for a mix"]),
        (f"{POISSON}mix: [{{share: 1.0, executors: 0}}]", ["below its minimum 1"]),
        ("mix: [{share: 1.0, executors: 1}]", ["a mix of jobs needs arrivals"]),
        (f"{POISSON}rules: [executors < 3]\n{MIX}", ["the rule 'executors < 3' is about executors"]),
    ],
)
def test_what_is_wrong_with_a_stream_is_said(text: str, words: list[str]) -> None:
    with pytest.raises(StudyError) as caught:
        made(text)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("settings", ["{samples: 10, jobs: 3}", "{samples: 10, jobs: [1, 3]}"])
def test_arrivals_and_jobs_at_once_contradict_each_other(settings: str) -> None:
    with pytest.raises(StudyError, match="jobs and arrivals both say how many jobs there are") as caught:
        resolve(parse_study(f"study: s\nworkload: pi\nsettings: {settings}\n{POISSON}"))
    assert "line 3" in str(caught.value)


def test_a_varied_setting_is_not_in_the_mix() -> None:
    text = f"study: s\nworkload: pi\nsettings: {{executors: [1, 2]}}\n{POISSON}{MIX}"
    with pytest.raises(StudyError, match="executors is varied and stands in the mix"):
        resolve(parse_study(text))


# ---------------------------------------------------------------- the times


def test_replicates_differ_and_rates_stretch_the_same_stream() -> None:
    arrivals = Poisson(50, 4)
    slow, fast = (arrivals.times_s({ARRIVAL_RATE: rate}, 1) for rate in (10, 20))
    assert slow == pytest.approx([2 * time for time in fast])
    assert arrivals.times_s({ARRIVAL_RATE: 10}, 2) != slow
    assert arrivals.times_s({ARRIVAL_RATE: 10}, 1) == slow


@given(st.integers(2, 200), st.integers(0, 10**6), st.floats(0.1, 1e5))
def test_poisson_arrivals_begin_at_once_and_ascend(jobs: int, seed: int, rate: float) -> None:
    times = Poisson(jobs, seed).times_s({ARRIVAL_RATE: rate}, 1)
    assert times[0] == 0
    assert len(times) == jobs
    assert list(times) == sorted(times)


def test_poisson_arrivals_come_at_their_rate() -> None:
    times = Poisson(5000, 1).times_s({ARRIVAL_RATE: 3600}, 1)
    assert times[-1] / 4999 == pytest.approx(1.0, rel=0.05)  # of 4999 exponential gaps: a standard error of 1.4 %


def test_starts_of_applications_become_arrivals(tmp_path: Path) -> None:
    logs = FromLogs(tmp_path, 10.0)
    assert logs.at([100.0, 50.0, 70.0]).given_s == (0.0, 2.0, 5.0)
    with pytest.raises(NotEnoughDataError, match="one application"):
        logs.at([100.0])


@given(st.lists(st.integers(1, 20), min_size=1, max_size=5), st.integers(1, 200), st.integers(1, 9))
def test_a_mix_is_dealt_by_its_shares(weights: list[int], n_jobs: int, replicate: int) -> None:
    mix = [MixPart(weight / sum(weights), Configuration({"cores": i})) for i, weight in enumerate(weights)]
    jobs = dealt(mix, n_jobs, seed=1, replicate=replicate)
    assert len(jobs) == n_jobs
    counts = Counter(jobs)
    for part in mix:
        assert abs(counts[part.settings] - part.share * n_jobs) < 1 + 1e-6
    assert dealt(mix, n_jobs, seed=1, replicate=replicate) == jobs


def test_given_times_count_from_the_first() -> None:
    assert At((10.0, 25.0)).times_s({}, 1) == (0.0, 15.0)
