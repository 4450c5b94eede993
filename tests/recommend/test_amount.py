"""How much data there is, is no choice."""

from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.errors import InfeasibleError, StudyError
from sparkcast.recommend import Recommendation
from sparkcast.recommend.lines import answer_lines
from tests_support import advice

SIZES = (10000, 50000, 90000)


def table(path: Path, sizes: dict[object, float], *, column: str = "rows", failing: tuple[object, ...] = ()) -> Path:
    """More executors are faster, more data take longer and make better models."""
    rows = [f"executors,{column},time_s,accuracy,outcome"]
    for executors in (1, 2, 4):
        for size, amount in sizes.items():
            for extra in (0.99, 1.01):
                time = (20 + amount / 1000 / executors) * extra
                measured = ",,failed" if size in failing else f"{time},{0.8 + amount / 1e6 * extra},ok"
                rows.append(f"{executors},{size},{measured}")
    (path / "runs.csv").write_text("\n".join(rows) + "\n")
    return path / "runs.csv"


def ask(path: Path, **question: object) -> Recommendation:
    return advice(path, model="ridge", **question)


@pytest.mark.parametrize("question", [{"within_s": 200}, {"minimize": "time_s"}, {"maximize": "accuracy"}])
def test_an_open_amount_of_data_is_the_largest_measured_and_that_is_said(
    tmp_path: Path, question: dict[str, object]
) -> None:
    found = ask(table(tmp_path, {size: size for size in SIZES}), **question)
    assert found.chosen.configuration["rows"] == 90000
    assert {candidate.configuration["rows"] for candidate in found.candidates} == {90000}
    assert found.held == {"rows": 90000}
    told = dict(answer_lines(found))["Data"]
    assert told == "rows=90000, the largest measured; `fix={'rows': ...}` asks about another amount"


def test_sizes_with_units_are_ordered_as_numbers(tmp_path: Path) -> None:
    path = table(tmp_path, {"512m": 512, "2g": 2048, "10g": 10240}, column="input_size")
    assert ask(path, minimize="time_s").chosen.configuration["input_size"] == "10g"


def test_a_smaller_input_is_never_the_answer_to_a_deadline_that_the_largest_misses(tmp_path: Path) -> None:
    with pytest.raises(InfeasibleError) as caught:
        ask(table(tmp_path, {size: size for size in SIZES}), within_s=35)
    assert "at rows=90000" in caught.value.problem
    assert "rows=10000" not in str(caught.value)
    assert "rows=50000" not in str(caught.value)
    assert caught.value.hint.endswith(
        "; or ask about less data than rows=90000, the largest measured: `fix={'rows': ...}`"
    )


def test_less_data_is_not_offered_where_nobody_left_the_amount_open_or_more_would_be_needed(tmp_path: Path) -> None:
    path = table(tmp_path, {size: size for size in SIZES})
    for question in ({"within_s": 10, "fix": {"rows": 90000}}, {"limits": ["accuracy >= 0.99"]}):
        with pytest.raises(InfeasibleError) as caught:
            ask(path, **question)
        assert "less data" not in caught.value.hint


def test_an_amount_that_is_fixed_or_given_values_to_choose_from_is_not_held(tmp_path: Path) -> None:
    path = table(tmp_path, {size: size for size in SIZES})
    fixed = ask(path, within_s=200, fix={"rows": 30000})
    assert (fixed.chosen.configuration["rows"], len(fixed.held)) == (30000, 0)
    given = ask(path, minimize="time_s", levels={"rows": [10000, 20000]})
    assert (given.chosen.configuration["rows"], len(given.held)) == (10000, 0)
    objective = ask(path, maximize="rows", within_s=60)
    assert objective.held == {}


def test_a_share_of_the_data_is_chosen_only_where_it_buys_quality(tmp_path: Path) -> None:
    path = table(tmp_path, {0.1: 10000, 0.5: 50000, 1.0: 100000}, column="fraction")
    assert ask(path, minimize="time_s").held == {"fraction": 1}
    assert ask(path, within_s=50).held == {}  # the accuracy is maximized
    assert ask(path, minimize="time_s", min_accuracy=0.82).held == {}


def test_an_amount_that_only_failed_is_not_taken_for_measured_and_is_mentioned(tmp_path: Path) -> None:
    found = ask(table(tmp_path, {size: size for size in SIZES}, failing=(90000,)), minimize="time_s")
    assert found.held == {"rows": 50000}
    assert "rows=90000 was run as well, but every run of it failed" in found.notes


def test_amounts_without_an_order_are_asked_for(tmp_path: Path) -> None:
    path = table(tmp_path, {"small": 10000, "medium": 50000, "huge": 90000}, column="data_size")
    with pytest.raises(StudyError, match="the largest of small, medium, huge cannot be told") as caught:
        ask(path, minimize="time_s")
    assert "`fix={'data_size': 'huge'}`" in caught.value.hint
    assert ask(path, minimize="time_s", fix={"data_size": "medium"}).chosen.configuration["data_size"] == "medium"


def test_a_report_says_for_how_much_data_it_recommends(tmp_path: Path) -> None:
    path = table(tmp_path, {size: size for size in SIZES})
    api.report(path, tmp_path / "report.html")
    assert "rows=90000, the largest measured" in (tmp_path / "report.html").read_text().replace("\xa0", " ")
