"""The example notebook runs as it stands, without a notebook server; so does the guide to notebooks."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def shown_by(cells: list[str]) -> list[object]:
    """What each cell shows: the value of its last line, where that is an expression."""
    names: dict[str, Any] = {}
    values = []
    for number, cell in enumerate(cells):
        code = ast.parse(cell, f"cell {number}")
        last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
        exec(compile(code, f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            values.append(eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names))
    return values


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_the_example_notebook_runs_as_it_stands(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells), "commit notebooks without what they showed"
    values = shown_by(["".join(cell["source"]) for cell in cells])
    kinds = [type(value).__name__ for value in values if value is not None]
    assert {"DataFrame", "ConcatChart", "Recommendation"} <= set(kinds)
    assert "depends most on executors" in " ".join(capsys.readouterr().out.split())
    assert all(hasattr(value, "_repr_html_") for value in values if type(value).__name__ == "Recommendation")


def test_every_block_of_the_guide_to_notebooks_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    guide = (ROOT / "docs" / "guides" / "notebooks.md").read_text()
    values = shown_by(re.findall(r"```python\n(.*?)```", guide, re.DOTALL))
    assert len(values) > 3


def test_the_notebook_is_found_from_the_readme_and_the_guides() -> None:
    for place in ("README.md", "docs/guides/notebooks.md", "examples/README.md"):
        assert "nightly-job.ipynb" in (ROOT / place).read_text(), place
