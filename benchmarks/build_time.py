"""Time to build the models of myung2020 (its t2): the shortcuts beside a search as one would write it.

    python benchmarks/build_time.py [--without-840] [--without-auto]

Written down literally the search is scikit-learn's GridSearchCV with LeaveOneOut. It is run for lasso and ridge; forest
and network would take hours, so one fold is timed and multiplied by the number of folds ("from one fold"). The grid of
the network is four points of the paper's 108 on both sides. Errors must be equal where the shortcut is exact: lasso and
ridge to 1e-6 of the mean squared error, the forest's predictions of that one fold to 1e-9. The runs are synthetic.

Times are of CPU, so that other work on the machine counts little, except where it says elapsed.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.neural_network import MLPRegressor

from sparkcast.models import MODELS
from sparkcast.study import Dataset, Observation
from sparkcast_papers.myung2020._forests import columns_per_split, forest_loo
from sparkcast_papers.myung2020._generate import Runs, generate
from sparkcast_papers.myung2020._lines import lasso_loo, mean_squared_errors, ridge_loo
from sparkcast_papers.myung2020._scenarios import (
    SCENARIOS,
    Scenario,
    Study,
    column,
    combined,
    matrix,
    scaled,
    training_runs,
)
from sparkcast_papers.myung2020._tables import ALPHAS, TREES
from sparkcast_papers.myung2020._techniques import (
    ACTIVATIONS,
    HIDDEN,
    ITERATIONS,
    MANY_ROWS,
    NETWORK_ALPHAS,
    SEED,
    TECHNIQUES,
    Technique,
    search_all,
)

SAME = 1e-6
LEAST_GAIN = 100
MOST_4_2_S = 30
MOST_AUTO_S = 60
LINES: dict[str, tuple[Any, Callable[..., Any]]] = {"ridge": (Ridge(), ridge_loo), "lasso": (Lasso(), lasso_loo)}


@dataclass(frozen=True)
class Timed:
    result: Any
    cpu_s: float


def timed(work: Callable[[], Any], repeats: int = 1) -> Timed:
    """The least of some repeats."""
    took = []
    for _ in range(repeats):
        begun = time.process_time()
        result = work()
        took.append(time.process_time() - begun)
    return Timed(result, min(took))


def literal_lines(model: Any, x: Any, y: Any) -> Any:
    """Mean squared errors of leave-one-out, one per penalty."""
    search = GridSearchCV(
        model, {"alpha": list(ALPHAS)}, cv=LeaveOneOut(), scoring="neg_mean_squared_error", refit=True, n_jobs=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lasso with almost no penalty says that it has not converged
        search.fit(x, y)
    return -search.cv_results_["mean_test_score"]


def exact_lasso_errors(x: Any, y: Any) -> Any:
    """The same with a solver that does not stop early."""
    return literal_lines(Lasso(tol=1e-12), x, y)


def literal_forest_fold(x: Any, y: Any, fold: int = 0) -> dict[tuple[int, int], float]:
    """The 27 forests of Table 11 for one left-out row; depths that agree overwrite each other."""
    kept = np.delete(np.arange(len(y)), fold)
    found = {}
    rules = {"auto": x.shape[1], "sqrt": int(np.sqrt(x.shape[1])), "log2": max(1, int(np.log2(x.shape[1])))}
    for trees in TREES:
        for columns in rules.values():
            for depth in (50, 100, 150):
                model = RandomForestRegressor(trees, max_features=columns, max_depth=depth, random_state=SEED)
                found[trees, columns] = float(model.fit(x[kept], y[kept]).predict(x[fold : fold + 1])[0])
    return found


def literal_network_fold(x: Any, y: Any, fold: int = 0) -> None:
    kept = np.delete(np.arange(len(y)), fold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 300 iterations are not enough for some
        for activation in ACTIVATIONS:
            for alpha in NETWORK_ALPHAS:
                MLPRegressor(
                    hidden_layer_sizes=(HIDDEN,),
                    solver="lbfgs",
                    activation=activation,
                    alpha=alpha,
                    max_iter=ITERATIONS,
                    random_state=SEED,
                ).fit(x[kept], y[kept])


def literal_cost(technique: Technique, x: Any, y: Any) -> tuple[float, str]:
    if technique in LINES:
        return timed(partial(literal_lines, LINES[technique][0], x, y)).cpu_s, "measured"
    one_fold = literal_forest_fold if technique == "rf" else literal_network_fold
    return len(y) * timed(partial(one_fold, x, y)).cpu_s, "from one fold"


def show(what: str, ours_s: float, literal_s: float, how: str, extra: str = "") -> None:
    gain = literal_s / ours_s
    print(f"  {what:34} ours {ours_s:9.4f} s   literal {literal_s:9.2f} s   {gain:7.0f}x   {how}{extra}", flush=True)


def lines(x: Any, y: Any) -> None:
    """Ridge and lasso: equal errors, and so many times faster."""
    for name, (model, fast) in LINES.items():
        literal = timed(partial(literal_lines, model, x, y), repeats=5 if len(y) <= MANY_ROWS else 1)
        exact = literal.result if name == "ridge" else exact_lasso_errors(x, y)
        ours = timed(partial(fast, x, y, ALPHAS), repeats=5)
        errors = mean_squared_errors(ours.result, y)
        off = float(np.abs(errors / exact - 1).max())
        early = float(np.abs(literal.result / exact - 1).max())
        extra = f"; errors equal to {off:.1e}" + (f" (default tol: {early:.1e} off)" if name == "lasso" else "")
        show(f"{name}, {len(y)} rows, {x.shape[1]} columns", ours.cpu_s, literal.cpu_s, "measured", extra)
        assert off < SAME, f"{name}: errors differ by {off}"
        assert literal.cpu_s / ours.cpu_s >= LEAST_GAIN, f"{name}: only {literal.cpu_s / ours.cpu_s:.0f}x"


def forests(x: Any, y: Any) -> None:
    rules = columns_per_split(x.shape[1])
    literal = timed(lambda: literal_forest_fold(x, y))
    ours = timed(lambda: {rule: forest_loo(x, y, TREES, rule, seed=SEED) for rule in rules})
    off = max(
        abs(ours.result[rule][k, 0] / literal.result[trees, rule] - 1)
        for rule in rules
        for k, trees in enumerate(TREES)
    )
    show(
        f"forest, {len(y)} rows, {x.shape[1]} columns",
        ours.cpu_s,
        len(y) * literal.cpu_s,
        "from one fold",
        f"; that fold equal to {off:.1e}",
    )
    assert off < 1e-9, f"forest: predictions differ by {off}"


def stages(study: Study, scenario: Scenario) -> Iterator[tuple[Any, Any]]:
    """What each search of a scenario is given."""
    train = training_runs(study.runs, scenario)
    if scenario.level_2 == "none":
        yield matrix(train, scenario.features), train.minutes
        return
    for feature in scenario.features:
        yield column(train, feature)[:, None], scaled(train, feature)
    first = {feature: found.predict for feature, found in study.level_1(scenario)[0].items()}
    yield combined(first, train, scenario.level_2), train.minutes


def scenarios(network: Runs, *, is_840_wanted: bool) -> None:
    print(f"\nt2 by scenario, {network.cnn}, all four techniques [{network.origin}]")
    for scenario in SCENARIOS:
        if len(training_runs(network, scenario)) > MANY_ROWS and not is_840_wanted:
            continue
        given = list(stages(Study(network), scenario))
        ours = sum(timed(partial(search_all, x, y)).cpu_s for x, y in given)
        literal = sum(literal_cost(technique, x, y)[0] for x, y in given for technique in TECHNIQUES)
        approximate = "; ours judges forest and network approximately" if len(given[0][1]) > MANY_ROWS else ""
        show(f"scenario {scenario.name}", ours, literal, "forest and network from one fold", approximate)


def whole_4_2(networks: tuple[Runs, ...]) -> None:
    for network in networks:
        begun = time.perf_counter()
        found = Study(network).outcome(SCENARIOS[-1])
        took = time.perf_counter() - begun
        print(f"  {network.cnn:14} {took:6.2f} s elapsed, lasso {found.accuracies['lasso']:.1f} % [{network.origin}]")
        assert took < MOST_4_2_S, f"4-2 took {took:.0f} s"


def automatic() -> None:
    """`fit --model auto` on 900 rows of 8 settings."""
    begun = time.perf_counter()
    MODELS.get("auto")().fit(made_up(), "time_s")
    took = time.perf_counter() - begun
    print(f"  {took:.1f} s elapsed; the bar is {MOST_AUTO_S} s: {'met' if took < MOST_AUTO_S else 'MISSED'}")


def made_up(rows: int = 900) -> Dataset:
    random = np.random.default_rng(0)
    levels: dict[str, tuple[Any, ...]] = {
        "executors": (1, 2, 4, 8),
        "cores": (1, 2, 4),
        "memory": (2, 4, 8),
        "batch_size": (64, 128, 256),
        "partition_size": (20, 60, 100),
        "data_size": (1, 3, 10),
        "epochs": (1, 2, 4),
        "network": ("a", "b"),
    }
    observations = []
    for i in range(rows):
        c: dict[str, Any] = {name: values[random.integers(len(values))] for name, values in levels.items()}
        work = c["data_size"] * c["epochs"] / (c["executors"] * c["cores"] ** 0.8) * (1.4 if c["network"] == "b" else 1)
        seconds = (12 + 40 * work * (1 + 20 / c["batch_size"])) * np.exp(0.04 * random.standard_normal())
        observations.append(Observation(c, {"time_s": float(seconds)}, position=i + 1))
    return Dataset(tuple(levels), tuple(observations), "made up", ("time_s",))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without-840", action="store_true", help="leave out what takes minutes")
    parser.add_argument("--without-auto", action="store_true")
    options = parser.parse_args()
    networks = generate()
    few, many = (training_runs(networks[0], scenario) for scenario in (SCENARIOS[2], SCENARIOS[1]))
    print(f"Search by leave-one-out [{networks[0].origin}]")
    lines(matrix(few, SCENARIOS[2].features), few.minutes)
    if not options.without_840:
        lines(matrix(many, SCENARIOS[1].features), many.minutes)
    forests(matrix(few, SCENARIOS[2].features), few.minutes)
    forests(column(few, "1/cores")[:, None], scaled(few, "1/cores"))
    scenarios(networks[0], is_840_wanted=not options.without_840)
    print(f"\nWhole scenario 4-2, full grids of lasso, ridge and forest; the bar is {MOST_4_2_S} s")
    whole_4_2(networks)
    if not options.without_auto:
        print("\nfit --model auto, 900 rows of 8 settings")
        automatic()


if __name__ == "__main__":
    main()
