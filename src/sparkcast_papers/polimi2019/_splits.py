"""The runs of K-means, divided as the authors divided them."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from sparkcast.arrays import Floats
from sparkcast.study import Dataset, Observation
from sparkcast_papers.polimi2019._cases import K_MEANS_CONFS, SPARK_BENCH, Conf
from sparkcast_papers.polimi2019._files import RESPONSE

SIZES, CASES = (9, 27), (0, 1, 3, 7)
_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Split:
    """Runs to learn from, and runs to ask about; as data sets, and as arrays of data size, cores and time."""

    name: str
    case: int | None  # None where sizes are apart and all cores are used
    train: Dataset
    test: Dataset

    @property
    def x_train(self) -> Floats:
        return _settings(self.train)

    @property
    def x_test(self) -> Floats:
        return _settings(self.test)

    @property
    def y_train(self) -> Floats:
        return _times(self.train)

    @property
    def y_test(self) -> Floats:
        return _times(self.test)

    @property
    def title(self) -> str:
        return self.name if self.case is None else f"{self.name}, case {self.case}"


def case_split(runs: Dataset, size: int, case: int, seed: int) -> Split:
    """One data size; case 0 asks about a random fifth of its runs, the others about cores never run."""
    some = _kept(runs, lambda run: run.configuration["data_size"] == size)
    if case == 0:
        order = random.Random(seed).sample(range(len(some.observations)), len(some.observations))
        asked = {some.observations[i].position for i in order[: round(_SHARE * len(order))]}
        return _split(f"{size} / {size}", case, some, lambda run: run.position in asked)
    cores = SPARK_BENCH[case - 1].test
    return _split(f"{size} / {size}", case, some, lambda run: run.configuration["cores"] in cores)


def conf_splits(runs: Dataset) -> list[Split]:
    """Three data sizes to learn from, the fourth to ask about, at all cores."""
    return [_conf_split(runs, conf) for conf in K_MEANS_CONFS]


def _conf_split(runs: Dataset, conf: Conf) -> Split:
    some = _kept(runs, lambda run: run.configuration["data_size"] in (*conf.train, conf.test))
    return _split(conf.name, None, some, lambda run: run.configuration["data_size"] == conf.test)


def _split(name: str, case: int | None, runs: Dataset, is_test: Callable[[Observation], bool]) -> Split:
    return Split(name, case, _kept(runs, lambda run: not is_test(run)), _kept(runs, is_test))


def _kept(runs: Dataset, keep: Callable[[Observation], bool]) -> Dataset:
    return replace(runs, observations=tuple(run for run in runs.observations if keep(run)))


def _settings(runs: Dataset) -> Floats:
    import numpy as np

    return np.array([[run.configuration[name] for name in runs.factors] for run in runs.observations], dtype=float)


def _times(runs: Dataset) -> Floats:
    import numpy as np

    return np.array([run.responses[RESPONSE] for run in runs.observations])
