"""Trials that a cluster can never start are refused together, with the levels to remove or the rule to add."""

from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.engines import ClusterCapacity
from sparkcast.errors import CapacityError
from sparkcast.runs.room import require_room
from sparkcast.workloads import Shape, vocabulary_of
from sparkcast.workloads.pi import MonteCarloPi

WORDS = vocabulary_of(MonteCarloPi())
SMALL = ClusterCapacity.alike(2, 2, 2 * 2**30)


def _refusal(*shapes: tuple[int, int, str], capacity: ClusterCapacity = SMALL) -> CapacityError:
    with pytest.raises(CapacityError) as caught:
        require_room(WORDS, capacity, [[Shape(*shape, 1)] for shape in shapes])
    return caught.value


def test_all_trials_that_cannot_start_are_named_at_once() -> None:
    error = _refusal((1, 1, "1g"), (8, 1, "1g"), (2, 4, "1g"), (8, 1, "1g"))
    assert error.problem == (
        "3 of 4 trials can never start, because the cluster has 2 workers with 2 cores and 2.0 GiB each: "
        "2 executors with 4 cores and 1g each (0 fit); 8 executors with 1 core and 1g each (4 fit)"
    )


def test_what_fits_is_not_refused() -> None:
    require_room(WORDS, SMALL, [[Shape(4, 1, "1g", 1)], [Shape(2, 2, "2g", 1), Shape(1, 1, "1g", 3)]])


@pytest.mark.parametrize(
    ("shapes", "advice"),
    [
        ([(2, 1, "1g"), (8, 1, "1g"), (16, 1, "1g")], ["remove executors 8, 16", "rule `executors * cores <= 4`"]),
        ([(1, 2, "1g"), (1, 4, "1g")], ["remove cores 4", "rule `executors * cores <= 2`"]),
        ([(1, 1, "1g"), (1, 1, "512m"), (1, 1, "4g")], ["remove memory 4g"]),
        ([(2, 1, "2g"), (4, 1, "1g"), (4, 1, "2g")], ["add rules that exclude these"]),
        ([(8, 1, "1g")], ["lower executors, cores or memory"]),
    ],
)
def test_the_hint_has_what_alone_would_do(shapes: list[tuple[int, int, str]], advice: list[str]) -> None:
    hint = _refusal(*shapes).hint
    assert [part for part in advice if part not in hint] == []
    assert "larger cluster" in hint
    assert ("rule `" in hint) == any("rule `" in part for part in advice)


def test_a_long_list_is_cut() -> None:
    error = _refusal(*((n, 1, "1g") for n in range(5, 20)))
    assert error.problem.endswith("14 executors with 1 core and 1g each (4 fit); and 5 more")


STUDY = """\
study: s
workload: pi
settings: {executors: [1, 2], samples: 1000}
spark: {master: "local-cluster[1,1,1024]"}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "s.yaml").write_text(STUDY)
    return tmp_path / "s.yaml"


def test_a_local_cluster_that_is_too_small_is_refused_before_anything_runs(study: Path) -> None:
    for command in (api.dry_run, api.run):
        with pytest.raises(
            CapacityError, match=r"1 of 2 trials .*: 2 executors with 1 core and 1g each \(1 fit\)"
        ) as caught:
            command(study)
        assert "remove executors 2" in caught.value.hint
    assert not (study.parent / "s.results" / "runs").exists()


def test_the_users_own_properties_count(study: Path) -> None:
    study.write_text(STUDY.replace("[1, 2]", "1"))
    assert len(api.dry_run(study)) == 1
    with pytest.raises(CapacityError, match=r"1 executor with 1 core and 2048m \(0 fit\)"):
        api.dry_run(study, conf={"spark.executor.memory": "2048"})
