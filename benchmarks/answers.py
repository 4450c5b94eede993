"""What answers cost: CPU seconds and peak memory of whole commands, beside a plain script on scikit-learn.

    python benchmarks/answers.py [--rounds 3] [--only predict,validate]

Each command runs in a process of its own, as a user starts it; its user and system time are added up, so that work on
other cores counts and waiting for others does not. The least of `--rounds` runs is shown. The tables are made up: a job
on 1 to 16 executors, with noise of 5 %. The plain script reads the same table with pandas, fits a forest and a Gaussian
process of scikit-learn, and predicts the same configuration; it gives no interval of the next run. `auto` at n
configurations is the fit alone, in a process that has its libraries loaded.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

AT = "executors=6,cores=2,data_gb=30"
STUDY = 12  # configurations of a report, each run twice, with a time and an accuracy
SMALL, LARGE = 30, 200_000
SIZES = (6, 8, 10, 15, 16, 20, 30, 31, 60, 100, 300, 1000)


@dataclass(frozen=True, slots=True)
class Cost:
    cpu_s: float
    peak_mb: float
    code: int


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    arguments: Sequence[str]  # of python
    bar: str = ""
    rounds: int | None = None  # None: as many as asked for


# ---------------------------------------------------------------- tables


def write_table(path: Path, n: int, seed: int = 1) -> Path:
    """Runs of n different configurations: cells of a grid, drawn at random."""
    dice, sizes = random.Random(seed), 100 + n
    with path.open("w") as file:
        file.write("executors,cores,data_gb,time_s\n")
        for cell in dice.sample(range(16 * 3 * sizes), n):
            executors, cores, data_gb = 1 + cell % 16, 2 ** (cell // 16 % 3), 1 + cell // 48
            seconds = (8 + 20 * data_gb / (executors * cores) + executors / 2) * dice.lognormvariate(0, 0.05)
            file.write(f"{executors},{cores},{data_gb},{seconds:.3f}\n")
    return path


def write_study(path: Path, seed: int = 3) -> Path:
    """A small study: every combination of a few levels, twice, in an order of chance."""
    dice = random.Random(seed)
    cells = [(e, c, g) for _ in range(2) for e in (1, 2, 4) for c in (1, 2) for g in (5, 20)]
    dice.shuffle(cells)
    with path.open("w") as file:
        file.write("executors,cores,data_gb,time_s,accuracy\n")
        for executors, cores, data_gb in cells:
            seconds = (8 + 20 * data_gb / (executors * cores) + executors / 2) * dice.lognormvariate(0, 0.05)
            accuracy = 0.7 + 0.05 * (data_gb == 20) - 0.01 * executors + dice.gauss(0, 0.005)
            file.write(f"{executors},{cores},{data_gb},{seconds:.3f},{accuracy:.4f}\n")
    return path


# ---------------------------------------------------------------- measuring


def cost_of(arguments: Sequence[str]) -> Cost:
    """What one process takes, its own children included."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode)


def least(case: Case, rounds: int) -> Cost:
    return min((cost_of(case.arguments) for _ in range(case.rounds or rounds)), key=lambda cost: cost.cpu_s)


def show(case: Case, cost: Cost) -> None:
    failed = "" if cost.code == 0 or "typo" in case.name else f"  exit code {cost.code}"
    print(f"{case.name:44} {cost.cpu_s:7.2f} s {cost.peak_mb:7.0f} MB   {case.bar}{failed}", flush=True)


# ---------------------------------------------------------------- what is measured


def cases(folder: Path) -> list[Case]:
    """All but the fits of `auto`, in the order they are shown: a model is saved before it is asked."""
    small, large = str(folder / "small.csv"), str(folder / "large.csv")
    model, figures = str(folder / "small.sparkcast"), str(folder / "figures")
    ours = ("-m", "sparkcast")
    plain = (__file__, "--plain")
    return [
        Case("sparkcast --version", (*ours, "--version")),
        Case(f"predict, {SMALL} rows", (*ours, "predict", small, "--at", AT), "at most 2 s"),
        Case("predict with a typo", (*ours, "predict", small, "--at", AT.replace("cores", "croes")), "well under 1 s"),
        Case(f"recommend, {SMALL} rows", (*ours, "recommend", small, "--within", "300s"), "at most 2 s"),
        Case(f"fit, {SMALL} rows", (*ours, "fit", small, "--save", model, "--force"), "at most 2 s"),
        Case("predict from the saved model", (*ours, "predict", model, "--at", AT), "no more than from the table"),
        Case("recommend from the saved model", (*ours, "recommend", model, "--within", "300s")),
        Case(f"plain scikit-learn, {SMALL} rows", (*plain, small)),
        Case(
            f"report, {2 * STUDY} rows of {STUDY} configurations",
            (*ours, "report", str(folder / "study.csv"), "-o", str(folder / "r.html"), "--within", "120s", "--force"),
            "at most 4 s",
        ),
        Case(
            f"validate with figures, {SMALL} rows",
            (*ours, "validate", small, "--figures", figures, "--force"),
            "at most 20 s",
            rounds=1,
        ),
        Case(f"predict, {LARGE:,} rows", (*ours, "predict", large, "--at", AT), "at most 60 s, 2,000 MB", rounds=1),
        Case(f"plain scikit-learn, {LARGE:,} rows", (*plain, large), "(its Gaussian process: 2,000 of them)", rounds=1),
    ]


def fits_of_auto(folder: Path) -> None:
    """CPU seconds of one fit by number of configurations: a line without cliffs is wanted."""
    from sparkcast import api
    from sparkcast.models import MODELS

    warm = api.load_data(write_table(folder / "warm.csv", SIZES[0])).dataset
    MODELS.get("auto")().fit(warm, "time_s")  # loads libraries
    for size in SIZES:
        data = api.load_data(write_table(folder / f"{size}.csv", size)).dataset
        fitted, seconds = _timed(lambda data=data: MODELS.get("auto")().fit(data, "time_s"))  # type: ignore[misc]
        _, beyond = _timed(lambda fitted=fitted: fitted.predict([{"executors": 20, "cores": 2, "data_gb": 30}]))  # type: ignore[misc]
        bar = "at most 1 s" if size <= 30 else "at most 5 s"
        print(
            f"auto, {size:4} configurations {seconds:28.2f} s, then beyond the range {beyond:5.2f} s   {bar}",
            flush=True,
        )


def _timed(work: Callable[[], object]) -> tuple[object, float]:
    begun = time.process_time()
    return work(), time.process_time() - begun


def plain_answer(table: str) -> None:
    """What somebody would write who has scikit-learn and this question."""
    import pandas as pd
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows = pd.read_csv(table)
    asked = pd.DataFrame([{name: float(value) for name, value in (part.split("=") for part in AT.split(","))}])
    forest = RandomForestRegressor(random_state=0).fit(rows[asked.columns], rows["time_s"])
    some = rows.sample(min(len(rows), 2_000), random_state=0)
    process = make_pipeline(
        StandardScaler(), GaussianProcessRegressor(RBF([1.0] * 3) + WhiteKernel(), normalize_y=True)
    )
    process.fit(some[asked.columns], some["time_s"])
    print(forest.predict(asked), process.predict(asked, return_std=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="Parts of names between commas.")
    parser.add_argument("--plain", metavar="TABLE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.plain:
        plain_answer(options.plain)
        return
    wanted = [part for part in options.only.split(",") if part]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_table(folder / "small.csv", SMALL)
        write_study(folder / "study.csv")
        write_table(folder / "large.csv", LARGE)
        for case in cases(folder):
            if not wanted or any(part in case.name for part in wanted):
                show(case, least(case, options.rounds))
        if not wanted or "auto" in wanted:
            fits_of_auto(folder)


if __name__ == "__main__":
    main()
