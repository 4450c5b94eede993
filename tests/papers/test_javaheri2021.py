"""Javaheri 2021. The tables of runs here are made up."""

from itertools import product
from pathlib import Path

import pytest

from sparkcast.errors import StudyError
from sparkcast.replications import Agreement, Replicated, replicate


def _made_up(path: Path, repetition: str = "repetition") -> Path:
    """Throughput that falls with the batch size for JPEG, rises for TFRecords, and warms up where it is not cached."""
    lines = [f"format,cache,batch_size,batches,{repetition},throughput"]
    for form, cache, size, batches, run in product(
        ("jpeg", "tfrecord"), ("False", "True"), (2, 4, 8), (3, 6), (1, 2, 3)
    ):
        value = 100 - 2 * size if form == "jpeg" else 1000 + 20 * size + 3 * batches
        lines.append(f"{form},{cache},{size},{batches},{run},{value + (40 * run if cache == 'False' else 0)}")
    path.write_text("\n".join(lines) + "\n")
    return path


def _ours(result: Replicated, item: str, quantity: str) -> float | None:
    return next(r.ours for s in result.sections for r in s.rows if (r.item, r.quantity) == (item, quantity))


def test_without_runs_the_table_of_the_paper_is_repeated_and_nothing_is_claimed() -> None:
    result = replicate("javaheri2021", "read-speed")
    rows = [row for section in result.sections for row in section.rows]
    assert len(rows) == 16
    assert {row.verdict for row in rows} == {Agreement.SHOWN}
    assert {row.ours for row in rows} == {None}
    assert "image-read" in result.notes[0]


@pytest.mark.parametrize("repetition", ["repetition", "replicate"])
def test_runs_are_regressed_on_each_variable_by_format_and_cache(tmp_path: Path, repetition: str) -> None:
    result = replicate("javaheri2021", "read-speed", _made_up(tmp_path / "runs.csv", repetition))
    assert [section.title for section in result.sections][:4] == [
        "jpeg, plain: 18 runs",
        "jpeg, cached: 18 runs",
        "tfrecord, plain: 18 runs",
        "tfrecord, cached: 18 runs",
    ]
    assert _ours(result, "jpeg, cached", "r, batch_size") == pytest.approx(-1)
    assert _ours(result, "jpeg, cached", "slope, batch_size") == pytest.approx(-2)
    assert _ours(result, "tfrecord, plain", "slope, repetition") == pytest.approx(40)
    assert next(r.compared for r in result.sections[0].rows if r.quantity == "r, repetition") == "0.558"
    assert result.agrees


def test_a_repetition_that_goes_with_throughput_is_called_warm_up(tmp_path: Path) -> None:
    result = replicate("javaheri2021", "read-speed", _made_up(tmp_path / "runs.csv"))
    warm = [any("warm-up" in note for note in section.notes) for section in result.sections[:4]]
    assert warm == [True, False, True, False]
    assert result.mistakes[0].figures[0].right is not None


def test_the_ratio_of_formats_is_what_was_measured(tmp_path: Path) -> None:
    result = replicate("javaheri2021", "read-speed", _made_up(tmp_path / "runs.csv"))
    assert _ours(result, "tfrecord / jpeg", "cached") == pytest.approx((1000 + 20 * 14 / 3 + 13.5) / (100 - 28 / 3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cache,batch_size,batches,throughput\nTrue,2,3,10\n", "no column 'format'"),
        ("format,batch_size,batches\njpeg,2,3\n", "no column 'throughput'"),
        ("format,cache,batch_size,batches,throughput\njpeg,maybe,2,3,10\n", "neither true nor false"),
        ("format,batch_size,batches,throughput\njpeg,large,3,10\n", "is not a number"),
    ],
)
def test_a_table_without_what_is_needed_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(text)
    with pytest.raises(StudyError, match=message):
        replicate("javaheri2021", None, path)
