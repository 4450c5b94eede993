"""Optimal designs beside pydoe's: D-efficiency and time on the same candidates, with the same model.

    pip install --no-deps --target /some/folder pydoe==1.6.0
    PYTHONPATH=/some/folder python benchmarks/designs.py [--patience 120]

pydoe is not a dependency: it is used only here. Both sides choose runs for a full quadratic model; efficiency is
100 (det(X'X) / n^p)^(1/p) of the same coded columns, computed here for both. pydoe's exchanges never repeat a run,
sparkcast's may. A method that has not finished after `--patience` seconds is stopped.
"""

import argparse
import itertools
import multiprocessing
import queue
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparkcast.designs import make_plan
from sparkcast.designs.describe import describe
from sparkcast.study import DesignChoice, Factor, Study

METHODS = ("sequential", "simple_exchange", "fedorov", "modified_fedorov", "detmax")
PROBLEMS = (  # factors, levels, runs
    (2, 5, 10),
    (3, 5, 15),
    (3, 7, 20),
    (4, 10, 40),
)


def quadratic(points: Any) -> Any:
    pairs = [points[:, i] * points[:, j] for i, j in itertools.combinations(range(points.shape[1]), 2)]
    return np.column_stack([np.ones(len(points)), points, *pairs, points**2])


def d_efficiency(points: Any) -> float:
    matrix = quadratic(points)
    sign, logarithm = np.linalg.slogdet(matrix.T @ matrix / len(matrix))
    return float(100 * np.exp(logarithm / matrix.shape[1])) if sign > 0 else 0.0


def ours(factors: int, levels: int, runs: int) -> tuple[float, float, int]:
    names = [f"f{i}" for i in range(factors)]
    numbers = tuple(float(x) for x in np.linspace(-1, 1, levels))
    study = Study(
        "benchmark",
        "pi",
        tuple(Factor(n, numbers) for n in names),
        design=DesignChoice("optimal", options={"runs": runs}),
    )
    begun = time.perf_counter()
    plan = make_plan(study)
    took = time.perf_counter() - begun
    points = np.array([[float(t.configuration[n]) for n in names] for t in plan.trials])
    return d_efficiency(points), took, len(np.unique(points, axis=0))


def fraction() -> float:
    factors = tuple(Factor(f"f{i}", (-1, 1)) for i in range(20))
    study = Study("benchmark", "pi", factors, design=DesignChoice("fractional", options={"resolution": "IV"}))
    begun = time.perf_counter()
    describe(study, make_plan(study))
    return time.perf_counter() - begun


def theirs(method: str, factors: int, levels: int, runs: int, answer: Any) -> None:
    from pydoe.optimal import optimal_design  # type: ignore[import-not-found]

    candidates = np.array(list(itertools.product(np.linspace(-1, 1, levels), repeat=factors)))
    begun = time.perf_counter()
    points, _ = optimal_design(candidates, runs, 2, criterion="D", method=method)
    answer.put((d_efficiency(points), time.perf_counter() - begun, len(np.unique(points, axis=0))))


def within(patience: float, *arguments: object) -> tuple[float, float, int] | None:
    """The other side's answer, or None when it took too long."""
    answer: Any = multiprocessing.Queue()
    process = multiprocessing.Process(target=theirs, args=(*arguments, answer))
    process.start()
    try:
        return answer.get(timeout=patience)  # type: ignore[no-any-return]
    except queue.Empty:
        return None
    finally:
        process.terminate()
        process.join()


def show(who: str, result: tuple[float, float, int] | None, patience: float) -> None:
    if result is None:
        print(f"  {who:26} not finished in {patience:.0f} s")
    else:
        efficiency, took, distinct = result
        print(f"  {who:26} D-efficiency {efficiency:6.2f} %  {took:8.2f} s  {distinct} different runs")


def main(problems: Sequence[tuple[int, int, int]] = PROBLEMS) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patience", type=float, default=120.0)
    patience = parser.parse_args().patience
    try:
        import pydoe  # type: ignore[import-not-found]  # noqa: F401
    except ImportError:
        print("pydoe is not installed, so only our side is shown; see --help for how to install it")
        methods: tuple[str, ...] = ()
    else:
        methods = METHODS
    for factors, levels, runs in problems:
        print(f"{runs} of {levels**factors:,} candidates: {factors} factors of {levels} levels, quadratic model")
        show("sparkcast optimal", ours(factors, levels, runs), patience)
        for method in methods:
            show(f"pydoe {method}", within(patience, method, factors, levels, runs), patience)
    print(f"a fraction of 20 factors of 2 levels, resolution IV: planned and described in {fraction():.2f} s")


if __name__ == "__main__":
    main()
