"""Tests that guard the project itself."""

import ast
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sparkcast
from sparkcast import errors

ROOT = Path(sparkcast.__file__).parent
ORDER = (
    "errors units registry study designs workloads engines observe store analyse models validate recommend report"
).split()
EDGES = {
    "advising",
    "api",
    "campaign",
    "data",
    "demo",
    "learning",
    "planning",
    "replications",
    "tuning",
    "cli",
    "__init__",
    "__main__",
}


@pytest.mark.parametrize("stage", ORDER)
def test_a_stage_imports_only_from_its_left(stage: str) -> None:
    allowed = set(ORDER[: ORDER.index(stage) + 1])
    for file in [*ROOT.glob(f"{stage}.py"), *ROOT.glob(f"{stage}/**/*.py")]:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sparkcast."):
                assert str(node.module).split(".")[1] in allowed, f"{file} imports {node.module}"


def test_every_module_is_a_stage_or_an_edge() -> None:
    found = {p.stem for p in ROOT.iterdir() if p.suffix == ".py" or (p.is_dir() and (p / "__init__.py").exists())}
    assert found == set(ORDER) | EDGES


def test_importing_sparkcast_stays_light() -> None:
    heavy = ["pyspark", "sklearn", "pandas", "numpy", "scipy", "statsmodels", "sqlalchemy", "altair", "torch"]
    code = f"import sys, sparkcast, sparkcast.api, sparkcast.cli; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_listing_plugs_imports_no_heavy_library() -> None:
    heavy = ["pyspark", "sklearn", "pandas", "scipy", "statsmodels", "torch", "bigdl"]
    code = (
        "import sys; from sparkcast import api; "
        "[api.list_plugs(k) for k in 'designs workloads engines models searchers protocols replications'.split()]; "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_help_answers_at_once() -> None:
    durations = []
    for _ in range(5):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-m", "sparkcast", "--help"], capture_output=True, check=True)
        durations.append(time.perf_counter() - begun)
    assert min(durations) < 0.3


def test_the_public_names_are_sorted_and_exist() -> None:
    assert sparkcast.__all__ == sorted(sparkcast.__all__)
    for name in sparkcast.__all__:
        assert getattr(sparkcast, name) is not None


ALL_ERRORS = [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, errors.SparkcastError)]


@pytest.mark.parametrize("cls", ALL_ERRORS)
def test_every_error_survives_pickling_with_its_hint(cls: type[errors.SparkcastError]) -> None:
    error = pickle.loads(pickle.dumps(cls("it broke", hint="mend it")))
    assert type(error) is cls
    assert str(error) == "it broke\n  hint: mend it"


@pytest.mark.parametrize("cls", ALL_ERRORS)
def test_every_error_stands_in_the_tree_of_the_docstring(cls: type[errors.SparkcastError]) -> None:
    assert cls.__name__ in str(errors.__doc__)
    if cls is not errors.SparkcastError:
        line = next(line for line in str(errors.__doc__).splitlines() if f" {cls.__name__} " in line)
        assert [str(cls.exit_code), str(cls.http_status)] == line.split(cls.__name__)[1].split()[:2]
