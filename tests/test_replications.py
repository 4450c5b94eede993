"""What every replication shares: how numbers are compared, how a part joins, what is said when no paper is there."""

from pathlib import Path

import pytest

from sparkcast import registry, replications
from sparkcast.errors import UnknownNameError
from sparkcast.registry import Registry
from sparkcast.replications import REPLICATIONS, Agreement, PaperPart, PartResult, Section, compare, replicate, show


@pytest.mark.parametrize(
    ("printed", "ours", "verdict"),
    [
        ("0.811084", 0.8110843659, Agreement.AGREES),
        ("0.811084", 0.8110846, Agreement.DIFFERS),
        ("3.685497e-01", 0.368549712989, Agreement.AGREES),
        ("3.685498e-01", 0.368549712989, Agreement.DIFFERS),
        ("289.0", 289.0, Agreement.AGREES),
        ("1.620", 1.6207, Agreement.DIFFERS),  # a number that was cut off is not met by loosening
        ("0.0", 0.0, Agreement.AGREES),
        ("12.5", float("nan"), Agreement.DIFFERS),
    ],
)
def test_a_number_agrees_when_it_rounds_to_the_printed_digits(printed: str, ours: float, verdict: Agreement) -> None:
    row = compare("x", "F", printed, ours)
    assert row.verdict is verdict
    assert row.expected == float(printed)


def test_digits_that_no_two_libraries_share_are_not_compared_and_the_rule_says_so() -> None:
    row = compare("x", "VIF", "53.00742210464434", 53.00742210464401)
    assert row.verdict is Agreement.AGREES
    assert row.rule == "first 12 of 16 digits"
    assert compare("x", "VIF", "53.00742210464434", 53.007422105).verdict is Agreement.DIFFERS


def test_a_number_without_a_printed_one_is_shown_only() -> None:
    assert show("x", "mu", 30.85).verdict is Agreement.SHOWN
    assert show("x", "mu", 30.85).difference is None


def _registry(*values: float) -> Registry[PaperPart]:
    """A paper with one part that prints 1.00 for each value."""
    registry: Registry[PaperPart] = Registry("part of made-up")

    @registry.register("only")
    class Only(PaperPart):
        def run(self, data: Path | None) -> PartResult:
            rows = tuple(compare("x", "value", "1.00", value) for value in values)
            return PartResult((Section("made up", "nowhere", rows),))

    return registry


@pytest.mark.parametrize(("values", "agrees"), [((1.0, 1.004), True), ((1.0, 1.01), False)])
def test_one_wrong_number_makes_a_replication_differ(
    monkeypatch: pytest.MonkeyPatch, values: tuple[float, ...], agrees: bool
) -> None:
    class MadeUp:
        title = "made up"
        parts = _registry(*values)

    monkeypatch.setattr(REPLICATIONS, "get", lambda name: MadeUp)
    result = replicate("made-up")
    assert result.agrees is agrees
    assert result.counts[Agreement.DIFFERS] == (0 if agrees else 1)
    assert result.parts == result.known_parts == ("only",)


def test_without_any_paper_installed_the_hint_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: ())
    monkeypatch.setattr(replications, "REPLICATIONS", Registry("replication"))
    with pytest.raises(UnknownNameError, match="no replication named 'marinos2020'") as error:
        replicate("marinos2020")
    assert "pip install sparkcast" in error.value.hint
    assert "sparkcast.replications" in error.value.hint


def test_a_number_is_called_printed_only_where_a_paper_prints_it() -> None:
    rows = (compare("x", "F", "1.5", 1.5),)
    printed, other = Section("t", "Table 1", rows), Section("t", "the authors' data", rows, is_printed=False)
    assert [(row.printed, row.reference, row.compared) for row in printed.rows] == [("1.5", "", "1.5")]
    assert [(row.printed, row.reference, row.compared) for row in other.rows] == [("", "1.5", "1.5")]
