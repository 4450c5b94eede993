"""What the runs of a search cost, and what the next one will."""

import math
from collections.abc import Mapping

from sparkcast.runs.site import Site
from sparkcast.search.ledger import SearchLedger
from sparkcast.store import Store
from sparkcast.store.rows import SearchRun
from sparkcast.study import Configuration, Observation
from sparkcast.study.application import CORE_HOURS, TOTAL_TIME
from sparkcast.study.derive import time_cost, total_cost
from sparkcast.workloads import shape_of


class Spending:
    """By the study's price; `known` are the observations so far, and grow."""

    def __init__(
        self, site: Site, ledger: SearchLedger, store: Store, search_id: int, known: Mapping[str, Observation]
    ) -> None:
        self._site, self._study, self._ledger = site, site.study, ledger
        self._store, self._search_id, self._known = store, search_id, known

    def rate(self, configuration: Configuration) -> float:
        """What a second of a run costs, with all its jobs."""
        price = self._study.price
        if price is None:
            return 0.0
        n_jobs = shape_of(self._site.workload, configuration).jobs
        return n_jobs * time_cost(1.0, configuration, price, self._study.vocabulary)

    def spent(self) -> tuple[float, float | None]:
        """Wall time of the search's runs, those that were lost or cut short too, and what they cost."""
        runs = self._store.search_runs(self._search_id)
        time_s = math.fsum(run.duration_s for run in runs)
        if self._study.price is None:
            return time_s, None
        observed = {run.run_id: run for run in self._known.values()}
        return time_s, math.fsum(self._cost(run, observed.get(run.run_id)) for run in runs)

    def expected(self, configuration: Configuration) -> float:
        """What a run of these settings will cost, if executors are held for as much of it as in the runs so far."""
        by_the_clock = math.fsum(map(self._by_the_clock, self._store.search_runs(self._search_id)))
        share = (self.spent()[1] or 0.0) / by_the_clock if by_the_clock else 1.0
        return self._ledger.typical_s(configuration) * self.rate(configuration) * share

    def _cost(self, run: SearchRun, observed: Observation | None) -> float:
        """What a run cost, as every answer counts it; by the wall clock where it was lost, cut short or not timed."""
        price = self._study.price
        if price is not None and observed is not None and {CORE_HOURS, TOTAL_TIME} & {*observed.responses}:
            cost = total_cost(observed, price, self._study.vocabulary)
            if cost is not None:
                return cost
        return self._by_the_clock(run)

    def _by_the_clock(self, run: SearchRun) -> float:
        return run.duration_s * self.rate(run.configuration)
