"""What an analysis says in words: one share and one p value per factor, and no comfort where a check fails."""

import random
import re
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd
import pytest
from scipy.stats import f as f_distribution
from statsmodels.formula.api import ols
from statsmodels.stats.multitest import multipletests

from sparkcast.analysis import Analysis, CheckResult
from sparkcast.analysis.anova import analyze
from sparkcast.report.words import violated
from sparkcast.study import Dataset, Observation


def dataset(factors: tuple[str, ...], runs: list[tuple[tuple[Any, ...], float]]) -> Dataset:
    return Dataset(
        factors,
        tuple(Observation(dict(zip(factors, levels, strict=True)), {"time_s": value}) for levels, value in runs),
    )


def bent() -> Dataset:
    noise = random.Random(6)
    cells = product((1, 2, 4, 8), (64, 256), ("x", "y"))
    runs = [
        ((e, b, n), 60 / e + b / 32 + 4 * (n == "y") * (b == 256) + noise.gauss(0, 2))
        for e, b, n in cells
        for _ in range(noise.choice((1, 2, 3)))
    ]
    return dataset(("executors", "batch_size", "network"), runs)


def verdict_of(found: Analysis, factor: str) -> Any:
    return next(verdict for verdict in found.factors if verdict.factor == factor)


def test_a_factor_has_one_share_and_one_p_value_the_bend_of_a_number_included() -> None:
    data = bent()
    found = analyze(data, transform="none")
    frame = pd.DataFrame([{**o.configuration, **o.responses} for o in data.observations])
    pairs = ["executors:batch_size", "executors:network", "batch_size:network"]
    own = {"executors": ["executors", "I(executors**2)"], "batch_size": ["batch_size"], "network": ["network"]}
    every = [term for terms in own.values() for term in terms]
    full = ols(f"time_s ~ {' + '.join(every + pairs)}", frame).fit()
    shares, p = {}, {}
    for name, terms in {**own, **{pair: [pair] for pair in pairs}}.items():
        # Type II: beside everything that does not contain it.
        beside = [t for t in (*every, *pairs) if t not in terms and not set(name.split(":")) < set(t.split(":"))]
        with_it = ols(f"time_s ~ {' + '.join([*beside, *terms])}", frame).fit()
        square = ols(f"time_s ~ {' + '.join(beside)}", frame).fit().ssr - with_it.ssr
        shares[name] = 100 * square / full.centered_tss
        p[name] = f_distribution.sf(square / len(terms) / full.mse_resid, len(terms), full.df_resid)
    corrected = dict(zip(p, multipletests(list(p.values()), method="holm")[1], strict=True))
    for name in own:
        assert verdict_of(found, name).percent == pytest.approx(shares[name], rel=1e-6)
        assert verdict_of(found, name).p == pytest.approx(corrected[name], rel=1e-6)
    told = verdict_of(found, "executors").sentence
    assert f"executors matters: {shares['executors']:.0f}% of the variation on its own (type 2; p < 0.001, Holm" in told
    assert found.summary[0].startswith(f"time_s depends most on executors ({shares['executors']:.0f}%), then ")
    assert found.summary[0].endswith("(type 2).")
    assert [row.term for row in found.rows if "^2" in row.term] == ["executors^2"]  # the table has every term


def test_no_share_is_above_100_percent_where_settings_changed_together() -> None:
    """Memory was raised with the executors, and undoes what they do: each explains much beyond the other."""
    noise = random.Random(9)
    runs = []
    for executors in (1, 2, 3, 4, 5, 6):
        for step in (0, 1):
            memory = 2 * executors + step
            runs += [((executors, memory), 100 + 10 * memory - 20 * executors + noise.gauss(0, 0.5)) for _ in range(2)]
    found = analyze(dataset(("executors", "memory"), runs), formula="executors + memory", transform="none")
    assert sum(row.percent for row in found.rows[:-1]) > 100  # as type 2 has it
    [system] = [line for line in found.summary if line.startswith("Cluster settings matter")]
    told = " ".join((*found.summary, *(verdict.sentence for verdict in found.factors)))
    shares = [float(share) for share in re.findall(r"([\d.]+)%", told)]
    assert shares
    assert max(shares) <= 100
    assert f"{100 * found.r_squared:.0f}%" in system  # nothing else was varied


def test_a_failed_test_of_lack_of_fit_is_not_called_nothing_serious() -> None:
    noise = random.Random(2)
    level = {1: 10.0, 2: 22.0, 4: 38.0, 8: 80.0}  # nearly straight: what a line misses is little, and above the noise
    data = dataset(("executors",), [((e,), level[e] + noise.gauss(0, 0.2)) for e in level for _ in range(4)])
    found = analyze(data, formula="executors", transform="none")
    lack = next(check for check in found.checks if check.name == "lack of fit")
    assert lack.verdict is CheckResult.DOUBTFUL
    assert "nothing serious" not in found.summary[-1]
    assert "possible problem: the model has lack of fit" in found.summary[-1]
    assert "lack of fit is doubtful" in violated(found)


def test_what_could_not_be_checked_is_named_beside_nothing_serious() -> None:
    found = analyze(dataset(("a",), [((1,), 10.0), ((1,), 11.0), ((2,), 15.0), ((2,), 14.2)]), transform="none")
    assert "no serious problem with these conclusions; not tested: normality, equal variance" in found.summary[-1]


def test_a_data_size_is_no_choice_whose_best_value_lies_at_the_edge() -> None:
    noise = random.Random(3)
    runs = [((size, m), size / m + noise.gauss(0, 0.2)) for size in (10, 20, 40) for m in (1, 2, 4) for _ in range(2)]
    data = dataset(("input", "hosts"), runs)
    named = replace(data, vocabulary=data.vocabulary.assigning({"input": "data-size", "hosts": "machines"}))
    edges = [warning for warning in analyze(named, transform="none").warnings if "edge" in warning]
    assert len(edges) == 1
    assert "the best hosts for time_s (4)" in edges[0]
    assert len([w for w in analyze(data, transform="none").warnings if "edge" in w]) == 2  # nobody said what it is


def test_the_change_of_a_category_without_an_effect_says_from_which_level_to_which() -> None:
    noise = random.Random(1)
    runs = [((n, e), 20 / e + noise.gauss(0, 1)) for n in ("lenet5", "simplenet") for e in (1, 2) for _ in range(3)]
    found = analyze(dataset(("network", "executors"), runs), transform="none")
    assert "from lenet5 to simplenet time_s changes by " in verdict_of(found, "network").sentence


def test_nearly_all_of_the_variation_is_not_all_of_it() -> None:
    noise = random.Random(5)
    found = analyze(dataset(("a",), [((a,), 10 * a + noise.gauss(0, 0.4)) for a in (1, 2) for _ in range(6)]))
    assert 0.995 < found.r_squared < 0.9995
    assert f"The model explains {100 * found.r_squared:.1f}% of the variation" in found.summary[-1]
