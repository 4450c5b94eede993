"""One model per cell of a table: the runs it learns from, the runs it is asked, and what three methods say of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkcast.arrays import Bools, Floats
from sparkcast_papers.polimi2019._files import GPU, MODULES, POWER, gpu_table

DEEPEST_TRAINED = (4, 5, 6, 8)
_SHORTEST_RUN = 141  # iterations; shorter runs exist for one depth only
_OLD_CARDS_GFLOPS = 10_000
_M60_TFLOPS = 7.365
_LARGE = 0.3


@dataclass(frozen=True, slots=True)
class Cell:
    name: str
    column: str
    train: Any  # tables
    test: Any


def gpu_number(data: Path) -> Iterator[Cell]:
    """From fewer GPUs to the most; the P600 has two at most, so nothing could be learned about their number."""
    runs = _images(data, GPU)
    for (network, framework, card), of_card in runs[runs["gpu"] != "P600"].groupby(["network", "framework", "gpu"]):
        yield Cell(f"{network} {framework}", card, *_largest_apart(of_card, "n_gpus"))


def batch_size(data: Path) -> Iterator[Cell]:
    """From smaller batches to the largest."""
    for key, runs in _images(data, GPU).groupby(["network", "framework", "gpu", "n_gpus"]):
        network, framework, card, n_gpus = key
        yield Cell(f"{network} {framework}", f"{card} x {n_gpus}", *_largest_apart(runs, "batch_size"))


def inner_modules(data: Path) -> Iterator[Cell]:
    """From shallow networks to deeper ones."""
    runs = gpu_table(data, MODULES)
    for n_gpus, some in runs[runs["iterations"] >= _SHORTEST_RUN].groupby("n_gpus"):
        for deepest in DEEPEST_TRAINED:
            is_test = some["inner_modules"] > deepest
            yield Cell(f"at most {deepest} modules", f"{n_gpus} GPU{'s' * (n_gpus > 1)}", some[~is_test], some[is_test])


def new_hardware(data: Path) -> Iterator[Cell]:
    """From three cards to the fastest."""
    for (network, framework), runs in _images(data, POWER).groupby(["network", "framework"]):
        is_test = runs["gflops"] > _OLD_CARDS_GFLOPS
        yield Cell(f"{network} {framework}", "GTX1080Ti", runs[~is_test], runs[is_test])


def _images(data: Path, name: str) -> Any:
    """The image networks, which the slides are about; the files have a speech network too."""
    runs = gpu_table(data, name)
    return runs[runs["network"] != "deepspeech"]


def _largest_apart(runs: Any, column: str) -> tuple[Any, Any]:
    is_test = runs[column] == runs[column].max()
    return runs[~is_test], runs[is_test]


def physical(cell: Cell) -> Floats:
    """Non-negative least squares on relative errors over what an iteration consists of."""
    import numpy as np
    from scipy.optimize import nnls

    rows = _terms(cell.train) / cell.train["time_s"].to_numpy()[:, None]
    norms: Floats = np.linalg.norm(rows, axis=0)
    norms[norms == 0] = 1.0
    coefficients, _ = nnls(rows / norms, np.ones(len(rows)), maxiter=100 * rows.shape[1])
    times: Floats = _terms(cell.test) @ (coefficients / norms)
    return times


def _terms(runs: Any) -> Floats:
    import numpy as np

    i, b, n = (runs[name].to_numpy(dtype=float) for name in ("iterations", "batch_size", "n_gpus"))
    modules = runs["inner_modules"].to_numpy(dtype=float) if "inner_modules" in runs else np.ones(len(runs))
    tflops = runs["gflops"].to_numpy(dtype=float) / 1000 if "gflops" in runs else np.full(len(runs), _M60_TFLOPS)
    threads = runs["cpu_threads"].fillna(1).to_numpy(dtype=float)
    columns = (np.ones(len(runs)), i, i * b * modules / (n * tflops), i * modules, i * b, i * b / threads)
    return np.column_stack([*columns, i * n, i * (n - 1) / n])


def log_ridge(cell: Cell) -> Floats:
    """Ridge on logarithms, as they are: dividing by their spread would blow up iterations x batch, nearly constant."""
    import numpy as np
    from sklearn.linear_model import RidgeCV

    names = [name for name in _numbers(cell.train) if cell.train[name].nunique() > 1]
    train, test = (np.log(runs[names].fillna(1).to_numpy(dtype=float)) for runs in (cell.train, cell.test))
    model = RidgeCV(np.logspace(-4, 4, 25)).fit(train, np.log(cell.train["time_s"].to_numpy()))
    logs: Floats = np.minimum(model.predict(test), 700.0)
    return np.exp(logs)


def _numbers(runs: Any) -> list[str]:
    named = "gflops disk_MBps n_gpus inner_modules batch_size iterations cpu_threads".split()
    return [name for name in named if name in runs]


def constant(cell: Cell) -> Floats:
    """The mean of the runs learned from."""
    import numpy as np

    return np.full(len(cell.test), cell.train["time_s"].mean())


def errors(cell: Cell, predicted: Floats) -> Floats:
    """Relative errors of the asked runs."""
    import numpy as np

    actual: Floats = cell.test["time_s"].to_numpy()
    return np.abs(predicted - actual) / actual


def is_large(relative: Floats) -> Bools:
    """Errors that the authors count as large: 30 % itself is one.

    >>> import numpy as np
    >>> is_large(np.array([0.29, abs(7 - 9.1) / 7])).tolist()
    [False, True]
    """
    import numpy as np

    # 9.1 for 7 is 30 % but for rounding.
    return (relative >= _LARGE) | np.isclose(relative, _LARGE, rtol=1e-12, atol=0.0)
