import math
import random
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from sparkcast.analyse import Analysis, AnovaRow
from sparkcast.analyse.anova import analyze
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


# R: Anova(lm(conformity ~ fcategory*partner.status, contrasts=contr.sum), type=...), package car's own example.
@pytest.mark.parametrize(
    ("anova_type", "expected"),
    [
        (2, {"fcategory": (11.61, 0.759564), "partner.status": (212.21, 0.002874)}),
        (3, {"fcategory": (36.02, 0.431492), "partner.status": (239.56, 0.001657)}),
    ],
)
def test_unbalanced_data_agree_with_r(anova_type: int, expected: dict[str, tuple[float, float]]) -> None:
    found = analyze(dataset(("partner.status", "fcategory"), MOORE), anova_type=anova_type)
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
    assert (row(analyze(data), "a:b").p or 0) < 0.001
    logged = analyze(data, transform="log")
    assert (row(logged, "a:b").p or 0) > 0.9
    assert logged.formula.startswith("log(time_s) ~ ")
    assert logged.means[0].mean == pytest.approx(math.sqrt(200) * (0.98 * 1.02) ** (1 / 3))
    assert any("not arithmetic means" in w for w in logged.warnings)


def test_boxcox_finds_the_power_that_makes_the_residuals_even() -> None:
    noise = random.Random(1)
    cells = {(a,): [(a + noise.gauss(0, 0.1)) ** 2 for _ in range(40)] for a in (2, 4, 8)}
    found = analyze(dataset(("a",), cells), transform="boxcox")
    power = float(found.formula.split("(")[1].split(")")[0].split(",")[1])
    assert power == pytest.approx(0.5, abs=0.1)
    assert found.means[0].low < found.means[0].mean < found.means[0].high
    assert found.means[0].mean == pytest.approx(4, rel=0.05)


def test_a_bare_number_is_a_trend_and_c_its_levels() -> None:
    data = simulated({"executors": (1, 2, 4), "cores": (1, 2)}, replicates=2)
    assert row(analyze(data, formula="executors + cores"), "executors").df == 1
    assert row(analyze(data, formula="time_s ~ C(executors) + cores"), "executors").df == 2


def test_interactions_without_residual_degrees_of_freedom_are_dropped_aloud() -> None:
    found = analyze(simulated({"executors": (1, 2, 4), "batch_size": (64, 128, 256)}))
    assert [r.term for r in found.rows] == ["executors", "batch_size", "Residual"]
    assert any("too few runs to estimate executors:batch_size" in w for w in found.warnings)


def test_an_interaction_with_missing_combinations_is_dropped_and_the_others_stay() -> None:
    data = simulated({"a": (1, 2), "b": (1, 2), "c": (1, 2)}, replicates=3)
    kept = tuple(o for o in data.observations if o.configuration["a"] == 1 or o.configuration["b"] == 1)
    found = analyze(Dataset(data.factors, kept))
    assert [r.term for r in found.rows] == ["a", "b", "c", "a:c", "b:c", "Residual"]


def test_the_summary_says_what_matters_and_what_does_not() -> None:
    noise = random.Random(3)
    cells = {(e, j): [30 / e + noise.gauss(0, 1) for _ in range(3)] for e, j in product((1, 2), (1, 3))}
    summary = analyze(dataset(("executors", "jobs"), cells)).summary
    assert len(summary) <= 5
    assert summary[0].startswith("executors explains 9")
    assert "(p < 0.001): on average 15.64 at 2, 30.15 at 1." in summary[0]
    assert any("No effect on time_s can be told from noise in these 12 runs for" in s and "jobs" in s for s in summary)


def test_an_exact_fit_has_no_test_and_says_so() -> None:
    found = analyze(dataset(("a",), {(1,): (1, 1), (2,): (3, 3)}))
    assert [(r.f, r.p) for r in found.rows] == [(None, None), (None, None)]
    assert any("fits exactly" in w for w in found.warnings)
    assert found.summary[0].startswith("a explains 100 %")


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
    assert "b is 7 in every run, so its effect is unknown" in found.warnings


def test_a_factor_that_changes_with_the_machine_is_named() -> None:
    data = dataset(("memory", "cache"), JAIN)

    def on(cpu: str, o: Observation) -> Observation:
        machine = Fingerprint(cpu, 4, 8, "linux", "3.11", "3.5", "17", "local")
        return Observation(o.configuration, o.responses, replicate=o.replicate, fingerprint=machine)

    moved = tuple(on("old" if o.configuration["memory"] == 4 else "new", o) for o in data.observations)
    [warning] = analyze(Dataset(data.factors, moved)).warnings
    assert warning == (
        "the runs come from 2 environments that differ in cpu; this changes with memory, so the two effects cannot "
        "be told apart"
    )
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
    with pytest.raises(StudyError, match="names no factors"):
        analyze(Dataset((), (Observation({}, {"time_s": 1.0}),)), formula="a")


def test_only_failed_runs_are_not_enough() -> None:
    runs = (Observation({"a": 1}, {}, outcome=Outcome.OOM), Observation({"a": 2}, {}, outcome=Outcome.OOM))
    with pytest.raises(NotEnoughDataError, match=r"no successful run.*2 oom"):
        analyze(Dataset(("a",), runs))


def test_no_runs_are_not_enough() -> None:
    with pytest.raises(NotEnoughDataError, match="no runs"):
        analyze(Dataset(("a",), ()))


def test_a_saturated_model_says_how_many_runs_to_make() -> None:
    with pytest.raises(NotEnoughDataError, match=r"nothing is left(.|\n)*at least twice"):
        analyze(dataset(("a",), {(1,): (1,), (2,): (3,)}))


def test_factors_that_always_change_together_cannot_be_told_apart() -> None:
    data = dataset(("a", "b"), {(1, 1): (1, 2), (2, 2): (3, 5)})
    with pytest.raises(NotEnoughDataError, match="always change together"):
        analyze(data)
    assert analyze(data, formula="a").rows[0].term == "a"


def test_a_formula_on_a_factor_that_never_changed_is_refused() -> None:
    with pytest.raises(NotEnoughDataError, match="b is 7 in every run"):
        analyze(simulated({"a": (1, 2), "b": (7,)}, replicates=2), formula="a + b")


def test_data_in_which_nothing_changes_are_not_enough() -> None:
    configuration: Configuration = {"a": 1}
    runs = (Observation(configuration, {"time_s": 1.0}), Observation(configuration, {"time_s": 2.0}))
    with pytest.raises(NotEnoughDataError, match="no factor has two levels"):
        analyze(Dataset(("a",), runs))
