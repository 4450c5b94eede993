"""What people read fits their terminal: no line too long, no word broken, an answer first."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from every_command import FAILING, SUCCEEDING
from sparkcast.cli import _helps
from sparkcast.cli._overview import show_overview
from sparkcast.text._layout import shell_lines, table_lines, wrapped
from tests_support import Answer, Call

WIDTHS = (80, 100, 140)
ENOUGH = 18  # lines of an answer at 80 columns, where a sentence takes one or two, and lines to paste
LISTS = {"init", "list"}  # what they print is asked for as a whole


def test_every_command_is_looked_at() -> None:
    ends = set(_helps()) - {"mcp", "serve"}  # these answer until they are stopped
    assert set(SUCCEEDING) == set(FAILING) == ends, "add the new command to tests/every_command.py"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", SUCCEEDING)
def test_an_answer_fits_the_terminal(call: Call, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for arguments in SUCCEEDING[name]:
        wide = call(*name.split(), *arguments)
        assert wide.code == 0, wide.err
        for width in WIDTHS:
            monkeypatch.setenv("COLUMNS", str(width))
            require_fits(call(*name.split(), *arguments), wide, width)
        monkeypatch.setenv("COLUMNS", "10000")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", FAILING)
def test_an_error_fits_the_terminal_and_is_no_bug(call: Call, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for code, arguments in FAILING[name]:
        wide = call(*name.split(), *arguments)
        assert (wide.code, wide.out) == (code, ""), (arguments, wide.err)
        assert "hint: " in wide.err
        assert "bug" not in wide.err
        for width in WIDTHS:
            monkeypatch.setenv("COLUMNS", str(width))
            require_fits(call(*name.split(), *arguments), wide, width)
        monkeypatch.setenv("COLUMNS", "10000")


@pytest.mark.parametrize("name", ["", *SUCCEEDING])
def test_help_fits_80_columns(call: Call, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer = call(*name.split(), "--help")
    assert answer.code == 0
    assert max(map(len, answer.out.splitlines())) <= 80


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", sorted(set(SUCCEEDING) - LISTS))
def test_the_answer_comes_first_and_is_short(call: Call, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for arguments in SUCCEEDING[name]:
        if "--details" not in arguments and "--dry-run" not in arguments:  # a spark-submit line is as long as it is
            answer = call(*name.split(), *arguments)
            assert len(answer.out.splitlines()) <= ENOUGH, answer.out


def require_fits(answer: Answer, wide: Answer, width: int) -> None:
    known = {*words_of(wide.out + wide.err), *"not shown at this width".split()}
    for line in (answer.out + answer.err).splitlines():
        assert len(line) <= width or is_one_word(line), f"{len(line)} columns, not {width}: {line}"
    broken = [word for word in words_of(answer.out + answer.err) if word not in known]
    assert not broken, f"broken at {width}: {broken}"


def is_one_word(line: str) -> bool:
    """A path, or an option with its value, that is too long by itself."""
    words = line.removesuffix("\\").split()
    return len(words) == 1 or words[0] == "--conf" or "=" in words[0]


def words_of(text: str) -> list[str]:
    """Without the signs around them, and without how long something took, which differs from call to call."""
    told = re.sub(r"\d+(\.\d+)? (m?s|min)\b|─+|\\\n", "", text)
    return [word.strip("(),:") for word in told.split() if not re.fullmatch(r"[\d.,;]+", word)]


# ---------------------------------------------------------------- width


def test_a_pipe_has_100_columns_unless_it_is_told_otherwise(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns, longest in (("", 100), ("0", 100), ("many", 100), ("60", 60), ("7", 40)):
        monkeypatch.setenv("COLUMNS", columns)
        lines = call("list", "models").out.splitlines()
        assert max(map(len, lines)) <= longest
        assert max(map(len, lines)) > longest - 12


# ---------------------------------------------------------------- laying out

WORDS = st.lists(st.from_regex(r"[a-z%=<>.,\-]{1,30}", fullmatch=True), max_size=30)


@given(WORDS, st.integers(20, 120))
def test_wrapping_keeps_every_word_whole_and_in_order(words: list[str], width: int) -> None:
    lines = wrapped(" ".join(words), width)
    assert " ".join(lines).split() == words
    assert all(len(line) <= width or len(line.split()) == 1 for line in lines)


def test_a_number_stays_with_its_unit() -> None:
    lines = wrapped("it took 12 min 30 s, which is 5.5 % less (p < 0.001)", 20)
    assert lines == ["it took 12 min 30 s,", "  which is 5.5 %", "  less (p < 0.001)"]


def test_lines_of_a_message_keep_their_indentation() -> None:
    assert wrapped("Error: a b\n  hint: try this instead", 20) == ["Error: a b", "  hint: try this", "    instead"]


@given(
    st.lists(st.lists(st.from_regex(r"[a-z0-9 ]{0,40}", fullmatch=True), min_size=3, max_size=3), max_size=6),
    st.integers(40, 120),
)
def test_a_table_fits_and_loses_no_word(rows: list[list[str]], width: int) -> None:
    lines = table_lines("", ("first", "second", "third one"), rows, width)
    assert all(len(line) <= width for line in lines)
    told = " ".join(lines).split()
    for row in rows:
        for cell in row:
            assert set(cell.split()) <= set(told)


def test_a_table_gives_way_step_by_step() -> None:
    header = ("model", "mean error", "what it is")
    rows = [("ridge", "1.5", "a line through the logarithms of all settings")]
    assert table_lines("", header, rows, 80)[0] == "model   mean error   what it is"
    narrow = table_lines("", header, rows, 40)
    assert narrow[:2] == ["model   mean  what it is", "       error"]
    dropped = table_lines("", header, rows, 58, optional=("mean error",))
    assert (dropped[0], dropped[-1]) == ("model  what it is", "(not shown at this width: mean error)")
    stacked = table_lines("", ("model", "number"), [("a" * 20, "b" * 20)], 40)
    assert stacked == [f"model: {'a' * 20}", f"  number: {'b' * 20}"]


def test_a_long_command_can_still_be_pasted() -> None:
    command = "sparkcast recommend runs.csv --within 5m --limit 'auc >= 0.9' --fix network=vgg"
    lines = shell_lines(command, 40)
    assert all(len(line) <= 40 for line in lines)
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert " ".join(line.removesuffix("\\").strip() for line in lines) == command


# ---------------------------------------------------------------- overview


def test_the_program_alone_shows_the_ways_in_and_every_command(call: Call) -> None:
    answer = call()
    assert answer.code == 0
    for text in ("Your own job", "A CSV of past runs", "sparkcast run job.yaml", "sparkcast predict runs.csv"):
        assert text in answer.out
    commands = answer.out.split("Commands\n")[1]
    for name in _helps():
        assert re.search(rf"\b{name}\b", commands)


def test_the_overview_names_no_command_that_does_not_exist(call: Call) -> None:
    named = re.findall(r"^ +sparkcast ([a-z]+)", call().out, re.MULTILINE)
    assert set(named) <= set(_helps())


def test_list_alone_counts_and_names_what_there_is_of_each_kind(call: Call) -> None:
    answer = call("list")
    assert re.search(r"^designs \(\d+\) +.*fractional, full", answer.out, re.MULTILINE)
    own, papers = answer.out.split("From sparkcast-papers:\n")
    assert [
        line.split()[0] for line in own.splitlines()
    ] == "designs workloads engines models searchers protocols".split()
    assert [
        line.split()[0] for line in papers.splitlines()[:-1]
    ] == "workloads models searchers grids replications".split()


def test_plugs_of_other_packages_are_listed_under_a_heading_of_their_own(call: Call) -> None:
    own, papers = call("list", "workloads").out.split("From sparkcast-papers:\n")
    assert re.findall(r"^[a-z]\S*", own, re.MULTILINE) == ["name", "command", "mllib-logistic-regression", "pi"]
    assert "mnist-training" in papers
    assert "From" not in call("list", "designs").out


def test_progress_fits_80_columns_on_a_terminal() -> None:
    import io

    from rich.console import Console

    from sparkcast.cli._progress import _bar

    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None, legacy_windows=False)
    with _bar(console=console) as bar:
        task = bar.add_task("trial 12: executors=2, batch_size=256, learning_rate=0.01, " * 3, total=16, left="")
        bar.update(task, completed=3, left="about 4 min 14 s left")
        bar.refresh()
        drawn = console.file.getvalue()  # type: ignore[attr-defined]
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn).replace("\r", "\n").splitlines()
    assert any("about 4 min 14 s left" in line and "3/16" in line for line in lines)
    assert all(len(line) <= 80 for line in lines)


def test_the_overview_grows_with_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    show_overview("What it is.", {"init": "", "run": "", "mend": ""})
    told = capsys.readouterr().out
    assert "spark-submit" not in told
    assert "Event logs" not in told
    assert "other       mend" in told
    show_overview("What it is.", {"init": "also takes: -- spark-submit ...", "profile": "", "ingest": ""})
    told = capsys.readouterr().out
    for line in ("sparkcast init -- spark-submit ... > job.yaml", "sparkcast profile LOG", "sparkcast ingest"):
        assert line in told
    assert "A CSV" not in told
