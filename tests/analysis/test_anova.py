import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from sparkcast.analysis import Analysis, AnovaRow
from sparkcast.analysis.anova import analyze
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.study import Configuration, Dataset, Fingerprint, Level, Observation, Outcome

# Jain, "The Art of Computer Systems Performance Analysis", chapter 18: memory and cache size, three replicates.
JAIN = {
    (4, 1): (15, 18, 12),
    (16, 1): (45, 48, 51),
    (4, 2): (25, 28, 19),
    (16, 2): (75, 75, 81),
}

# Moore and Krupat (1971) as data set `Moore` of R's carData; unbalanced. Values by (partner.status, fcategory).
MOORE = {
    ("low", "low"): (8, 7, 10, 6, 13, 12, 7, 6, 8, 12),
    ("low", "medium"): (12, 4, 4, 9),
    ("low", "high"): (4, 8, 13, 9, 24, 7, 23, 13),
    ("high", "low"): (21, 23, 15, 12, 16),
    ("high", "medium"): (12, 17, 14, 16, 20, 8, 14, 17, 7, 17, 15),
    ("high", "high"): (19, 9, 7, 11, 14, 13, 10),
}


def dataset(factors: Sequence[str], cells: Mapping[Any, Sequence[float]]) -> Dataset:
    return Dataset(
        tuple(factors),
        tuple(
            Observation(dict(zip(factors, levels, strict=True)), {"time_s": float(value)}, replicate=i)
            for levels, values in cells.items()
            for i, value in enumerate(values, start=1)
        ),
    )


def simulated(levels: Mapping[str, Sequence[Level]], replicates: int = 1) -> Dataset:
    noise = random.Random(0)
    cells = {c: [10 + noise.random() for _ in range(replicates)] for c in product(*levels.values())}
    return dataset(tuple(levels), cells)


def row(analysis: Analysis, term: str) -> AnovaRow:
    return next(r for r in analysis.rows if r.term == term)


@pytest.mark.parametrize("anova_type", [1, 2, 3])
def test_sums_of_squares_agree_with_jain_whatever_the_type_in_balanced_data(anova_type: int) -> None:
    found = analyze(dataset(("memory", "cache"), JAIN), anova_type=anova_type)
    assert {r.term: round(r.sum_sq, 6) for r in found.rows} == {
        "memory": 5547,
        "cache": 1083,
        "memory:cache": 300,
        "Residual": 102,
    }
    assert [round(r.percent, 2) for r in found.rows] == [78.88, 15.40, 4.27, 1.45]
    assert sum(r.percent for r in found.rows) == pytest.approx(100)
    assert row(found, "Residual").df == 8


@pytest.mark.parametrize("anova_type", [1, 2, 3])
@pytest.mark.parametrize("text", ["a * b + c", "a + b + c", "(a + C(b) + c)**2", "C(a) * b * c", "c + b + a:c + a"])
def test_sums_of_squares_equal_those_of_statsmodels_to_the_last_digits(anova_type: int, text: str) -> None:
    noise = random.Random(7)
    levels = {"a": (1, 2, 5), "b": (10, 20, 40), "c": ("x", "y", "z")}
    cells = {c: [noise.gauss(10, 2) for _ in range(noise.choice((1, 2, 3)))] for c in product(*levels.values())}
    data = dataset(tuple(levels), cells)
    found = analyze(data, formula=text, anova_type=anova_type, transform="none")
    expected = statsmodels_anova(data, text, anova_type)
    assert [r.term for r in found.rows] == [*expected]
    for r in found.rows:
        assert r.sum_sq == pytest.approx(expected[r.term][0], rel=1e-8)
        assert r.df == expected[r.term][1]
        if r.p is not None:
            assert r.p == pytest.approx(expected[r.term][2], rel=1e-6)


def statsmodels_anova(data: Dataset, text: str, anova_type: int) -> dict[str, tuple[float, float, float]]:
    """The same by another road: its own formula reader, coding and sums of squares."""
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    frame = pd.DataFrame([{**o.configuration, "y": o.responses["time_s"]} for o in data.observations])
    for name in ("a", "b"):  # type III depends on the coding: ours is centered on the mean of the levels
        frame[f"{name}_coded"] = frame[name] - frame[name].unique().mean()
    text = re.sub(r"C\((\w)\)", r"C(\1 , Sum)", text)
    text = re.sub(r"\b([ab])\b(?! ,)", r"\1_coded", text)
    text = re.sub(r"\bc\b", "C(c , Sum)", text)
    table = anova_lm(ols(f"y ~ {text}", frame).fit(), typ=anova_type)
    names = {name: ":".join(re.findall(r"\b([abc])(?:_coded)?\b", name)) or name for name in table.index}
    return {
        names[n]: (table.loc[n, "sum_sq"], table.loc[n, "df"], table.loc[n, "PR(>F)"])
        for n in table.index
        if n != "Intercept"
    }


def exact_reduction(rows: list[list[int]], values: list[int]) -> Fraction:
    """The sum of squares that columns explain, in exact arithmetic: b'X'y where X'X b = X'y."""
    columns = list(zip(*rows, strict=True))
    system = [[Fraction(sum(a * b for a, b in zip(x, y, strict=True))) for y in (*columns, values)] for x in columns]
    right = [row[-1] for row in system]
    size = len(columns)
    for i in range(size):  # Gauss and Jordan
        pivot = next(r for r in range(i, size) if system[r][i] != 0)
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [value / system[i][i] for value in system[i]]
        for r in range(size):
            if r != i:
                system[r] = [a - system[r][i] * b for a, b in zip(system[r], system[i], strict=True)]
    return sum((row[-1] * value for row, value in zip(system, right, strict=True)), Fraction(0))


def test_unbalanced_data_agree_with_exact_arithmetic() -> None:
    """What car::Anova prints of `Moore` has two decimals; the same definitions in fractions have all of them."""
    coded = {"low": [1], "high": [-1]}, {"low": [1, 0], "medium": [0, 1], "high": [-1, -1]}
    blocks: dict[str, list[list[int]]] = {"partner": [], "category": [], "partner:category": []}
    values: list[int] = []
    for (status, category), cell in MOORE.items():
        a, b = coded[0][status], coded[1][category]
        for value in cell:
            values.append(value)
            blocks["partner"].append(a)
            blocks["category"].append(b)
            blocks["partner:category"].append([a[0] * x for x in b])

    def reduction(*names: str) -> Fraction:
        return exact_reduction([[1, *(x for n in names for x in blocks[n][i])] for i in range(len(values))], values)

    both = reduction("partner", "category")
    full = reduction("partner", "category", "partner:category")
    exact = {
        (2, "partner"): both - reduction("category"),
        (2, "category"): both - reduction("partner"),
        (2, "partner:category"): full - both,
        (3, "partner"): full - reduction("category", "partner:category"),
        (3, "category"): full - reduction("partner", "partner:category"),
        (3, "partner:category"): full - both,
        (1, "partner"): reduction("partner") - reduction(),
        (1, "category"): both - reduction("partner"),
    }
    data = dataset(("partner", "category"), MOORE)
    for (anova_type, term), expected in exact.items():
        found = analyze(data, anova_type=anova_type, transform="none")
        assert row(found, term).sum_sq == pytest.approx(float(expected), rel=1e-11, abs=1e-8)


# R: Anova(lm(conformity ~ fcategory*partner.status, contrasts=contr.sum), type=...), package car's own example.
@pytest.mark.parametrize(
    ("anova_type", "expected"),
    [
        (2, {"fcategory": (11.61, 0.759564), "partner.status": (212.21, 0.002874)}),
        (3, {"fcategory": (36.02, 0.431492), "partner.status": (239.56, 0.001657)}),
    ],
)
def test_unbalanced_data_agree_with_r(anova_type: int, expected: dict[str, tuple[float, float]]) -> None:
    found = analyze(dataset(("partner.status", "fcategory"), MOORE), anova_type=anova_type, transform="none")
    for term, (sum_sq, p) in expected.items():
        assert row(found, term).sum_sq == pytest.approx(sum_sq, abs=0.01)
        assert row(found, term).p == pytest.approx(p, abs=1e-6)
    assert row(found, "partner.status:fcategory").sum_sq == pytest.approx(175.49, abs=0.01)
    assert row(found, "Residual").sum_sq == pytest.approx(817.76, abs=0.01)
    assert found.r_squared == pytest.approx(0.3237, abs=1e-4)


def test_names_that_are_no_identifiers_come_back_as_they_were() -> None:
    data = dataset(("spark.executor cores", "batch-size"), JAIN)
    found = analyze(data, formula="spark.executor cores * C(batch-size)")
    assert row(found, "spark.executor cores").sum_sq == pytest.approx(5547)
    assert row(found, "batch-size").sum_sq == pytest.approx(1083)
    assert len(found.rows) == 4


def test_level_means_carry_intervals_from_the_residual_of_the_model() -> None:
    means = analyze(dataset(("memory", "cache"), JAIN)).means
    assert [(m.factor, m.level, m.mean, m.n) for m in means[:2]] == [("memory", 4, 19.5, 6), ("memory", 16, 62.5, 6)]
    # t(0.975, 8) * sqrt(102 / 8 / 6)
    assert means[0].high - means[0].mean == pytest.approx(2.306004 * math.sqrt(102 / 8 / 6), rel=1e-6)


def test_sizes_are_ordered_by_size_and_not_as_text() -> None:
    data = dataset(("memory",), {("10g",): (1, 2), ("512m",): (3, 4), ("2g",): (5, 7)})
    assert [m.level for m in analyze(data).means] == ["512m", "2g", "10g"]


def test_a_log_makes_factors_that_multiply_additive() -> None:
    cells = {(a, b): [a * b * f for f in (0.98, 1.0, 1.02)] for a, b in product((1, 2, 4), (10, 20))}
    data = dataset(("a", "b"), cells)
    assert (row(analyze(data, transform="none"), "a:b").p or 0) < 0.001
    logged = analyze(data, transform="log")
    assert (row(logged, "a:b").p or 0) > 0.9
    assert logged.formula.startswith("log(time_s) ~ ")
    assert logged.means[0].mean == pytest.approx(math.sqrt(200) * (0.98 * 1.02) ** (1 / 3))
    assert any("not arithmetic means" in w for w in logged.warnings)


def test_boxcox_finds_the_power_that_makes_the_residuals_even() -> None:
    noise = random.Random(1)
    cells = {(a,): [(a + noise.gauss(0, 0.1)) ** 2 for _ in range(40)] for a in (2, 4, 8)}
    found = analyze(dataset(("a",), cells), transform="boxcox")
    power = float(found.formula.split("^")[1].split(" ")[0])
    assert power == pytest.approx(0.5, abs=0.1)
    assert found.means[0].low < found.means[0].mean < found.means[0].high
    assert found.means[0].mean == pytest.approx(4, rel=0.05)


def test_a_bare_number_is_a_trend_and_c_its_levels() -> None:
    data = simulated({"executors": (1, 2, 4), "cores": (1, 2)}, replicates=2)
    assert row(analyze(data, formula="executors + cores"), "executors").df == 1
    assert row(analyze(data, formula="time_s ~ C(executors) + cores"), "executors").df == 2


def test_interactions_without_residual_degrees_of_freedom_are_dropped_aloud() -> None:
    found = analyze(simulated({"executors": (1, 2, 4), "batch_size": (64, 128, 256)}))
    terms = "executors batch_size executors^2 batch_size^2 executors:batch_size Residual"
    assert [r.term for r in found.rows] == terms.split()
    few = analyze(simulated({"network": ("a", "b", "c"), "optimizer": ("x", "y", "z")}))
    assert [r.term for r in few.rows] == ["network", "optimizer", "Residual"]
    assert any("too few runs to estimate network:optimizer" in w for w in few.warnings)


def test_an_interaction_with_missing_combinations_is_dropped_and_the_others_stay() -> None:
    data = simulated({"a": (1, 2), "b": (1, 2), "c": (1, 2)}, replicates=3)
    kept = tuple(o for o in data.observations if o.configuration["a"] == 1 or o.configuration["b"] == 1)
    found = analyze(Dataset(data.factors, kept))
    assert [r.term for r in found.rows] == ["a", "b", "c", "a:c", "b:c", "Residual"]


def test_the_summary_says_what_matters_and_what_does_not_in_five_lines() -> None:
    noise = random.Random(3)
    cells = {(e, j): [30 / e + noise.gauss(0, 1) for _ in range(3)] for e, j in product((1, 2), ("adam", "sgd"))}
    found = analyze(dataset(("executors", "optimizer"), cells))
    assert len(found.summary) == 5
    assert found.summary[0].startswith("time_s depends most on executors (9")
    assert found.summary[1] == "For executors alone: on average time_s is 15.64 at 2 and 30.15 at 1, 1.9 times as much."
    assert found.summary[2].startswith("Cluster settings matter: executors, 9")
    assert found.summary[3] == "No effect is distinguishable from noise for optimizer."
    verdicts = {v.factor: v for v in found.factors}
    assert verdicts["executors"].matters
    assert verdicts["optimizer"].matters is False
    assert "no effect distinguishable from noise in these 12 runs" in verdicts["optimizer"].sentence


def test_what_a_setting_of_the_cluster_is_says_its_role_and_not_its_name() -> None:
    noise = random.Random(3)
    cells = {(h, c): [30 / h + noise.gauss(0, 1) for _ in range(3)] for h, c in product((1, 2), (1, 2))}
    data = dataset(("hosts", "core_values"), cells)
    assert analyze(data).summary[2] == "No cluster setting was tested."
    named = replace(data, vocabulary=data.vocabulary.assigning({"hosts": "machines"}))
    assert analyze(named).summary[2].startswith("Cluster settings matter: hosts, 9")
    assert analyze(named).rows == analyze(data).rows


def test_without_a_response_the_time_is_analyzed_whatever_its_name() -> None:
    data = dataset(("a",), {(1,): (1.0, 1.1), (2,): (2.0, 2.1)})
    runs = tuple(replace(run, responses={"auc": 0.5, "minutes": run.responses["time_s"]}) for run in data.observations)
    renamed = Dataset(data.factors, runs, responses=("auc", "minutes"))
    assert analyze(renamed).response == "minutes"
    assert analyze(renamed).rows == analyze(data).rows


def test_a_setting_that_only_acts_through_another_matters() -> None:
    noise = random.Random(4)
    cells = {(a, b): [10 + 3 * a * b + noise.gauss(0, 0.5) for _ in range(4)] for a, b in product((-1, 1), (-1, 1))}
    [a, b] = analyze(dataset(("a", "b"), cells)).factors
    assert a.matters
    assert b.matters
    assert "hardly on its own; its effect depends on the other setting in a:b" in a.sentence


def test_a_bend_is_found_where_a_straight_line_would_see_nothing() -> None:
    noise = random.Random(5)
    cells = {(x,): [10 + (x - 3) ** 2 + noise.gauss(0, 0.3) for _ in range(3)] for x in (1, 2, 3, 4, 5)}
    found = analyze(dataset(("executors",), cells), transform="none")
    assert (row(found, "executors").p or 0) > 0.05
    assert (row(found, "executors^2").p or 1) < 1e-6
    assert found.factors[0].matters
    bend = next(e for e in found.effects if e.term == "executors^2")
    assert bend.coefficient == pytest.approx(1.0, abs=0.1)  # of the square, in original units


def test_an_exact_fit_has_no_test_and_says_so() -> None:
    found = analyze(dataset(("a",), {(1,): (1, 1), (2,): (3, 3)}))
    assert [(r.f, r.p) for r in found.rows] == [(None, None), (None, None)]
    assert any("fits exactly" in w for w in found.warnings)
    assert found.summary[0].startswith("time_s depends most on a (100%)")
    assert found.factors[0].matters is None


@pytest.mark.parametrize("seed", range(30))
def test_runs_that_nearly_fit_exactly_are_analyzed_all_the_same(seed: int) -> None:
    """Four runs leave one degree of freedom, and what is left unexplained may be rounding error."""
    noise = random.Random(seed)
    scatter = 10.0 ** -noise.randint(2, 16)
    cells = {(e, b): [100 / e + b / 7 + scatter * noise.gauss(0, 1)] for e, b in product((1, 2), (64, 128))}
    found = analyze(dataset(("executors", "batch_size"), cells))
    assert len(found.summary) == 5


# --- caveats


def test_runs_without_replicates_are_pointed_out() -> None:
    assert any("run twice" in w for w in analyze(simulated({"a": (1, 2, 3), "b": (1, 2, 3)})).warnings)
    assert not analyze(dataset(("memory", "cache"), JAIN)).warnings


@pytest.mark.parametrize(("anova_type", "words"), [(1, "depend on the order"), (2, "need not add up")])
def test_unbalanced_runs_are_pointed_out(anova_type: int, words: str) -> None:
    warnings = analyze(dataset(("partner", "category"), MOORE), anova_type=anova_type).warnings
    assert any("unbalanced" in w and words in w for w in warnings)


def test_failed_runs_are_left_out_and_counted_by_outcome() -> None:
    data = dataset(("memory", "cache"), JAIN)
    bad = [
        Observation({"memory": 4, "cache": 1}, {}, outcome=Outcome.OOM),
        Observation({"memory": 4, "cache": 1}, {"time_s": 900.0}, outcome=Outcome.OOM),
        Observation({"memory": 4, "cache": 1}, {}, outcome=Outcome.TIMEOUT),
        Observation({"memory": 4, "cache": 1}, {"accuracy": 1.0}),
    ]
    found = analyze(Dataset(data.factors, (*data.observations, *bad)))
    assert found.n == 12
    assert any("2 oom, 1 timeout, 1 without time_s" in w for w in found.warnings)


def test_a_factor_that_never_changed_is_left_out_aloud() -> None:
    data = simulated({"a": (1, 2), "b": (7,)}, replicates=3)
    found = analyze(data)
    assert [r.term for r in found.rows] == ["a", "Residual"]
    assert "b is 7 in every run, so its effect cannot be estimated" in found.warnings


def test_a_factor_that_changes_with_the_machine_is_named() -> None:
    data = dataset(("memory", "cache"), JAIN)

    def on(cpu: str, o: Observation) -> Observation:
        machine = Fingerprint(cpu, 4, 8, "linux", "3.11", "3.5", "17", "local")
        return Observation(o.configuration, o.responses, replicate=o.replicate, fingerprint=machine)

    moved = tuple(on("old" if o.configuration["memory"] == 4 else "new", o) for o in data.observations)
    [warning] = analyze(Dataset(data.factors, moved)).warnings
    assert warning == "the runs come from 2 environments that differ in cpu; this is confounded with memory"
    same = tuple(on("one", o) for o in data.observations)
    assert not analyze(Dataset(data.factors, same)).warnings


# --- errors


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os').system('true')",
        "memory + open('x')",
        "memory + `cache`",
        "memory if cache else memory",
        "memory cache",
        "memory (cache)",
        "np.log(memory)",
        "I(memory)",
        "C(memory",
        "C(memory, Sum)",
        "memory - 1",
        "0 + memory",
        "memory ** 99",
        "memory / cache",
        "(memory",
        "* memory",
        "memory +",
        "memory - memory",
        "cost ~ memory",
        "memroy",
        "",
        "1",
        "memory" + " + memory" * 200,
    ],
)
def test_a_formula_with_anything_but_factors_and_operators_is_refused(formula: str) -> None:
    with pytest.raises(StudyError) as error:
        analyze(dataset(("memory", "cache"), JAIN), formula=formula)
    assert error.value.hint


def test_a_mistyped_factor_in_a_formula_gets_a_suggestion() -> None:
    with pytest.raises(StudyError, match=r"'memroy'(.|\n)*did you mean 'memory'"):
        analyze(dataset(("memory", "cache"), JAIN), formula="memroy * cache")


def test_an_unknown_response_gets_a_suggestion() -> None:
    with pytest.raises(StudyError, match=r"no response 'time'(.|\n)*did you mean 'time_s'"):
        analyze(dataset(("memory", "cache"), JAIN), "time")


@pytest.mark.parametrize("options", [{"anova_type": 4}, {"transform": "sqrt"}])
def test_unknown_options_are_refused(options: dict[str, int | str]) -> None:
    with pytest.raises(StudyError):
        analyze(dataset(("memory", "cache"), JAIN), **options)  # type: ignore[arg-type]


def test_values_that_are_not_positive_cannot_be_logged() -> None:
    data = dataset(("a",), {(1,): (0.0, 1.0), (2,): (2.0, 3.0)})
    for transform in ("log", "boxcox"):
        with pytest.raises(StudyError, match="positive"):
            analyze(data, transform=transform)


def test_a_response_that_never_changes_has_nothing_to_explain() -> None:
    with pytest.raises(StudyError, match="5 in all 4 runs"):
        analyze(dataset(("a",), {(1,): (5, 5), (2,): (5, 5)}))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_response_that_is_no_number_is_refused_with_its_configuration(value: float) -> None:
    with pytest.raises(StudyError, match="the run at a=1 has time_s"):
        analyze(dataset(("a",), {(1,): (value, 1.0), (2,): (2.0, 3.0)}))


def test_a_level_that_is_no_number_is_refused() -> None:
    with pytest.raises(StudyError, match="a run has a = nan"):
        analyze(dataset(("a",), {(math.nan,): (1.0, 2.0), (2,): (2.0, 3.0)}))


def test_a_factor_that_runs_do_not_have_is_refused() -> None:
    runs = (Observation({"executors": 1}, {"time_s": 1.0}), Observation({"executors": 2}, {"time_s": 2.0}))
    with pytest.raises(StudyError, match=r"no value for factor 'executor'(.|\n)*did you mean 'executors'"):
        analyze(Dataset(("executor",), runs))


def test_data_without_factors_are_refused() -> None:
    with pytest.raises(StudyError, match="has no factors"):
        analyze(Dataset((), (Observation({}, {"time_s": 1.0}),)), formula="a")


def test_only_failed_runs_are_not_enough() -> None:
    runs = (Observation({"a": 1}, {}, outcome=Outcome.OOM), Observation({"a": 2}, {}, outcome=Outcome.OOM))
    with pytest.raises(NotEnoughDataError, match=r"no successful run.*2 oom"):
        analyze(Dataset(("a",), runs))


def test_no_runs_are_not_enough() -> None:
    with pytest.raises(NotEnoughDataError, match="no runs"):
        analyze(Dataset(("a",), ()))


def test_a_saturated_model_says_how_many_runs_to_make() -> None:
    with pytest.raises(NotEnoughDataError, match=r"no degrees of freedom are left(.|\n)*at least twice"):
        analyze(dataset(("a",), {(1,): (1,), (2,): (3,)}))


def test_factors_that_always_change_together_cannot_be_told_apart() -> None:
    data = dataset(("a", "b"), {(1, 1): (1, 2), (2, 2): (3, 5)})
    found = analyze(data)
    assert [row.term for row in found.rows] == ["a", "Residual"]
    assert any("`a` and `b` always change together" in warning for warning in found.warnings)
    with pytest.raises(NotEnoughDataError, match="`a` and `b` always change together"):
        analyze(data, formula="a + b")
    assert analyze(data, formula="a").rows[0].term == "a"


def test_a_formula_on_a_factor_that_never_changed_is_refused() -> None:
    with pytest.raises(NotEnoughDataError, match="b is 7 in every run"):
        analyze(simulated({"a": (1, 2), "b": (7,)}, replicates=2), formula="a + b")


def test_data_in_which_nothing_changes_are_not_enough() -> None:
    configuration = Configuration({"a": 1})
    runs = (Observation(configuration, {"time_s": 1.0}), Observation(configuration, {"time_s": 2.0}))
    with pytest.raises(NotEnoughDataError, match="no factor has two levels"):
        analyze(Dataset(("a",), runs))


def test_a_column_that_names_each_run_is_no_factor() -> None:
    runs = tuple(
        Observation({"executors": 1 + i % 2, "app": f"app-{i}"}, {"time_s": float(i % 3)}, position=i)
        for i in range(12)
    )
    with pytest.raises(StudyError, match=r"app is different in every run(.|\n)*`factors=\['executors'"):
        analyze(Dataset(("executors", "app"), runs))


def test_settings_with_hundreds_of_categories_are_analyzed_without_their_interaction() -> None:
    noise = random.Random(1)
    runs = tuple(
        Observation({"host": f"h{noise.randrange(60)}", "user": f"u{noise.randrange(50)}"}, {"time_s": noise.random()})
        for _ in range(600)
    )
    found = analyze(Dataset(("host", "user"), runs))
    assert [r.term for r in found.rows] == ["host", "user", "Residual"]
    assert any("host:user cannot be separated" in w for w in found.warnings)
