"""What one job tells of another."""

import pytest

from history_support import GIB, a_history
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.history.clusters import ClusterBelief, KnownCluster
from sparkcast.history.points import points_of
from sparkcast.history.resembling import resembling

CLUSTERS = [
    KnownCluster("small", 1.0, (8, 32)),
    KnownCluster("wide", 2.0, (16, 64)),
    KnownCluster("rich", 2.4, (16, 256)),
]


def test_a_new_job_is_answered_from_those_that_read_as_much_and_says_from_which() -> None:
    jobs = {f"job {n}": points_of(a_history(12, job=f"job {n}", work_s=60.0 * 4**n, executors=2 + n)) for n in range(6)}
    found = resembling(jobs, input_size=100.0 * GIB, slots=16)
    assert found is not None
    assert found.n_jobs == 6
    assert found.jobs[0] == "job 2"  # on 4 executors of 4 cores
    low, high = found.time.distribution().interval(0.9)
    assert high / low > 4
    assert resembling(dict(list(jobs.items())[:3])) is None


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
