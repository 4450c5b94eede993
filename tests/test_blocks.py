"""Console and Python blocks of README and docs do what they show."""

import contextlib
import re
import runpy
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from every_command import make
from sparkcast import cli
from sparkcast.cli import studies

ROOT = Path(__file__).parents[1]
BLOCKS = runpy.run_path(str(ROOT / "docs" / "blocks.py"))
PRINTED = [page for page in BLOCKS["PAGES"] if any(block.is_printed for block in BLOCKS["blocks"](page))]
WITH_COMMANDS = [page for page in BLOCKS["PAGES"] if BLOCKS["blocks"](page)]
WITH_PYTHON = ["prediction.md", "notebooks.md", "queues.md"]
# Not sparkcast's: an editor, a shell's own words, a database's client, and what asks a service that runs.
OTHERS = {"vi", "{", "createdb", "curl", "git", "pre-commit"}


def _name(page: Path) -> str:
    return page.stem


@pytest.mark.parametrize("page", PRINTED, ids=_name)
def test_a_page_shows_what_its_commands_print(page: Path) -> None:
    found = list(BLOCKS["differences"](page))
    assert found == [], "run: python docs/blocks.py --write\n" + "\n\n".join(found)


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=_name)
def test_a_page_has_only_commands_and_options_that_exist(page: Path) -> None:
    for block in BLOCKS["blocks"](page):
        for command in block.commands:
            for words in _simple(command.arguments):
                _check(words)


def test_a_number_that_changed_in_more_than_its_last_digit_is_a_difference() -> None:
    alike = BLOCKS["_alike"]
    assert alike("2.21%", "2.22%")
    assert alike("15%", "16%")
    assert not alike("2.21%", "2.31%")
    assert not alike("3", "4")
    assert not alike("met", "missed")


def _simple(words: list[str]) -> Iterator[list[str]]:
    """The commands between pipes; redirections are the shell's."""
    kept: list[str] = []
    for word in [*words, "|"]:
        if word == "|":
            yield kept[: kept.index(">")] if ">" in kept else kept
            kept = []
        else:
            kept.append(word)


def _check(words: list[str]) -> None:
    program, *rest = words
    match Path(program).name:
        case "sparkcast":
            _parse(rest)
        case "make":
            targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert set(rest) <= set(targets), words
        case "pip":
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            asked = re.findall(r"\[([\w,-]+)\]", shlex.join(rest))
            assert {extra for one in asked for extra in one.split(",")} <= set(extras), words
        case "python" if rest[0].endswith(".py"):
            script = (ROOT / rest[0]).read_text()
            assert all(f'"{word}"' in script for word in rest if word.startswith("--")), words
        case name:
            assert name in {*OTHERS, "python", "xargs"}, words


def _parse(arguments: list[str]) -> None:
    """As the command line does, without doing it."""
    group: Any = typer.main.get_command(cli.app)
    context = group.make_context("sparkcast", studies.with_pasted_line_apart(arguments), resilient_parsing=True)
    name, command, rest = group.resolve_command(context, arguments_left(context))
    command.make_context(name, rest, parent=context).close()


def arguments_left(context: Any) -> list[str]:
    return [*getattr(context, "_protected_args", ()), *context.args]


@pytest.mark.parametrize("name", WITH_PYTHON)
def test_the_python_of_a_guide_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / "guides" / name
    make(tmp_path)
    for file, text in BLOCKS["files"](page).items():
        (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with contextlib.chdir(tmp_path):
        for block in BLOCKS["blocks"](page, "python"):
            exec(compile(block.text, name, "exec"), names)
