"""What a plug must hold, as test classes for pytest: ours are tested with them, and so can be everybody else's.

    from sparkcast.testing import ModelSuite

    class TestMine(ModelSuite):
        plug = MyModel

Each suite says in the names of its tests what is asked. `pytest` must be installed; sparkcast itself does not need it.
"""

from sparkcast.testing.designs import DesignSuite
from sparkcast.testing.engines import EngineSuite
from sparkcast.testing.models import ModelSuite
from sparkcast.testing.searchers import SearcherSuite
from sparkcast.testing.workloads import WorkloadSuite

__all__ = ["DesignSuite", "EngineSuite", "ModelSuite", "SearcherSuite", "WorkloadSuite"]
