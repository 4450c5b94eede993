"""Every design, engine, searcher and workload passes the suite that is shipped for everybody's."""

import pytest

from sparkcast.designs import DESIGNS
from sparkcast.engines import ENGINES
from sparkcast.search.base import SEARCHERS
from sparkcast.testing import DesignSuite, EngineSuite, SearcherSuite, WorkloadSuite
from sparkcast.testing.searchers import Make
from sparkcast.workloads import WORKLOADS


class TestEveryDesign(DesignSuite):
    @pytest.fixture(params=DESIGNS.names())
    def name(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)


class TestEveryEngine(EngineSuite):
    @pytest.fixture(params=ENGINES.names())
    def given(self, request: pytest.FixtureRequest) -> tuple[str, str]:
        name = str(request.param)
        return name, {"spark": "spark://host:7077"}.get(name, name)


class TestEverySearcher(SearcherSuite):
    @pytest.fixture(params=SEARCHERS.names())
    def make(self, request: pytest.FixtureRequest) -> Make:
        return SEARCHERS.get(request.param)


class TestEveryWorkload(WorkloadSuite):
    @pytest.fixture(params=WORKLOADS.names())
    def name(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)
