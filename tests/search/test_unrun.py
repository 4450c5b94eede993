"""What to use for a job that was never run, by runs of other workloads."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.search.unrun import recommend_unrun
from sparkcast.study import Configuration, Dataset, DesignChoice, Factor, Observation, SparkOptions, Study
from sparkcast.workloads import resolve
from tests_support import Call

STUDY = resolve(
    Study(
        "s",
        "pi",
        (Factor("executors", (1, 2, 4, 8)),),
        fixed=Configuration({"samples": 1000}),
        design=DesignChoice(replicates=1),
        spark=SparkOptions("local-cluster[8,1,1024]"),
    )
)
YAML = """
study: s
workload: pi
settings: {executors: [1, 2, 4], samples: 1000}
spark: {master: "local-cluster[8,1,1024]"}
"""


def workload(name: str, times: Sequence[float]) -> Dataset:
    runs = [
        Observation(Configuration({"executors": n, "samples": 1000}), {"time_s": t})
        for n, t in zip((1, 2, 4, 8), times, strict=True)
    ]
    return Dataset(("executors", "samples"), tuple(runs), name=name)


SLOWER_WITH_MORE = [workload(f"slow {k}", [10.0 * k, 14.0 * k, 20.0 * k, 30.0 * k]) for k in range(1, 5)]
FASTER_WITH_MORE = [workload(f"fast {k}", [80.0 * k, 41.0 * k, 21.0 * k, 11.0 * k]) for k in range(1, 5)]


@pytest.mark.parametrize(("earlier", "executors"), [(SLOWER_WITH_MORE, 1), (FASTER_WITH_MORE, 8)])
def test_what_was_best_in_earlier_workloads_is_recommended_for_a_new_one(
    earlier: Sequence[Dataset], executors: int
) -> None:
    found = recommend_unrun(STUDY, earlier, minimize="time_s")
    assert found.chosen.configuration["executors"] == executors
    assert 1 <= found.chosen.over_best <= found.chosen.at_most
    assert found.workloads == tuple(data.name for data in earlier)


def test_workloads_that_disagree_leave_more_open() -> None:
    alike = recommend_unrun(STUDY, FASTER_WITH_MORE, minimize="time_s").chosen
    apart = recommend_unrun(STUDY, [*FASTER_WITH_MORE, *SLOWER_WITH_MORE], minimize="time_s").chosen
    assert apart.at_most > alike.at_most
    assert apart.chance_best < alike.chance_best


def test_workloads_with_other_settings_are_named_and_not_used() -> None:
    other = Dataset(("nodes",), (Observation(Configuration({"nodes": 1}), {"time_s": 1.0}),), name="other")
    found = recommend_unrun(STUDY, [*FASTER_WITH_MORE, other], minimize="time_s")
    assert found.ignored == ("other",)
    assert "other: different settings" in str(found)
    with pytest.raises(NotEnoughDataError, match="no earlier workload has runs with settings of study 's'"):
        recommend_unrun(STUDY, [other], minimize="time_s")


def test_an_objective_of_which_earlier_times_say_nothing_is_refused() -> None:
    with pytest.raises(StudyError):
        recommend_unrun(STUDY, FASTER_WITH_MORE, minimize="accuracy")


def table(folder: Path) -> str:
    path = folder / "other.csv"
    path.write_text("executors,samples,time_s\n1,1000,80\n2,1000,41\n4,1000,21\n")
    return str(path)


def test_the_command_answers_without_a_run(call: Call, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(YAML)
    study = str(tmp_path / "s.yaml")
    told = call("recommend", study, "--earlier", table(tmp_path), "--minimize", "time_s")
    assert told.code == 0, told.err
    assert told.out.startswith("Use executors=4.")
    assert "no run of this job; runs of 1 other workload" in told.out
    plain = json.loads(call("recommend", study, "--earlier", table(tmp_path), "--minimize", "time_s", "--json").out)
    assert plain["chosen"]["configuration"] == {"executors": 4}
    answer = api.recommend_unrun(study, [table(tmp_path)], minimize="time_s")
    assert str(answer).split() == told.out.split()


def test_a_deadline_needs_a_run_of_the_job(call: Call, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(YAML)
    told = call("recommend", str(tmp_path / "s.yaml"), "--earlier", table(tmp_path), "--within", "60s")
    assert told.code == 2
    assert "--within needs runs of this job" in told.err
