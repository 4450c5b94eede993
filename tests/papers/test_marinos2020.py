"""Marinos et al. 2020 from what the paper prints. Reference sums were computed independently (see _printed.py)."""

from pathlib import Path

import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from sparkcast.errors import StudyError
from sparkcast.replications import Agreement, CorrectedFigure, Mistake, Replicated, replicate
from sparkcast_papers.marinos2020 import _printed
from sparkcast_papers.marinos2020._checks import frame, sequential, vif
from sparkcast_papers.marinos2020._runs import FORMULA, authors_runs, table_runs
from sparkcast_papers.marinos2020._tables import TABLE_II
from sparkcast_papers.marinos2020.queues import m_m_c


@pytest.fixture(scope="module")
def result() -> Replicated:
    return replicate("marinos2020")


def _squares(result: Replicated, title: str) -> dict[str, float]:
    section = next(s for s in result.sections if s.title.endswith(title))
    return {row.item: row.ours for row in section.rows if row.quantity == "sum_sq" and row.ours is not None}


def _mistake(result: Replicated, number: int) -> Mistake:
    return next(m for m in result.mistakes if m.number == number)


def _figure(result: Replicated, number: int, start: str) -> CorrectedFigure:
    return next(f for f in _mistake(result, number).figures if f.what.startswith(start))


@pytest.mark.parametrize(
    ("title", "printed"),
    [("without rows 2 and 3", _printed.WITHOUT_2_AND_3), ("all 32 rows", _printed.ALL_32)],
)
def test_sums_of_squares_from_table_ii_are_right_to_a_millionth(
    result: Replicated, title: str, printed: dict[str, str]
) -> None:
    found = _squares(result, f"Table II {title}" if title.startswith("without") else f"Table II, {title}")
    assert len(found) == 11
    for term, square in found.items():
        assert square == pytest.approx(float(printed[term].split()[0]), abs=1e-6)


def test_only_what_the_paper_got_wrong_differs(result: Replicated) -> None:
    differing = [
        (row.item, row.quantity) for s in result.sections for row in s.rows if row.verdict is Agreement.DIFFERS
    ]
    assert differing == [
        ("Table I", "signs that differ from Table II"),
        ("M/M/1", "E[T]"),
        ("M/M/4", "lambda"),
        ("M/M/4", "E[T]"),
        ("M/M/4", "E[N]"),
    ]
    assert not result.agrees


def test_sums_of_squares_from_the_rounded_table_come_near_those_of_the_paper(result: Replicated) -> None:
    section = result.sections[0]
    assert section.source == "Fig. 2"
    for row in section.rows[:-1]:
        assert row.verdict is Agreement.SHOWN
        assert row.ours == pytest.approx(row.expected, abs=1.5e-4)


def test_every_mistake_is_told_once_in_order(result: Replicated) -> None:
    assert [mistake.number for mistake in result.mistakes] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_residuals_are_called_not_normal(result: Replicated) -> None:
    assert "violated" in _mistake(result, 1).truth
    p = _figure(result, 1, "p of W")
    assert p.right is not None
    assert p.right < 1e-28


def test_variances_are_tested_on_the_response_and_the_constant_setting_is_left_out(result: Replicated) -> None:
    bartlett = _figure(result, 2, "Bartlett, for")
    assert bartlett.paper == pytest.approx(12919.024882636862)
    assert bartlett.right == pytest.approx(1201.5, abs=0.05)
    assert _figure(result, 2, "Bartlett of the costs with").right == pytest.approx(1842.3, abs=0.05)
    assert _figure(result, 2, "Brown-Forsythe").right == pytest.approx(4.55, abs=0.005)
    assert _figure(result, 2, "p of Brown").right == pytest.approx(1.8e-12, rel=0.03)


def test_inflation_vanishes_when_factors_are_coded(result: Replicated) -> None:
    largest = _figure(result, 3, "largest VIF, uncoded")
    assert largest.paper == pytest.approx(33.942282317591015)
    assert largest.right == pytest.approx(1.0)


def test_without_two_runs_a_sequential_table_depends_on_its_order(result: Replicated) -> None:
    squares = [_figure(result, 4, f"sum of squares of cores, {what}").right for what in ("30 rows, t", "30 rows, a")]
    assert squares == pytest.approx([0.000559, 0.006195], abs=1e-6)
    squares = [_figure(result, 4, f"sum of squares of cores, {what}").right for what in ("32 rows, t", "32 rows, a")]
    assert squares == pytest.approx([0.015443, 0.015443], abs=1e-6)


def test_the_logarithm_is_found_unasked(result: Replicated) -> None:
    assert _figure(result, 5, "R²").right == pytest.approx(83.4, abs=0.05)
    assert _figure(result, 5, "W of").right == pytest.approx(0.973, abs=0.0005)
    assert _figure(result, 5, "% of the variation of lr").right == pytest.approx(33.5, abs=0.05)
    assert "20 % of the variation" in _mistake(result, 5).truth


def test_the_service_rate_comes_from_means_not_from_sums(result: Replicated) -> None:
    for what, right in (("mu, 1 node", 30.85), ("mu, 4 nodes", 34.39)):
        figure = _figure(result, 6, what)
        # Table II is rounded, so it gives the rate to a thousandth.
        assert figure.right == pytest.approx(right, rel=2e-3)
        assert figure.paper == pytest.approx(right / 10, rel=1e-3)


def test_the_queues_have_the_numbers_of_the_authors_notebook() -> None:
    four = m_m_c(3.4393375535849557, 4)
    for name, printed in _printed.M_M_4_NOTEBOOK.items():
        assert four[name] == pytest.approx(float(printed), rel=2e-5)
    one = m_m_c(3.0852978288122843, 1)
    assert one["E[N]"] == pytest.approx(4)
    assert one["E[T]"] == pytest.approx(1.6206, abs=5e-5)


def test_the_queues_stand_beside_those_with_the_right_rate(result: Replicated) -> None:
    """p_Q and E[N] are the same with mu from means, and E[T] is a tenth (Table II is rounded)."""
    section = next(one for one in result.sections if one.title == "The same queues with mu from means")
    ours = {(row.item, row.quantity): row.ours for row in section.rows}
    assert ours["M/M/4", "p_Q"] == pytest.approx(0.596432, abs=5e-7)
    assert ours["M/M/4", "E[N]"] == pytest.approx(5.58573, abs=5e-6)
    assert ours["M/M/4", "E[T]"] == pytest.approx(0.0507522, rel=2e-3)


def test_the_search_ended_far_outside_the_design_with_little_left_to_gain(result: Replicated) -> None:
    assert _figure(result, 8, "learning rate").right == pytest.approx(901.1)
    assert _figure(result, 8, "% that is left").right == pytest.approx(4.74, abs=0.01)


def test_the_misprint_of_the_sign_table_is_named(result: Replicated) -> None:
    notes = [note for section in result.sections for note in section.notes]
    assert any("row 11, column D" in note for note in notes)


def test_the_inflation_table_of_the_paper_follows_from_the_settings_alone() -> None:
    found = vif(table_runs(without=(2, 3)))
    assert found == pytest.approx({term: float(printed) for term, printed in _printed.VIF.items()}, rel=1e-10)


@pytest.mark.parametrize("formula", [FORMULA, "batch*lr*epochs + cores + executors + nodes"])
def test_a_sequential_table_is_that_of_statsmodels(formula: str) -> None:
    runs = table_runs(without=(2, 3))
    expected = anova_lm(ols(f"cost ~ {formula}", frame(runs)).fit(), typ=1)
    found = [row for row in sequential(runs, formula) if row.p is not None]
    assert [row.term for row in found] == list(expected.index[:-1])
    assert [row.sum_sq for row in found] == pytest.approx(expected["sum_sq"][:-1].tolist(), rel=1e-10)
    assert [row.p for row in found] == pytest.approx(expected["PR(>F)"][:-1].tolist(), rel=1e-8)


def _write(folder: Path, rows: list[str]) -> Path:
    header = "N_nodes,N_Executors,NumberExecutorCores,Max_epochs,learning_rate,Batch_Size,Cost"
    (folder / "results.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder


def _stand_in(folder: Path) -> Path:
    """A made-up results.csv: the 30 settings with the rounded costs of Table II, not the authors' file."""
    kept = [row for number, row in enumerate(TABLE_II, start=1) if number not in (2, 3)]
    return _write(folder, [f'{",".join(map(str, levels))},"{", ".join(map(str, costs))}"' for levels, costs in kept])


def test_the_authors_file_is_read_setting_by_setting(tmp_path: Path) -> None:
    runs = authors_runs(_stand_in(tmp_path))
    assert len(runs.observations) == 300
    assert runs.observations == table_runs(without=(2, 3)).observations


def test_with_data_every_number_of_figure_2_is_compared(tmp_path: Path) -> None:
    result = replicate("marinos2020", "anova", _stand_in(tmp_path))
    section = result.sections[0]
    assert len(section.rows) == 10 * 6 + 4 + 1
    assert {row.quantity for row in section.rows} == {"df", "sum_sq", "mean_sq", "F", "p", "%", "R² in %"}
    # Rounded costs do not give the digits of the paper, and that must show.
    assert any(row.verdict is Agreement.DIFFERS for row in section.rows)
    shapiro = [row for row in result.sections[1].rows if row.item == "residuals"]
    assert [row.rule for row in shapiro] == ["first 6 of 16 digits", "first 4 of 16 digits"]


@pytest.mark.parametrize(
    ("row", "message"),
    [('1,1,1,1,0.001,64,"0.04, x"', "line 2: Cost"), ("1,1,1,1,0.001", "row 2: 5 values, but the header has 7")],
)
def test_a_broken_file_is_refused_with_its_line(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        authors_runs(_write(tmp_path, [row]))
