"""When the runs of a study are due whose blocks are spread over hours."""

import time

from sparkcast.store import Store
from sparkcast.store.launches import first_launches
from sparkcast.study import Plan, Study, Trial
from sparkcast.study.hours import gap_s


class Schedule:
    """A block begins no sooner after the one before than the study says, whenever that one really began."""

    def __init__(self, study: Study, plan: Plan, store: Store) -> None:
        self._study, self._store = study.name, store
        self._gap_s = gap_s(study.design)
        self._block = {trial.key: trial.block for trial in plan.trials}
        self.n_blocks = max(self._block.values(), default=1)

    def due(self, trial: Trial) -> float:
        """Seconds since the Unix epoch; 0 where it may begin at once."""
        return self.dues().get(self._block[trial.key], 0.0)

    def dues(self) -> dict[int, float]:
        """Of each block."""
        if self._gap_s is None:
            return {}
        begun: dict[int, float] = {}
        for key, at in first_launches(self._store, self._study).items():
            if (block := self._block.get(key)) is not None:
                begun[block] = min(at, begun.get(block, at))
        return {
            block: max(
                (at + (block - other) * self._gap_s for other, at in begun.items() if other < block), default=0.0
            )
            for block in range(1, self.n_blocks + 1)
        }

    def is_due(self, trial: Trial, dues: dict[int, float]) -> bool:
        return dues.get(self._block[trial.key], 0.0) <= time.time()

    def shown(self, trial: Trial) -> str:
        return f"block {self._block[trial.key]} of {self.n_blocks}"
