"""Docs that are true: generated pages are current, examples run, commands and plugs are documented."""

import inspect
import math
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from sparkcast import api

ROOT = Path(__file__).parents[1]
GENERATED = runpy.run_path(str(ROOT / "docs" / "generate.py"))


@pytest.mark.parametrize(("name", "text"), GENERATED["pages"]().items())
def test_the_reference_pages_are_what_the_code_says(name: str, text: str) -> None:
    assert (ROOT / "docs" / "reference" / name).read_text() == text, "run: python docs/generate.py"


NEED_A_CLUSTER_OR_LONG = {"eta", "etas", "measure_speed", "run", "tune", "report"}  # their examples are read, not run


@pytest.mark.parametrize("name", [name for name in api.__all__ if inspect.isfunction(getattr(api, name))])
def test_a_function_tells_its_arguments_results_errors_and_an_example(name: str) -> None:
    function = getattr(api, name)
    text = inspect.getdoc(function) or ""
    signature = inspect.signature(function)
    told = re.findall(r"^    (\w+): ", text.partition("Args:")[2].partition("\n\n")[0], re.MULTILINE)
    assert told == list(signature.parameters)
    assert ("Returns:" in text) == (signature.return_annotation is not None)
    assert "Raises:" in text or name == "with_spark"
    assert ">>> " in text
    assert ("+SKIP" in text) == (name in NEED_A_CLUSTER_OR_LONG)


@pytest.mark.parametrize("name", GENERATED["_command_names"]())
def test_every_command_shows_an_example_in_its_help(name: str) -> None:
    assert f"Example: sparkcast {name}" in GENERATED["_help"](name)


@pytest.mark.parametrize("name", ["study-file.md", "own-jobs.md"])
def test_the_study_of_the_guide_is_valid(name: str) -> None:
    from sparkcast.study.file import parse_study
    from sparkcast.workloads import resolve

    guide = (ROOT / "docs" / "guides" / name).read_text()
    resolve(parse_study(guide.split("```yaml\n")[1].split("```")[0]))


def test_the_guide_to_predicting_names_every_model_and_when_it_joins_auto() -> None:
    from sparkcast.models import MODELS

    guide = (ROOT / "docs" / "guides" / "prediction.md").read_text()
    rows = [line.strip("| ").split("|") for line in guide.splitlines() if line.startswith("| `")]
    told = {row[0].strip(" `"): row[-1].strip().partition(",")[0] for row in rows}
    joins = {name: getattr(MODELS.get(name), "auto_from", None) for name in MODELS.names()}
    shown = {name: "by name" if least == math.inf else f"{least}" for name, least in joins.items() if name != "auto"}
    assert {name: text for name, text in told.items() if name != "auto"} == shown


def test_the_plugs_of_the_guide_pass_their_suites(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guides" / "adding-a-plugin.md").read_text()
    blocks = [block.split("```")[0] for block in guide.split("```python\n")[1:]]
    (tmp_path / "test_guide.py").write_text("\n\n".join(block for block in blocks if "import" in block))
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command = [sys.executable, "-m", "pytest", *options, "test_guide.py"]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout
    assert "SmallTrees" in "".join(blocks)


@pytest.mark.parametrize("guide", sorted((ROOT / "docs" / "guides").glob("*.md")), ids=lambda path: path.stem)
def test_a_guide_names_nothing_that_is_private(guide: Path) -> None:
    code = re.findall(r"```.*?```|`[^`\n]+`", guide.read_text(), re.DOTALL)
    assert re.findall(r"(?<!self)[./]_[a-z]\w*|import _\w+", "\n".join(code)) == []


def test_the_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.slow
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("[0-9]*.py")), ids=lambda path: path.name)
def test_an_example_runs_as_it_stands(example: Path, no_orphans: None) -> None:
    answer = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, check=False, timeout=300)
    assert answer.returncode == 0, answer.stderr
