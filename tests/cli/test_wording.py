"""Messages name arguments as Python writes them; the command line prints its options."""

import ast
import re
from pathlib import Path

import pytest
import typer

import sparkcast
from sparkcast.cli import app
from sparkcast.cli._wording import _CODE, _COMMANDS, _OPTIONS, as_options, with_options
from sparkcast.errors import StudyError


@pytest.mark.parametrize(
    ("message", "printed"),
    [
        ("add `force=True` to replace it", "add --force to replace it"),
        ("leave out `places=`", "leave out --places"),
        ("`time_unit='min'`", "--time-unit min"),
        ("`scv=1` or `scv=0.1`", "--scv 1 or --scv 0.1"),
        ("e.g. `within_s=60`", "e.g. --within 60s"),
        ("`arrival_rate=12/3600`", "--arrival-rate 12/h"),
        ("`fix={'memory': '1g', 'executors': 2}`", "--fix memory=1g,executors=2"),
        ("`roles={NAME: 'time:min'}`", "--role NAME=time:min"),
        ("`price=Price(core_hour=0.05, gib_hour=0.01)`", "--price core_hour=0.05,gib_hour=0.01"),
        ("`factors=['a', 'b']`", "--factors a,b"),
        ("`limits=['NAME >= 0.9']`", "--limit 'NAME >= 0.9'"),
        ("`at={...}` selects one", "--at NAME=VALUE,... selects one"),
        ("`max_runs=N, resume=True`", "--max-runs N --resume"),
        ("then: `api.tune(STUDY, resume=True)`", "then: sparkcast tune STUDY --resume"),
    ],
)
def test_an_argument_is_printed_as_an_option(message: str, printed: str) -> None:
    assert as_options(message) == printed


@pytest.mark.parametrize(
    "text", ["`price:`", "`x=1`", "`fix=)`", "`fix=1) or f(2`", "`fix=1, other=2`", "fix=2", "`ingest`"]
)
def test_other_code_is_printed_as_it_is(text: str) -> None:
    assert as_options(text) == text


def test_all_texts_of_a_document_are_worded() -> None:
    assert with_options({"notes": ["see `time_unit=`"], "n": 1}) == {"notes": ["see --time-unit"], "n": 1}


def test_every_argument_of_the_table_is_an_option_of_a_command() -> None:
    commands = typer.main.get_command(app).commands.values()  # type: ignore[attr-defined]
    options = {name for command in commands for parameter in command.params for name in parameter.opts}
    assert {f"--{name}" for name in _OPTIONS.values()} <= options


def test_every_argument_that_a_message_names_is_in_the_table() -> None:
    unknown = []
    for file in Path(sparkcast.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Raise):
                found = re.findall(r"`([a-z_]+)=[^`]*`", ast.unparse(node))
                unknown += [f"{file.name}:{node.lineno} {name}" for name in found if name not in _OPTIONS]
    assert unknown == []
    assert all(_CODE.fullmatch(f"`{code}`") for code in _COMMANDS)


def test_python_reads_no_option_in_an_error() -> None:
    error = StudyError("'a.csv' exists", hint="add `force=True` to replace it")
    assert str(error) == "'a.csv' exists\n  hint: add `force=True` to replace it"
