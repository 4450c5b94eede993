"""What one job tells of another."""

from dataclasses import replace

import pytest

from history_support import GIB, a_history
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.history.clusters import ClusterBelief, KnownCluster
from sparkcast.history.points import points_of
from sparkcast.history.resembling import NewJob, resembling, words_of

CLUSTERS = [
    KnownCluster("small", 1.0, (8, 32)),
    KnownCluster("wide", 2.0, (16, 64)),
    KnownCluster("rich", 2.4, (16, 256)),
]


def test_a_new_job_is_answered_from_those_that_read_as_much_and_says_from_which() -> None:
    jobs = {f"job {n}": points_of(a_history(12, job=f"job {n}", work_s=60.0 * 4**n, executors=2 + n)) for n in range(6)}
    found = resembling(jobs, NewJob(100.0 * GIB, 16))
    assert found is not None
    assert found.n_jobs == 6
    assert found.jobs[0] == "job 2"  # on 4 executors of 4 cores
    low, high = found.time.distribution().interval(0.9)
    assert high / low > 4
    assert resembling(dict(list(jobs.items())[:3]), NewJob()) is None


def test_what_a_job_is_called_and_made_of_says_which_others_it_resembles() -> None:
    jobs = {
        f"{deed} {word}": points_of(
            replace(run, record=replace(run.record, shape={"Scan parquet": 1, f"{deed} id": 2}))
            for run in a_history(8, job=f"{deed} {word}", work_s=seconds)
            if run.record is not None
        )
        for deed, seconds in (("load", 60.0), ("train", 2000.0))
        for word in ("orders", "clicks", "users")
    }
    for deed, seconds in (("load", 80.0), ("train", 2020.0)):
        by_name = resembling(jobs, NewJob(words=words_of(f"{deed}Carts.py")))
        by_shape = resembling(jobs, NewJob(shape={"Scan parquet": 1, f"{deed} id": 1}))
        assert by_name is not None
        assert by_shape is not None
        assert {name.split()[0] for name in (*by_name.jobs, *by_shape.jobs)} == {deed}
        low, high = by_shape.time.distribution().interval(0.9)
        assert low < seconds < high


def test_the_cluster_that_suits_most_jobs_is_chosen_and_own_runs_overrule_it() -> None:
    others = [{"small": 100.0 * n, "wide": 40.0 * n, "rich": 45.0 * n} for n in (1, 2, 5, 9)]
    belief = ClusterBelief(CLUSTERS, others)
    assert belief.choose().name == "wide"
    own = {"wide": [400.0], "rich": [100.0]}
    found = belief.choose(own)
    assert found.name == "rich"
    assert found.n_runs == 2
    assert found.expected["rich"] == 1.0


def test_the_next_run_is_on_a_cluster_that_was_not_tried() -> None:
    belief = ClusterBelief(CLUSTERS, [{"small": 10.0, "wide": 6.0, "rich": 6.0}, {"small": 30.0, "wide": 12.0}])
    tried = {"wide": [50.0]}
    assert belief.next_run(tried) != "wide"
    assert belief.next_run(tried) == belief.next_run(tried)


def test_without_jobs_on_two_clusters_nothing_is_chosen() -> None:
    with pytest.raises(NotEnoughDataError):
        ClusterBelief(CLUSTERS, [{"small": 10.0}])
    with pytest.raises(StudyError):
        ClusterBelief([], [])
