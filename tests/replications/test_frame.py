"""What every replication shares: how numbers are compared, what is refused, how a part joins."""

import json
from pathlib import Path

import pytest

from sparkcast.errors import SparkcastError, UnknownNameError
from sparkcast.registry import Registry
from sparkcast.replications import REPLICATIONS, Findings, Part, Section, Verdict, replicate
from sparkcast.replications._compare import compare, show
from tests_support import Sparkcast


@pytest.mark.parametrize(
    ("printed", "ours", "verdict"),
    [
        ("0.811084", 0.8110843659, Verdict.AGREES),
        ("0.811084", 0.8110846, Verdict.DIFFERS),
        ("3.685497e-01", 0.368549712989, Verdict.AGREES),
        ("3.685498e-01", 0.368549712989, Verdict.DIFFERS),
        ("289.0", 289.0, Verdict.AGREES),
        ("1.620", 1.6207, Verdict.DIFFERS),  # a number that was cut off is not met by loosening
        ("0.0", 0.0, Verdict.AGREES),
        ("12.5", float("nan"), Verdict.DIFFERS),
    ],
)
def test_a_number_agrees_when_it_rounds_to_the_printed_digits(printed: str, ours: float, verdict: Verdict) -> None:
    row = compare("x", "F", printed, ours)
    assert row.verdict is verdict
    assert row.expected == float(printed)


def test_digits_that_no_two_libraries_share_are_not_compared_and_the_rule_says_so() -> None:
    row = compare("x", "VIF", "53.00742210464434", 53.00742210464401)
    assert row.verdict is Verdict.AGREES
    assert row.rule == "first 12 of 16 digits"
    assert compare("x", "VIF", "53.00742210464434", 53.007422105).verdict is Verdict.DIFFERS


def test_a_number_without_a_printed_one_is_shown_only() -> None:
    assert show("x", "mu", 30.85).verdict is Verdict.SHOWN
    assert show("x", "mu", 30.85).difference is None


def _registry(*values: float) -> Registry[Part]:
    """A paper with one part that prints 1.00 for each value."""
    registry: Registry[Part] = Registry("part of made-up", "sparkcast.replications")
    registry._discovered = True

    @registry.register("only")
    class Only(Part):
        def run(self, data: Path | None) -> Findings:
            rows = tuple(compare("x", "value", "1.00", value) for value in values)
            return Findings((Section("made up", "nowhere", rows),))

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
    assert result.counts[Verdict.DIFFERS] == (0 if agrees else 1)
    assert result.parts == result.known_parts == ("only",)


@pytest.mark.parametrize("paper", REPLICATIONS.names())
def test_every_paper_has_a_title_and_parts_that_say_what_they_do(paper: str) -> None:
    replication = REPLICATIONS.get(paper)
    assert replication.title
    assert replication.parts.names()
    assert all(replication.parts.summaries().values())


def test_an_unknown_part_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match="no part of courier2021 named 'anova2'") as error:
        replicate("courier2021", "anova2")
    assert error.value.hint == "did you mean 'anova'?"


@pytest.mark.parametrize(
    ("paper", "part", "data", "message"),
    [
        ("marinos", None, None, "did you mean 'marinos2020'?"),
        ("marinos2020", "queues", "nowhere", "results.csv"),
        ("marinos2020", "queues", ".", "there is no file 'results.csv'"),
        ("courier2021", None, None, "--data DIR with fullfact_rep1.csv"),
        ("courier2021", None, ".", "there is no file 'fullfact_rep1.csv'"),
        ("javaheri2021", None, "nothing.csv", "no file 'nothing.csv'"),
        ("javaheri2021", None, ".", "is a folder"),
    ],
)
def test_what_cannot_be_found_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paper: str, part: str | None, data: str | None, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SparkcastError) as error:
        replicate(paper, part, None if data is None else Path(data))
    assert error.value.exit_code == 2
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["marinos2020", "--part", "queue"], "did you mean 'queues'?"),
        (["courier2021", "--data", "."], "there is no file 'fullfact_rep1.csv'"),
    ],
)
def test_the_command_refuses_what_it_cannot_find(sparkcast: Sparkcast, words: list[str], message: str) -> None:
    answer = sparkcast("replicate", *words)
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert message in answer.stderr


def test_the_command_prints_tables_mistakes_and_a_count(sparkcast: Sparkcast) -> None:
    answer = sparkcast("replicate", "marinos2020", "--part", "queues")
    assert answer.returncode == 0, answer.stderr
    assert "7. Paper: M/M/4" in answer.stdout
    assert answer.stdout.splitlines()[-1].startswith("marinos2020 (queues): ")


def test_the_command_gives_the_whole_result_as_json(sparkcast: Sparkcast) -> None:
    answer = sparkcast("replicate", "marinos2020", "--part", "search", "--json")
    result = json.loads(answer.stdout)
    assert result["agrees"] is True
    assert result["parts"] == ["search"]
    assert result["known_parts"] == ["anova", "design", "queues", "search"]
    row = result["sections"][0]["rows"][0]
    assert (row["printed"], row["verdict"], row["rule"]) == ("9.011", "agrees", "4 printed digits")
    assert result["mistakes"][0]["number"] == 8
