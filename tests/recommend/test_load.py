import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist, fmean, median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.designs import make_plan
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.learned.support import Extrapolating
from sparkcast.models.linear import Linear
from sparkcast.queues import staggered
from sparkcast.queues.admission import AdmittedJob
from sparkcast.queues.calibration import Timed, calibrate
from sparkcast.recommend import RunningForecast, RunningJob
from sparkcast.recommend.load import (
    forecast_launching,
    forecast_running,
    jobs_factor,
    parse_running,
    running_jobs,
)
from sparkcast.store import open_store
from sparkcast.study import Configuration, Dataset, Factor, Observation, Study
from sparkcast.study.configuration import Levels
from sparkcast.study.names import usual_vocabulary


@dataclass(frozen=True, slots=True)
class Exact:
    """100 s alone, `slowdown` times that for each job more; logarithms are normal, wider from `wide_from` jobs on."""

    spread: float = 0.1
    slowdown: float = 1.5
    wide_from: int = 99

    def predict(self, at: Sequence[Levels]) -> list[float]:
        return [100 * self.slowdown ** (int(c["jobs"]) - 1) for c in at]

    def interval(self, at: Sequence[Levels], *, level: float = 0.9) -> list[tuple[float, float]]:
        reach = NormalDist().inv_cdf(0.5 + level / 2)
        ratios = [math.exp(reach * self._sigma(c)) for c in at]
        return [(m / ratio, m * ratio) for m, ratio in zip(self.predict(at), ratios, strict=True)]

    def probability_below(self, at: Sequence[Levels], limit: float) -> list[float]:
        if limit <= 0:
            return [0.0] * len(at)
        distances = [
            (math.log(limit) - math.log(m)) / self._sigma(c) for c, m in zip(at, self.predict(at), strict=True)
        ]
        return [NormalDist().cdf(distance) for distance in distances]

    def beyond(self, at: Sequence[Levels]) -> list[NotEnoughDataError | None]:
        return [NotEnoughDataError("too many", hint="run 5") if int(c["jobs"]) > 5 else None for c in at]

    def _sigma(self, configuration: Levels) -> float:
        return self.spread * (5 if int(configuration["jobs"]) >= self.wide_from else 1)


def forecast(
    elapsed_s: float, within_s: float | None = None, *, times: Exact | None = None, n: int = 2, confidence: float = 0.9
) -> RunningForecast:
    job = RunningJob(Configuration({"executors": 2}), elapsed_s, within_s)
    [found] = forecast_running(times or Exact(), [job], factor="jobs", n_running=n, confidence=confidence)
    return found


# ---------------------------------------------------------------- the arithmetic


def test_the_rest_of_the_work_goes_at_the_speed_of_one_job_more() -> None:
    found = forecast(60.0)
    assert found.ends_s == pytest.approx(150.0, rel=1e-3)
    assert found.ends_with_new_s == pytest.approx(60 + (1 - 60 / 150) * 225, rel=1e-3)
    assert (found.probability, found.probability_with_new, found.would_miss) == (None, None, False)


def test_a_job_that_has_just_begun_takes_as_long_as_one_of_the_new_load() -> None:
    assert forecast(0.0).ends_with_new_s == pytest.approx(225.0, rel=1e-3)


def test_probabilities_are_those_of_the_model_given_that_the_job_still_runs() -> None:
    found = forecast(140.0, 160.0)
    normal = NormalDist()
    ended = normal.cdf(math.log(140 / 150) / 0.1)
    in_time = normal.cdf(math.log(160 / 150) / 0.1)
    in_time_with_new = normal.cdf(math.log((140 + 20 / 1.5) / 150) / 0.1)  # 20 s of the slower kind are 13.3 s
    assert found.probability == pytest.approx((in_time - ended) / (1 - ended), abs=0.01)
    assert found.probability_with_new == pytest.approx((in_time_with_new - ended) / (1 - ended), abs=0.01)


def test_a_forecast_agrees_with_simulated_jobs() -> None:
    noise = random.Random(3)
    elapsed, within, times = 150.0, 175.0, Exact(wide_from=3)
    [middle_now, middle_then] = times.predict([Configuration({"jobs": 2}), Configuration({"jobs": 3})])
    ends, ends_with_new = [], []
    for _ in range(40_000):
        luck = noise.gauss(0, 0.1)  # a job keeps its luck, and the wider distribution makes more of it
        total, slower = middle_now * math.exp(luck), middle_then * math.exp(5 * luck)
        if total > elapsed:
            ends.append(total)
            ends_with_new.append(elapsed + (1 - elapsed / total) * slower)
    found = forecast(elapsed, within, times=times)
    assert found.ends_s == pytest.approx(median(ends), rel=0.005)
    assert found.ends_with_new_s == pytest.approx(median(ends_with_new), rel=0.01)
    assert found.probability == pytest.approx(fmean(end <= within for end in ends), abs=0.01)
    assert found.probability_with_new == pytest.approx(fmean(end <= within for end in ends_with_new), abs=0.01)


# ---------------------------------------------------------------- late jobs


@settings(max_examples=60)
@given(st.floats(0, 5000), st.floats(0.5, 8000), st.floats(0.01, 0.5), st.floats(1, 3))
def test_a_running_job_always_ends_later_than_now_and_not_sooner_with_one_more(
    elapsed_s: float, within_s: float, spread: float, slowdown: float
) -> None:
    found = forecast(elapsed_s, within_s, times=Exact(spread, slowdown))
    assert elapsed_s < found.ends_s <= found.ends_with_new_s * (1 + 1e-9)
    assert found.probability is not None
    assert found.probability_with_new is not None
    assert 0 <= found.probability_with_new <= found.probability + 1e-6 <= 1 + 1e-6


def test_a_job_much_later_than_any_was_is_as_far_from_its_end_as_it_is_late() -> None:
    found = forecast(400.0, 650.0)
    assert found.ends_s == pytest.approx(400 + 250, rel=1e-3)
    assert found.ends_with_new_s == pytest.approx(400 + 250 * 1.5, rel=1e-3)
    assert found.probability == pytest.approx(0.5, abs=0.01)
    assert found.probability_with_new == pytest.approx(250 / (250 + 375), abs=0.01)


def test_a_deadline_that_has_passed_cannot_be_met_and_is_not_missed_because_of_the_new_job() -> None:
    for elapsed_s in (140.0, 900.0):
        found = forecast(elapsed_s, 120.0)
        assert (found.probability, found.probability_with_new, found.would_miss) == (0.0, 0.0, False)


# ---------------------------------------------------------------- missing a deadline


def test_a_job_would_miss_its_deadline_when_only_the_new_job_makes_it_doubtful() -> None:
    assert not forecast(60.0, 400.0).would_miss  # safe with the new job too
    assert forecast(60.0, 190.0).would_miss
    assert not forecast(60.0, 150.0).would_miss  # doubtful already
    assert not forecast(60.0, 190.0, times=Exact(slowdown=1.0)).would_miss


# ---------------------------------------------------------------- beyond what was measured


def test_more_jobs_than_the_runs_speak_of_are_refused_with_the_run_that_would_help() -> None:
    with pytest.raises(NotEnoughDataError, match="one more job would make 6: too many") as caught:
        forecast(60.0, n=5)
    assert caught.value.hint == "run 5"
    with pytest.raises(NotEnoughDataError, match="cannot be forecast"):
        forecast(60.0, n=9)


def measured() -> Dataset:
    noise = random.Random(1)
    return Dataset(
        ("executors", "jobs"),
        tuple(
            Observation({"executors": e, "jobs": j, "epochs": 2}, {"time_s": 90 / e * 1.4**j * noise.uniform(0.9, 1.1)})
            for e in (1, 2, 4)
            for j in (1, 2, 4)
        ),
    )


def test_a_fitted_model_names_the_missing_load_and_answers_when_somebody_insists() -> None:
    times = Linear().fit(measured(), "time_s")
    jobs = [
        RunningJob(Configuration({"executors": 2, "epochs": 2}), 30.0, 2000.0),
        RunningJob(Configuration({"executors": 4}), 5.0),
    ]
    inside = forecast_running(times, jobs, factor="jobs", n_running=3, confidence=0.9)
    assert [found.job for found in inside] == jobs
    with pytest.raises(
        NotEnoughDataError, match="would make 17: jobs = 17 is too far from the measured range"
    ) as caught:
        forecast_running(times, jobs, factor="jobs", n_running=16, confidence=0.9)
    assert "jobs=5" in caught.value.hint
    bold = Extrapolating(times, measured().vocabulary.response("time_s"), {})
    guesses = forecast_running(bold, jobs, factor="jobs", n_running=16, confidence=0.9)
    assert all(guess.ends_s < guess.ends_with_new_s for guess in guesses)


def test_jobs_that_launch_and_wait_for_cores_are_forecast_as_queue_admit_does() -> None:
    one = Configuration({"executors": 1})
    alone, both = Timed(0.0, 2.0, 6.0, one), Timed(0.0, 4.0, 12.0, one)
    known = calibrate([alone, alone], [[both, both]], 2)
    jobs = [RunningJob(Configuration({}), 3.0, 7.0)]
    [found] = forecast_launching(known, jobs, one, n_running=1, confidence=0.9) or ()
    now = [AdmittedJob("a", known.phases[one], 3.0, 7.0)]
    [without] = staggered.forecast(now, known.machine)
    [beside, _] = staggered.forecast(now, known.machine, new=AdmittedJob("b", known.phases[one]))
    assert (found.ends_s, found.ends_with_new_s) == (without.ends_s, beside.ends_s) == pytest.approx((6, 9))
    assert (found.probability, found.probability_with_new, found.would_miss) == (1, 0, True)
    assert forecast_launching(known, jobs, one, n_running=3, confidence=0.9) is None  # others hold all cores
    unknown = Configuration({"executors": 9})
    assert forecast_launching(known, jobs, unknown, n_running=1, confidence=0.9) is None


def test_a_malformed_question_is_refused() -> None:
    with pytest.raises(StudyError, match="confidence 95"):
        forecast(60.0, confidence=95.0)
    with pytest.raises(StudyError, match="1 running jobs are described, but `jobs_running=` is 0"):
        forecast(60.0, n=0)
    assert forecast_running(Exact(), [], factor="jobs", n_running=0, confidence=0.9) == ()


def test_the_factor_that_counts_jobs_is_found_by_its_role() -> None:
    words = usual_vocabulary(["executors", "batch_size", "jobs"], [])
    assert jobs_factor(["executors", "jobs"], words) == "jobs"
    with pytest.raises(NotEnoughDataError, match="among executors, batch_size") as caught:
        jobs_factor(["executors", "batch_size"], words)
    assert "`jobs: [1, 2, 4]`" in caught.value.hint


# ---------------------------------------------------------------- parsing


def test_a_running_job_is_read_from_a_line() -> None:
    job = parse_running(" network = lenet5, memory=1g,learning_rate=0.01,executors=2,elapsed=2m ")
    expected = Configuration({"network": "lenet5", "memory": "1g", "learning_rate": 0.01, "executors": 2})
    assert job == RunningJob(expected, 120.0, None)
    assert parse_running("elapsed=0,within=1.5h") == RunningJob(Configuration({}), 0.0, 5400.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'' is not name=value"),
        ("executors=2", "elapsed, how long it has run, is missing"),
        ("executors,elapsed=3s", "'executors' is not name=value"),
        ("executors=,elapsed=3s", "is not name=value"),
        ("executors=2,executors=3,elapsed=3s", "executors appears twice"),
        ("elapsed=3 parsecs", "unknown unit 'parsecs'"),
        ("elapsed=-3s", "is not a duration"),
        ("elapsed=1e999", "not a finite time"),
        ("elapsed=3s,within=0s", "deadline of 0 s"),
        ("rate=nan,elapsed=3s", "rate = nan is not finite"),
    ],
)
def test_a_line_that_describes_no_job_is_refused_with_an_example(text: str, words: str) -> None:
    with pytest.raises(StudyError, match="does not describe a running job") as caught:
        parse_running(text)
    assert words in caught.value.problem
    assert "elapsed=120s" in caught.value.hint


# ---------------------------------------------------------------- the store


def test_a_running_trial_with_three_jobs_is_three_jobs(tmp_path: Path) -> None:
    study = Study("s", "pi", (Factor("executors", (1, 2)), Factor("jobs", (1, 3))))
    plan = make_plan(study)
    store = open_store(tmp_path / "r", create=True)
    store.register(study, plan)
    three = next(t for t in plan.trials if t.configuration["jobs"] == 3)
    store.begin_run("s", three)
    [(_, launched_at)] = store.running("s")
    words = study.vocabulary
    jobs = running_jobs(store.running("s"), 60.0, launched_at + 7.5, words)
    assert jobs == (RunningJob(three.configuration.only(["executors"]), 7.5, 60.0),) * 3
    assert running_jobs(store.running("s"), None, launched_at - 5, words)[0].elapsed_s == 0
    assert running_jobs(store.running("other"), None, launched_at, words) == ()
    store.close()
