"""How long `analyze` takes on a large table, beside statsmodels' ANOVA alone; both on the same rows in one run.

    python benchmarks/analysis.py [--rows 100000] [--factors 8] [--levels 4]

The table is made up: categories with `--levels` levels each, times that depend on three of them. Our side is the whole
answer (two fits where Box-Cox proposes another scale, checks, effects, comparisons, warnings); the other side is
`anova_lm(ols(...).fit(), typ=2)` of the same terms, once. The sums of squares of both must agree to 1e-6.
"""

import argparse
import time
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from sparkcast.analysis.anova import analyze
from sparkcast.study import Dataset, Observation


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--factors", type=int, default=8)
    parser.add_argument("--levels", type=int, default=4)
    options = parser.parse_args()
    codes, time_s = _made_up(options.rows, options.factors, options.levels)
    names = [f"f{i}" for i in range(options.factors)]
    data = _dataset(names, codes, time_s)

    begun = time.perf_counter()
    ours = analyze(data, "time_s")
    ours_s = time.perf_counter() - begun
    begun = time.perf_counter()
    theirs = _statsmodels(names, codes, time_s)
    theirs_s = time.perf_counter() - begun

    plain = ours.untransformed or ours
    worst = max(abs(row.sum_sq / theirs[row.term] - 1) for row in plain.rows)
    print(
        f"{options.rows:,} rows, {options.factors} factors of {options.levels} levels, {len(plain.rows)} rows of ANOVA"
    )
    print(f"sparkcast, whole analysis ({1 + (ours.untransformed is not None)} fits)   {ours_s:7.2f} s")
    print(f"statsmodels, one ANOVA of type 2            {theirs_s:7.2f} s   {theirs_s / ours_s:.1f} x ours")
    print(f"largest relative difference of a sum of squares: {worst:.1e}")
    assert worst < 1e-6


def _made_up(rows: int, factors: int, levels: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    codes = generator.integers(levels, size=(rows, factors))
    return codes, np.exp(0.1 * codes[:, 0] + 0.05 * codes[:, 1] * codes[:, 2] + generator.normal(0, 0.2, rows))


def _dataset(names: list[str], codes: Any, time_s: Any) -> Dataset:
    observations = (
        Observation({name: f"l{code}" for name, code in zip(names, row, strict=True)}, {"time_s": float(t)}, position=i)
        for i, (row, t) in enumerate(zip(codes, time_s, strict=True), start=1)
    )
    return Dataset(tuple(names), tuple(observations))


def _statsmodels(names: list[str], codes: Any, time_s: Any) -> dict[str, float]:
    frame = pd.DataFrame(codes, columns=names).astype("category").assign(time_s=time_s)
    coded = {name: f"C({name}, Sum)" for name in names}
    terms = [*coded.values(), *(f"{coded[a]}:{coded[b]}" for a, b in combinations(names, 2))]
    table = anova_lm(ols(f"time_s ~ {' + '.join(terms)}", frame).fit(), typ=2)
    labels = {term: term for term in table.index}
    for name, code in coded.items():
        labels = {term: label.replace(code, name) for term, label in labels.items()}
    return {labels[term]: float(table.loc[term, "sum_sq"]) for term in table.index}


if __name__ == "__main__":
    main()
