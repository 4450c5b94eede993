"""Where the next run of a study would be made."""

from collections.abc import Sequence

from sparkcast.engines import engine_for
from sparkcast.errors import RunError
from sparkcast.observe.fingerprint import fingerprint
from sparkcast.study import Fingerprint, SparkOptions
from sparkcast.study.environment import is_local, kind_of
from sparkcast.workloads import Shape


def here(training: Sequence[Fingerprint]) -> Fingerprint | None:
    """This machine, when the training runs were made by an embedded or local cluster: then the next run is made here.

    None for runs on any other cluster, about which the machine that asks says nothing, and on a machine without Spark,
    where nothing will run. Starts nothing.
    """
    if not training or not all(is_local(known.cluster) for known in training):
        return None
    like = training[-1].cluster
    is_embedded = kind_of(like) == "embedded"
    try:
        engine = engine_for(SparkOptions("embedded" if is_embedded else like))
    except RunError:
        return None
    if is_embedded:
        # One worker is what an executor as wide as the machine gets: compare with as many as the runs had.
        engine.capacity([Shape(1, 10**6 if " 1 worker" in like else 1, "1g", 1)])
    return fingerprint(engine.facts(), data="")
