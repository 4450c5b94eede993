"""Accuracy at another number of epochs than was run: trainings whose accuracy was checked again and again (TrimTuner).

    python benchmarks/curves.py --data DIR [--n 15] [--draws 5] [--checks 4]

From n configurations drawn at random, each with its first checks, the curve is learned; then 60 other configurations,
and the same ones, are asked for their accuracy at as many checks and at twice as many. Printed: the share in the 90 %
interval, its median width in percentage points, and the mean error in percentage points.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from data_sets import trimtuner
from data_sets._job import ACCURACY

from sparkcast.learned.curves import fit_curve
from sparkcast.study import Dataset, Epoch, Observation, Setting, Vocabulary

_ASKED = 60
_SETTINGS = [setting.name for setting in trimtuner._SETTINGS]


def read(folder: Path, checks: int) -> list[Observation]:
    """The runs that were checked twice as often as is learned from; the first check comes before any training."""
    found = []
    for _, run in pd.read_csv(folder / trimtuner.FOLDER / "trimtuner_cnn_curves.csv.gz").groupby("run"):
        accuracies = run.sort_values("check")["accuracy"].tolist()[1 : 2 * checks + 1]
        if len(accuracies) == 2 * checks:
            curve = tuple(Epoch(k, 0.0, {"accuracy": value}) for k, value in enumerate(accuracies, start=1))
            levels = {name: run[name].tolist()[0] for name in _SETTINGS}
            found.append(Observation(levels, {"accuracy": accuracies[-1]}, curve=curve))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--n", type=int, default=15)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--checks", type=int, default=4)
    options = parser.parse_args()
    runs, words = read(options.data, options.checks), Vocabulary(tuple(trimtuner._SETTINGS), (ACCURACY,))
    varied = tuple(name for name in _SETTINGS if len({run.configuration[name] for run in runs}) > 1)
    words = Vocabulary(
        tuple(Setting(s.name, role=s.role) for s in trimtuner._SETTINGS if s.name in varied), (ACCURACY,)
    )
    print(f"{len(runs)} runs")
    rows: dict[tuple[str, int], list[tuple[float, float, float]]] = {
        (who, times): [] for who in ("others", "same") for times in (1, 2)
    }
    for number in range(options.draws):
        order = np.random.default_rng(number).permutation(len(runs)).tolist()
        learned = []
        for i in order[: options.n]:
            curve = runs[i].curve[: options.checks]
            learned.append(
                Observation(runs[i].configuration.only(varied), {"accuracy": curve[-1].values["accuracy"]}, curve=curve)
            )
        fitted = fit_curve(Dataset(varied, tuple(learned), "curves", ("accuracy",), words), "accuracy")
        same = order[: options.n]
        flavors = {runs[i].configuration["vm_flavor"] for i in same}
        others = [i for i in order[options.n :] if runs[i].configuration["vm_flavor"] in flavors][:_ASKED]
        for (who, times), into in rows.items():
            asked, epochs = [runs[i] for i in (same if who == "same" else others)], times * options.checks
            at = [{**run.configuration.only(varied), "epochs": epochs} for run in asked]
            actual = np.array([run.curve[epochs - 1].values["accuracy"] for run in asked])
            low, high = np.array(fitted.interval(at)).T
            missed = np.abs(np.array(fitted.predict(at)) - actual)
            held = (low <= actual) & (actual <= high)
            into.append((float(held.mean()), 100 * float(np.median(high - low)), 100 * float(missed.mean())))
    for (who, times), found in rows.items():
        covered, width, error = np.mean(found, axis=0)
        print(f"{who}, {times} x the checks: in 90 % {covered:.3f}, {width:.0f} points wide, off by {error:.1f}")


if __name__ == "__main__":
    main()
