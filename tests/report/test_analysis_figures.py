"""The figures of an analysis: rows as data, what is left out, and that it is said."""

import json
from collections.abc import Callable
from dataclasses import replace
from math import inf, nan
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import pytest

from sparkcast.analysis import Analysis, AnovaRow, CellMean, Effect, ResidualPoint
from sparkcast.report import figures
from sparkcast.report.figures import Figure
from sparkcast.report.figures._figure import Row
from sparkcast.report.figures.residuals import histogram_rows
from sparkcast.report.figures.significance import pseudo_standard_error, reference_line

EVERY: dict[str, Callable[[Analysis], Figure | None]] = {
    "interactions": figures.interaction_grid,
    "pareto": figures.pareto,
    "half-normal": lambda analysis: figures.half_normal(with_effects(analysis, 9)),
    "residuals": figures.residual_panels,
    "regressions": figures.simple_regressions,
}


def drawn(made: Figure | None) -> Figure:
    assert made is not None
    return made


def with_effects(analysis: Analysis, n: int) -> Analysis:
    """n terms with one degree of freedom, |t| = 1, 2, ..., n; those beyond 4 stand out."""
    effects = tuple(Effect(f"setting{i}", 1, float(i), 4.0, 0.5) for i in range(1, n + 1))
    return replace(analysis, effects=effects)


def with_four_real_effects(analysis: Analysis) -> Analysis:
    """Of nine effects the four largest are far beyond the others."""
    *small, a, b, c, d = with_effects(analysis, 9).effects
    large = (replace(effect, standardized=10 * (effect.standardized or 0.0)) for effect in (a, b, c, d))
    return replace(analysis, effects=(*small, *large))


def with_pairs(analysis: Analysis, n: int) -> Analysis:
    """n interactions in the model, of settings a0 and b0, a1 and b1, ...; the last has the largest share."""
    rows = tuple(AnovaRow(f"a{i}:b{i}", 1, 1.0, 1.0 + i, 9.0, 0.001) for i in range(n))
    cells = tuple(CellMean(f"a{i}", f"b{i}", x, y, 5.0 + x * y, 3) for i in range(n) for x in (1, 2) for y in (1, 2))
    return replace(analysis, rows=rows, cells=cells)


def scales(spec: Any) -> list[dict[str, Any]]:
    """Every scale of a Vega-Lite spec."""
    if isinstance(spec, list):
        return [scale for part in spec for scale in scales(part)]
    if not isinstance(spec, dict):
        return []
    own = [spec["scale"]] if isinstance(spec.get("scale"), dict) else []
    return own + [scale for part in spec.values() for scale in scales(part)]


@pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)
def test_a_figure_of_an_analysis_is_valid_and_fits_a_phone(
    example: SimpleNamespace, make: Callable[[Analysis], Figure | None]
) -> None:
    import altair

    figure = drawn(make(example.analysis))
    altair.Root.validate(figure.spec)
    assert int(figure.svg(narrow=True).split('width="')[1].split('"')[0]) <= 345, "wider than a phone"


def test_all_figures_come_in_reading_order_with_the_response_in_their_names(example: SimpleNamespace) -> None:
    kinds = ["variation", "main-effects", "interactions", "pareto", "residuals", "regressions"]
    made = figures.analysis_figures(example.analysis)
    assert [figure.name for figure in made] == [f"{kind}-time_s" for kind in kinds]


def test_an_old_analysis_without_the_new_parts_has_the_two_old_figures(example: SimpleNamespace) -> None:
    bare = replace(example.analysis, effects=(), cells=(), regressions=(), residuals=())
    assert [f.name for f in figures.analysis_figures(bare)] == ["variation-time_s", "main-effects-time_s"]


def test_interactions_hold_the_mean_of_each_pair_of_levels(example: SimpleNamespace) -> None:
    figure = drawn(figures.interaction_grid(example.analysis))
    assert len(figure.rows) == 6
    # batch_size has more levels, so it goes along the axis and executors are the lines.
    assert figure.rows[0] == {
        "pair": "batch_size × executors",
        "factor": "batch_size",
        "level": 64,
        "by": "executors",
        "series": "1",
        "mean": 47.5,
        "n": 2,
        "percent": 5.1,
        "real": True,
    }
    assert "5.1% of the variation" in json.dumps(figure.spec)


def test_of_many_interactions_the_six_largest_are_shown_and_the_rest_counted(example: SimpleNamespace) -> None:
    figure = drawn(figures.interaction_grid(with_pairs(example.analysis, 8)))
    assert len(figure.spec["concat"]) == 6
    assert list(dict.fromkeys(row["pair"] for row in figure.rows)) == [f"a{i} × b{i}" for i in (7, 6, 5, 4, 3, 2)]
    assert "Not shown: 2 weaker interactions." in figure.caption


def test_an_interaction_beyond_the_noise_comes_before_a_larger_one_within_it(example: SimpleNamespace) -> None:
    first, second = with_pairs(example.analysis, 2).rows
    analysis = replace(with_pairs(example.analysis, 2), rows=(first, replace(second, p=0.4)))
    figure = drawn(figures.interaction_grid(analysis))
    assert [row["pair"] for row in figure.rows[::4]] == ["a0 × b0", "a1 × b1"]
    assert json.dumps(figure.spec).count("could be noise") == 1


def test_interactions_need_a_term_in_the_model_and_means_for_it(example: SimpleNamespace) -> None:
    main_only = tuple(row for row in example.analysis.rows if ":" not in row.term)
    assert figures.interaction_grid(replace(example.analysis, rows=main_only)) is None
    assert figures.interaction_grid(replace(example.analysis, cells=())) is None


@pytest.mark.parametrize("make", [figures.main_effects, figures.interaction_grid])
def test_a_model_of_logarithms_is_drawn_on_a_log_axis_that_the_caption_names(
    example: SimpleNamespace, make: Callable[[Analysis], Figure | None]
) -> None:
    plain, log = drawn(make(example.analysis)), drawn(make(replace(example.analysis, transform="log")))
    assert "log" not in {scale.get("type") for scale in scales(plain.spec)}
    assert "log" in {scale.get("type") for scale in scales(log.spec)}
    assert "logarithmic" in log.caption
    assert "logarithmic" not in plain.caption


def test_pareto_bars_fall_and_each_has_its_own_critical_value(example: SimpleNamespace) -> None:
    rows = drawn(figures.pareto(example.analysis)).rows
    assert [(row["term"], row["standardized"], row["critical"]) for row in rows] == [
        ("batch_size", 12.3, 2.27),
        ("executors", 7.9, 2.45),
        ("batch_size × executors", 2.28, 2.27),
    ]
    weak = replace(example.analysis, effects=(replace(example.analysis.effects[2], standardized=2.26),))
    assert drawn(figures.pareto(weak)).rows[0]["kind"] == "within the noise"


def test_pareto_shows_the_25_largest_and_says_so(example: SimpleNamespace) -> None:
    figure = drawn(figures.pareto(with_effects(example.analysis, 30)))
    assert [row["standardized"] for row in figure.rows] == [float(i) for i in range(30, 5, -1)]
    assert "the 25 largest of 30 terms" in figure.caption


def test_effects_that_could_not_be_tested_are_not_drawn(example: SimpleNamespace) -> None:
    exact = tuple(replace(effect, standardized=value) for effect in example.analysis.effects for value in (None, inf))
    assert figures.pareto(replace(example.analysis, effects=exact)) is None


def test_half_normal_places_are_those_of_as_many_normal_numbers(example: SimpleNamespace) -> None:
    rows = drawn(figures.half_normal(with_effects(example.analysis, 5))).rows
    # qnorm(0.5 + 0.5 * (1:5 - 0.5) / 5) in R
    expected = [0.1256613, 0.3853205, 0.6744898, 1.0364334, 1.6448536]
    assert [row["quantile"] for row in rows] == pytest.approx(expected, abs=1e-6)
    assert [row["kind"] for row in rows] == ["within the noise"] * 4 + ["above the noise"]


def test_the_half_normal_line_follows_the_small_effects_and_not_the_large_ones(example: SimpleNamespace) -> None:
    four = with_four_real_effects(example.analysis)
    ends = [
        reference_line(drawn(figures.half_normal(analysis)).rows)[1]
        for analysis in (replace(four, effects=four.effects[:5]), four)
    ]
    slopes = [float(str(end["standardized"])) / float(str(end["quantile"])) for end in ends]
    assert slopes[0] == pytest.approx(slopes[1])


def test_the_slope_of_the_half_normal_line_is_that_of_the_textbook() -> None:
    # Montgomery, Design and Analysis of Experiments, the filtration rate of a pilot plant (2^4): Lenth's PSE is 2.625.
    effects = [21.625, 3.125, 9.875, 14.625, 0.125, -18.125, 16.625, 2.375]
    effects += [-0.375, -1.125, 1.875, 4.125, -1.625, -2.625, 1.375]
    assert pseudo_standard_error(effects) == pytest.approx(2.625)
    rows: tuple[Row, ...] = tuple(
        {"standardized": size, "quantile": NormalDist().inv_cdf(0.5 + 0.5 * (rank - 0.5) / 15)}
        for rank, size in enumerate(sorted(map(abs, effects)), 1)
    )
    origin, end = reference_line(rows)
    assert origin == {"standardized": 0.0, "quantile": 0.0}
    assert float(str(end["standardized"])) / float(str(end["quantile"])) == pytest.approx(2.625)


def test_the_line_of_effects_that_are_all_noise_has_their_standard_deviation_as_its_slope() -> None:
    n = 4001
    noise = [3.0 * NormalDist().inv_cdf((rank - 0.5) / n) for rank in range(1, n + 1)]
    assert pseudo_standard_error(noise) == pytest.approx(3.0, rel=0.02)


def test_a_log_axis_is_announced_in_its_title(example: SimpleNamespace) -> None:
    figure = drawn(figures.main_effects(replace(example.analysis, transform="log")))
    titles = [scale["title"] for scale in titled(figure.spec) if scale.get("scale", {}).get("type") == "log"]
    assert titles
    assert all(title.endswith(", log scale") for title in titles)
    plain = drawn(figures.main_effects(example.analysis))
    assert not any("log scale" in one["title"] for one in titled(plain.spec))


def titled(spec: Any) -> list[dict[str, Any]]:
    """Every encoding of a Vega-Lite spec that has a title."""
    parts = spec if isinstance(spec, list) else list(spec.values()) if isinstance(spec, dict) else []
    own = [spec] if isinstance(spec, dict) and isinstance(spec.get("title"), str) else []
    return own + [one for part in parts for one in titled(part)]


def test_half_normal_needs_five_terms_of_one_degree_of_freedom(example: SimpleNamespace) -> None:
    assert figures.half_normal(with_effects(example.analysis, 4)) is None
    several = tuple(replace(effect, df=2) for effect in with_effects(example.analysis, 9).effects)
    assert figures.half_normal(replace(example.analysis, effects=several)) is None


def test_only_effects_that_leave_the_line_are_named(example: SimpleNamespace) -> None:
    def named(figure: Figure | None) -> list[str]:
        return [row["term"] for row in drawn(figure).spec["datasets"]["rows"] if row["side"]]

    assert named(figures.half_normal(with_effects(example.analysis, 9))) == []
    four = figures.half_normal(with_four_real_effects(example.analysis))
    assert named(four) == ["setting5", "setting6", "setting7", "setting8", "setting9"]


def test_residuals_hold_one_row_per_run_in_the_unit_of_the_model(example: SimpleNamespace) -> None:
    figure = drawn(figures.residual_panels(example.analysis))
    assert len(figure.rows) == 12
    assert figure.rows[0] == {"order": 7, "fitted": 27.0, "residual": 0.0, "standardized": 0.0, "quantile": 0.125}
    assert (figure.heads["fitted"], figure.heads["residual"]) == ("predicted time (s)", "residual time (s)")
    log = replace(example.analysis, transform="log", formula="log(time_s) ~ executors")
    assert drawn(figures.residual_panels(log)).heads["residual"] == "residual of log(time_s)"
    assert len(figure.spec["concat"]) == 4
    assert "What good looks like" in figure.caption


def test_runs_without_an_order_have_no_panel_for_it(example: SimpleNamespace) -> None:
    lost = tuple(replace(point, order=0) for point in example.analysis.residuals)
    assert len(drawn(figures.residual_panels(replace(example.analysis, residuals=lost))).spec["concat"]) == 3


def test_thinned_residuals_are_said_to_be_thinned_and_an_exact_fit_has_none(example: SimpleNamespace) -> None:
    assert "12 of 4,000 runs" in drawn(figures.residual_panels(replace(example.analysis, n=4000))).caption
    exact = tuple(ResidualPoint(i, 1.0, 1e-15 * i, 0.1 * i, 0.1 * i) for i in range(9))
    assert figures.residual_panels(replace(example.analysis, residuals=exact)) is None


def test_a_run_without_a_standardized_residual_is_left_out(example: SimpleNamespace) -> None:
    first, *others = example.analysis.residuals
    analysis = replace(example.analysis, residuals=(replace(first, standardized=nan), *others))
    assert len(drawn(figures.residual_panels(analysis)).rows) == 11


def test_the_histogram_counts_every_residual_once_beside_what_is_expected(example: SimpleNamespace) -> None:
    bars = histogram_rows(drawn(figures.residual_panels(example.analysis)).rows)
    assert [(bar["low"], bar["high"]) for bar in bars][:2] == [(-3.5, -2.5), (-2.5, -1.5)]
    assert [bar["runs"] for bar in bars] == [0, 0, 5, 3, 4, 0, 0]
    assert sum(float(str(bar["expected"])) for bar in bars) == pytest.approx(12, rel=0.001)


def test_a_residual_far_out_widens_the_bars_and_not_their_number() -> None:
    bars = histogram_rows(tuple({"standardized": value} for value in (*[0.1 * i for i in range(60)], 300.0)))
    assert len(bars) <= 43
    assert sum(int(str(bar["runs"])) for bar in bars) == 61


def test_regressions_list_the_strongest_setting_first_and_the_repetition_apart(example: SimpleNamespace) -> None:
    figure = drawn(figures.simple_regressions(example.analysis))
    assert [(row["variable"], row["r"]) for row in figure.rows] == [
        ("batch_size", -0.83),
        ("executors", -0.41),
        ("repetition", 0.02),
    ]
    assert [row["kind"] for row in figure.rows][1:] == ["a setting", "the repetition, which is not a setting"]
    assert figures.simple_regressions(replace(example.analysis, regressions=example.analysis.regressions[:1])) is None


def test_bends_are_squares_and_the_smallest_of_many_terms_are_one_bar(example: SimpleNamespace) -> None:
    terms = [AnovaRow(f"setting{i}^2", 1, 1.0, float(i), 1.0, 0.5) for i in range(1, 26)]
    analysis = replace(example.analysis, rows=(*terms, example.analysis.rows[-1]))
    figure = drawn(figures.variation(analysis))
    assert len(figure.rows) == 21
    assert figure.rows[0]["term"] == "setting25²"
    assert figure.rows[19] == {"term": "6 smaller terms", "percent": 21.0, "explained": True}
    assert figure.rows[20]["term"] == "not explained"
    assert "²" in figure.caption
