"""Inputs that stand for far more than they look are refused before anything is listed or computed."""

from pathlib import Path

import pytest

from sparkcast.designs import Chosen, make_plan
from sparkcast.errors import StudyError
from sparkcast.study import DesignChoice, Expression, Factor, Space, Study
from sparkcast.study.file import MOST_CHARACTERS, MOST_VALUES, parse_study
from sparkcast.study.model import MOST_LEVELS
from tests_support import Call

HEAD = "study: s\nworkload: pi\n"
SETTINGS = "settings: {executors: [1, 2]}\n"


def laughs(first: str, item: str, n: int = 9) -> str:
    """Each line nine times the one before it: 9**9 values in a few hundred characters."""
    lines = [f"x0: &a0 {first}\n"]
    lines += [f"x{i}: &a{i} {item.format(*[f'*a{i - 1}'] * 9)}\n" for i in range(1, n)]
    return HEAD + SETTINGS + "".join(lines)


LISTS = laughs("[l, l, l]", "[{}, {}, {}, {}, {}, {}, {}, {}, {}]")
MERGED = laughs("{k: l}", "{{<<: [{}, {}, {}, {}, {}, {}, {}, {}, {}]}}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LISTS, ["more than 20,000 values", "aliases"]),
        (MERGED, ["more than 20,000 values", "aliases"]),
        (HEAD + "settings: &a {executors: *a}\n", ["aliases"]),
        (HEAD + SETTINGS + "rules: " + "[" * 200 + "]" * 200, ["more than 50 levels deep"]),
        (HEAD + SETTINGS + "rules: " + "[" * 20_000 + "]" * 20_000, ["more than 50 levels deep"]),
        (HEAD + f"settings: {{executors: [{','.join('1' for _ in range(MOST_VALUES))}]}}", ["more than 20,000 values"]),
        (HEAD + SETTINGS + "#" * MOST_CHARACTERS, ["more than 100,000 characters"]),
        (HEAD + f"settings: {{executors: [{','.join(map(str, range(1, MOST_LEVELS + 2)))}]}}", ["10,001 levels"]),
        (HEAD + SETTINGS + f"rules: ['{'(' * 900}executors{')' * 900} > 0']", ["line 4", "nested parentheses"]),
        (HEAD + SETTINGS + f"rules: ['{'-' * 1900}executors > 0']", ["line 4", "100 levels deep"]),
        (HEAD + SETTINGS + f"rules: ['{'9' * 1900} > executors']", ["line 4", "too large"]),
        (HEAD + SETTINGS + "rules: ['9**9**9**9 > executors']", ["not a finite number in 9**9**9"]),
        (HEAD + f"settings: {{executors: [1, {'9' * 4000}]}}", ["line 3"]),
        (HEAD + SETTINGS + "design: {replicates: 100000000}", ["line 4", "200,000,000 runs"]),
        (HEAD + SETTINGS + "design: {kind: random, runs: 100000000}", ["line 4", "100,000,000 runs"]),
        (
            HEAD + "settings: {executors: [1, 3], samples: [1, 9]}\ndesign: {center_points: 99999999}",
            ["100,000,003 runs"],
        ),
    ],
)
def test_a_study_file_that_stands_for_too_much_is_refused_with_a_short_message(
    call: Call, tmp_path: Path, text: str, words: list[str]
) -> None:
    (tmp_path / "s.yaml").write_text(text)
    answer = call("design", "s.yaml")
    assert answer.code == 2
    for word in [*words, "hint: "]:
        assert word in answer.err
    assert len(answer.err) < 800


def test_an_alias_that_repeats_little_is_read() -> None:
    study = parse_study(HEAD + "settings: {executors: &few [1, 2], samples: *few}\n")
    assert [factor.levels for factor in study.factors] == [(1, 2), (1, 2)]


def test_a_full_design_of_a_million_runs_is_refused_with_their_number_and_none_is_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def listed(space: Space) -> None:
        raise AssertionError("candidates were listed")

    monkeypatch.setattr(Space, "candidates", listed)
    factors = tuple(Factor(name, tuple(range(1, 101))) for name in ("a", "b", "c"))
    with pytest.raises(StudyError, match="1,000,000 runs") as refused:
        make_plan(Study("s", "pi", factors, design=DesignChoice("full")))
    assert "kind: random" in refused.value.hint
    with pytest.raises(StudyError, match="more than 262,144 runs"):
        Chosen.whole(Space({f.name: f.levels for f in factors}, rules=(_rule("a * b * c < 900000"),)))


def _rule(text: str) -> Expression:
    return Expression(text)


@pytest.mark.parametrize("levels", ["executors=1..1000000000", "executors=1..9000,100000..200000"])
def test_a_range_of_very_many_levels_is_refused_before_it_is_written_out(
    call: Call, tmp_path: Path, levels: str
) -> None:
    (tmp_path / "runs.csv").write_text("executors,time_s\n1,10\n2,6\n4,4\n8,3\n")
    answer = call("recommend", "runs.csv", "--levels", levels)
    assert answer.code == 2
    assert "more than 10,000" in answer.err
    assert "hint: " in answer.err
