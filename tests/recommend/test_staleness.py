import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import NormalDist, fmean

import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models import Fitted
from sparkcast.models.linear import Linear
from sparkcast.recommend.staleness import drift, drift_within, most_jobs_in, staleness
from sparkcast.study import Configuration, Dataset, Fingerprint, Observation, Outcome
from sparkcast.study.configuration import Levels
from sparkcast.study.names import usual_vocabulary

HERE = Fingerprint(
    "Xeon 8375C", 8, 16 * 2**30, "Linux 6.1.0 x86_64", "3.11.7", "3.5.3", "17.0.9", "embedded: 2 worker(s) x 4 core(s)"
)


# ---------------------------------------------------------------- hardware


def test_runs_made_on_a_machine_like_this_one_are_fresh() -> None:
    found = staleness([HERE], HERE)
    assert (found.verdict, found.reasons) == ("fresh", ())


def test_versions_that_do_not_matter_and_a_little_memory_are_no_difference() -> None:
    patched = replace(HERE, python="3.11.9", system="Linux 6.8.2 x86_64", spark="3.5.6", java="17.0.15", data="other")
    assert staleness([HERE], replace(patched, memory_bytes=int(HERE.memory_bytes * 0.96))).verdict == "fresh"
    assert staleness([HERE], replace(patched, memory_bytes=int(HERE.memory_bytes * 0.94))).verdict == "retrain"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cpu": "EPYC 7R13"}, "cpu EPYC 7R13 instead of Xeon 8375C"),
        ({"cores": 4}, "cores 4 instead of 8"),
        ({"memory_bytes": 8 * 2**30}, "memory 8.0 GiB instead of 16.0 GiB"),
        ({"spark": "4.0.1"}, "Spark 4.0 instead of 3.5"),
        ({"cluster": "embedded: 1 worker(s) x 8 core(s)"}, "cluster embedded: 1 worker(s) x 8 core(s) instead of"),
    ],
)
def test_other_hardware_is_a_reason_to_retrain_that_says_what_differs(change: dict[str, object], words: str) -> None:
    found = staleness([HERE], replace(HERE, **change))  # type: ignore[arg-type]
    assert found.verdict == "retrain"
    [reason] = found.reasons
    assert words in reason
    assert reason.startswith("No training run was made on a machine like this one: ")
    assert reason.endswith(".")


def test_one_training_run_like_the_present_is_enough_and_mixed_ones_are_only_doubted() -> None:
    other = replace(HERE, cpu="EPYC 7R13", cores=4)
    found = staleness([HERE, other, HERE], HERE)
    assert found.verdict == "fresh"
    assert found.reasons == (
        "The training runs come from 2 environments that differ in cpu, cores: predictions mix them.",
    )


def test_the_differences_are_those_to_the_most_similar_training_run() -> None:
    far = replace(HERE, cpu="EPYC 7R13", cores=4, spark="3.3.0")
    found = staleness([HERE, far], replace(HERE, cores=16))
    assert "cores 16 instead of 8" in found.reasons[0]
    assert "EPYC" not in found.reasons[0]


def test_what_a_fingerprint_does_not_say_is_not_compared() -> None:
    silent = Fingerprint("", 0, 0, "", "", "", "", "embedded: 2 worker(s) x 4 core(s)")
    assert staleness([silent], HERE).verdict == "fresh"


def test_without_anything_to_compare_the_verdict_is_unknown_and_says_why() -> None:
    nothing = staleness([], None)
    assert (nothing.verdict, nothing.reasons) == ("unknown", ("The runs do not record the hardware they ran on.",))
    remote = staleness([replace(HERE, cluster="spark://head:7077")], None)
    assert remote.verdict == "unknown"
    assert "made on spark://head:7077, whose hardware cannot be checked from this machine" in remote.reasons[0]
    assert "no Spark on this machine" in staleness([HERE], None).reasons[0]


# ---------------------------------------------------------------- load


def test_more_jobs_at_once_than_were_measured_are_a_reason_to_retrain() -> None:
    words = usual_vocabulary(["executors", "jobs"], [])
    measured = [Configuration({"executors": 2, "jobs": 1}), Configuration({"executors": 2, "jobs": 3})]
    most = most_jobs_in(measured, words)
    assert staleness([HERE], HERE, n_jobs=3, most_jobs=most).verdict == "fresh"
    found = staleness([HERE], HERE, n_jobs=4, most_jobs=most)
    assert found.verdict == "retrain"
    assert found.reasons == ("4 jobs at once are more than in any training run (at most 3).",)
    alone = most_jobs_in([Configuration({"executors": 2})], words)
    assert staleness([], None, n_jobs=2, most_jobs=alone).verdict == "retrain"


# ---------------------------------------------------------------- drift


@dataclass(frozen=True, slots=True)
class Exact:
    """100 s a unit of size, with normal logarithms; nothing is known of sizes above 50."""

    spread: float = 0.1

    def predict(self, at: Sequence[Levels]) -> list[float]:
        return [100.0 * float(c["size"]) for c in at]

    def interval(self, at: Sequence[Levels], *, level: float = 0.9) -> list[tuple[float, float]]:
        ratio = math.exp(NormalDist().inv_cdf(0.5 + level / 2) * self.spread)
        return [(m / ratio, m * ratio) for m in self.predict(at)]

    def probability_below(self, at: Sequence[Levels], limit: float) -> list[float]:
        return [NormalDist().cdf(math.log(limit / m) / self.spread) for m in self.predict(at)]

    def beyond(self, at: Sequence[Levels]) -> list[NotEnoughDataError | None]:
        if any("color" in c for c in at):
            raise StudyError("no run has the setting 'color'")
        return [NotEnoughDataError("too far") if float(c["size"]) > 50 else None for c in at]


def recent(ratios: Sequence[float], sizes: Sequence[int] | None = None) -> list[Observation]:
    asked = sizes or range(1, len(ratios) + 1)
    return [Observation({"size": s}, {"time_s": 100 * s * r}) for s, r in zip(asked, ratios, strict=True)]


def test_recent_runs_that_agree_with_the_model_say_so() -> None:
    found = drift(Exact(), recent([1.05, 0.97, 1.01, 0.9, 1.1]), "time_s")
    assert found == ""
    assert staleness([], None, drifted=found).verdict == "fresh"


def test_runs_longer_than_predicted_are_told_with_their_numbers() -> None:
    found = drift(Exact(), recent([1.35, 1.4, 1.3, 1.35, 1.1, 1.36]), "time_s")
    assert found == "5 of the last 6 runs were outside the 90% interval, 35% longer than predicted (median)"
    stale = staleness([HERE], HERE, drifted=found)
    assert (stale.verdict, stale.reasons) == ("retrain", (f"{found}.",))
    faster = drift(Exact(), recent([0.7] * 4), "time_s")
    assert faster is not None
    assert "30% shorter" in faster


def test_runs_that_scatter_more_than_the_intervals_allow_are_noticed_without_any_shift() -> None:
    found = drift(Exact(), recent([1.5, 1 / 1.5] * 3), "time_s")
    assert found is not None
    assert found.startswith("6 of the last 6 runs")


def test_a_small_shift_of_all_runs_is_noticed_although_none_is_outside() -> None:
    found = drift(Exact(), recent([1.12] * 30), "time_s", n_learned=100)
    assert found == "0 of the last 30 runs were outside the 90% interval, 12% longer than predicted (median)"


def test_replicates_of_one_configuration_count_once() -> None:
    off = [1.22] * 12  # just outside, as one configuration in ten is
    assert drift(Exact(), recent(off, [7] * 12), "time_s") == ""
    assert drift(Exact(), recent(off), "time_s")


def test_too_few_failed_or_unknown_runs_tell_nothing() -> None:
    assert drift(Exact(), recent([2.0, 2.0]), "time_s") is None
    assert drift(Exact(), recent([2.0] * 9, [60 + i for i in range(9)]), "time_s") is None
    failed = [replace(run, outcome=Outcome.OOM) for run in recent([2.0] * 9)]
    assert drift(Exact(), failed, "time_s") is None
    assert drift(Exact(), recent([2.0] * 9), "accuracy") is None
    strange = [Observation({"size": 2, "color": "red"}, {"time_s": 1.0})] * 9
    assert drift(Exact(), strange, "time_s") is None


def rate(once: Callable[[random.Random], str | None], n: int) -> float:
    noise = random.Random(8)
    return fmean(bool(once(noise)) for _ in range(n))


@pytest.mark.parametrize("n_recent", [3, 8, 25])
def test_false_alarms_are_rare_and_a_slowdown_is_found(n_recent: int) -> None:
    def runs(noise: random.Random, slowdown: float) -> list[Observation]:
        return recent([slowdown * math.exp(noise.gauss(0, 0.1)) for _ in range(n_recent)])

    assert rate(lambda noise: drift(Exact(), runs(noise, 1.0), "time_s", n_learned=30), 400) < 0.03
    assert rate(lambda noise: drift(Exact(), runs(noise, 1.4), "time_s", n_learned=30), 50) > 0.95


# ---------------------------------------------------------------- drift among the runs themselves

GRID = [
    Configuration({"executors": e, "batch_size": b, "jobs": j})
    for e, b, j in product((1, 2, 4, 8), (64, 128, 256), (1, 2))
]


def measured(
    order: Sequence[Configuration], noise: random.Random, *, slowdown: float = 1.0, interaction: float = 0.0
) -> Dataset:
    """The last fifth of the runs may be slower."""
    n_last = max(5, math.ceil(0.2 * len(order)))

    def time_s(place: int, at: Configuration) -> float:
        e, b, j = (float(at[name]) for name in ("executors", "batch_size", "jobs"))
        law = 5 - 0.15 * e - 0.004 * b + 0.3 * j + interaction * e * b + noise.gauss(0, 0.05)
        return math.exp(law) * (slowdown if place >= len(order) - n_last else 1.0)

    runs = [Observation(c, {"time_s": time_s(i, c)}, started_at=1e9 + 60 * i) for i, c in enumerate(order)]
    noise.shuffle(runs)  # the order is that of the clock, not of the rows
    return Dataset(tuple(GRID[0]), tuple(runs))


def fit(data: Dataset, response: str) -> Fitted:
    return Linear().fit(data, response)


def shuffled(noise: random.Random) -> list[Configuration]:
    return noise.sample(GRID, len(GRID))


def alarms_within(n: int, slowdown: float) -> float:
    return rate(lambda noise: drift_within(measured(shuffled(noise), noise, slowdown=slowdown), "time_s", fit), n)


def test_a_slowdown_within_a_randomized_study_is_found() -> None:
    assert alarms_within(15, 1.4) > 0.7
    assert alarms_within(30, 1.0) < 0.1


def test_false_alarms_within_a_randomized_study_are_rare() -> None:
    assert alarms_within(200, 1.0) < 0.03


def test_a_study_repeated_from_beginning_to_end_shows_a_slowdown_of_its_last_runs() -> None:
    found = drift_within(measured(shuffled(random.Random(1)) * 2, random.Random(1), slowdown=1.4), "time_s", fit)
    assert found is not None
    assert "of the last 10 runs were outside the 90% interval" in found
    assert "longer than predicted" in found


@pytest.mark.parametrize("slowest", ["executors", "batch_size", "jobs"])
@pytest.mark.parametrize("is_down", [False, True])
def test_levels_in_order_are_not_mistaken_for_drift(slowest: str, is_down: bool) -> None:
    order = sorted(GRID, key=lambda c: c[slowest], reverse=is_down)
    data = measured(order, random.Random(2), interaction=0.0006)
    assert drift_within(data, "time_s", fit) is None


def test_runs_without_a_time_of_day_or_too_few_tell_nothing() -> None:
    data = measured(shuffled(random.Random(1)) * 2, random.Random(1), slowdown=2.0)
    timeless = replace(data, observations=tuple(replace(o, started_at=None) for o in data.observations))
    assert drift_within(timeless, "time_s", fit) is None
    assert drift_within(replace(data, observations=data.observations[:9]), "time_s", fit) is None
    assert drift_within(data, "accuracy", fit) is None

    def refuse(_data: Dataset, _response: str) -> Fitted:
        raise NotEnoughDataError("too few")

    assert drift_within(data, "time_s", refuse) is None
