"""What runs and models say about the jobs of a queue."""

import numpy as np
import pytest

from sparkcast.data.sources import Data
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.learned.knowledge import knowledge_of
from sparkcast.learned.service_times import FittedTimes, predicted_times
from sparkcast.queues.measured import measured_jobs
from sparkcast.study import Configuration, Dataset, Observation
from sparkcast.study.names import usual_vocabulary

SLOWDOWN = {1: 1.0, 2: 1.5, 4: 3.0}


def runs(*, jobs: tuple[int, ...] = (1, 2, 4), unit: str = "time_s") -> Dataset:
    observations = [
        Observation(Configuration({"executors": e, "jobs": j}), {unit: 60 / e * SLOWDOWN[j] * wobble})
        for e in (1, 2, 4)
        for j in jobs
        for wobble in (0.9, 1.1)
    ]
    words = usual_vocabulary(["executors", "jobs"], [unit])
    return Dataset(("executors", "jobs"), tuple(observations), "", (unit,), words)


def test_jobs_are_those_that_ran_alone() -> None:
    found = measured_jobs(runs(), {"executors": 2})
    assert found.times.values == pytest.approx((27.0, 33.0))
    assert found.configurations == 1
    assert found.slowdown is not None
    assert found.slowdown.factors == pytest.approx((1.0, 1.5, 3.0))


def test_all_configurations_are_a_mix() -> None:
    found = measured_jobs(runs())
    assert len(found.times.values) == 6
    assert "mix of the 3 configurations" in found.notes[0]


def test_a_single_number_of_jobs_shows_no_slowdown() -> None:
    assert measured_jobs(runs(jobs=(1,))).slowdown is None


def test_jobs_that_always_ran_beside_two_others_were_never_alone() -> None:
    words = usual_vocabulary(["executors", "jobs"], ["time_s"])
    beside = tuple(Observation(Configuration({"executors": e, "jobs": 3}), {"time_s": 60 / e}) for e in (1, 2))
    with pytest.raises(NotEnoughDataError, match="no run was alone"):
        measured_jobs(Dataset(("executors",), beside, "", ("time_s",), words))


def test_what_was_not_measured_is_refused() -> None:
    with pytest.raises(NotEnoughDataError, match="no run was alone"):
        measured_jobs(runs(jobs=(2, 4)))
    with pytest.raises(StudyError, match="'hosts' is not a factor"):
        measured_jobs(runs(), {"hosts": 1})


def test_a_model_gives_quantiles_that_ascend_around_its_prediction() -> None:
    known = knowledge_of(Data(runs()), "linear")
    times = predicted_times(known, {"executors": 2})
    middle = FittedTimes.of(known, {"executors": 2}).quantiles(1, np.array([0.5]))[0]
    assert times.at(np.array([0.1]))[0] < middle < times.at(np.array([0.9]))[0]
    assert list(times.values) == sorted(times.values)


def test_a_model_knows_the_share_that_has_ended() -> None:
    times = FittedTimes.of(knowledge_of(Data(runs()), "linear"), {"executors": 2})
    median = times.quantiles(2, np.array([0.5]))[0]
    assert times.share_within(2, median) == pytest.approx(0.5, abs=0.05)
    assert times.quantiles(4, np.array([0.5]))[0] > median


def test_more_jobs_than_were_measured_are_refused_unless_a_guess_is_wanted() -> None:
    known = knowledge_of(Data(runs()), "linear")
    with pytest.raises(NotEnoughDataError):
        FittedTimes.of(known, {"executors": 2}).quantiles(400, np.array([0.5]))
    assert FittedTimes.of(known, {"executors": 2}, extrapolate=True).quantiles(400, np.array([0.5]))[0] > 0
