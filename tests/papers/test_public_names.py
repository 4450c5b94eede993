"""sparkcast does not know the papers, and they use of it what anybody's package may use."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import sparkcast
import sparkcast_papers

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "adding-a-plugin.md"
# Told in the guide, section "What is public".
PUBLIC = (
    "sparkcast",
    "sparkcast.analysis",
    "sparkcast.analysis.assumptions",
    "sparkcast.analysis.effects",
    "sparkcast.api",
    "sparkcast.arrays",
    "sparkcast.data",
    "sparkcast.designs",
    "sparkcast.designs.base",
    "sparkcast.engines",
    "sparkcast.engines.base",
    "sparkcast.errors",
    "sparkcast.learned.grid_search",
    "sparkcast.learned.knowledge",
    "sparkcast.learned.saved",
    "sparkcast.models",
    "sparkcast.models.base",
    "sparkcast.models.decision_tree",
    "sparkcast.models.gray_box",
    "sparkcast.models.lasso",
    "sparkcast.queues",
    "sparkcast.queues.markovian",
    "sparkcast.recommend",
    "sparkcast.recommend.choose",
    "sparkcast.recommend.question",
    "sparkcast.registry",
    "sparkcast.replications",
    "sparkcast.search.base",
    "sparkcast.study",
    "sparkcast.study.setting",
    "sparkcast.testing",
    "sparkcast.units",
    "sparkcast.validate",
    "sparkcast.workloads",
    "sparkcast.workloads.base",
    "sparkcast.workloads.bigdl_log",
    "sparkcast.workloads.mllib",
)


def _trees(package: ModuleType) -> Iterator[tuple[Path, ast.Module]]:
    for file in sorted(Path(str(package.__file__)).parent.rglob("*.py")):
        yield file, ast.parse(file.read_text())


def _imports(tree: ast.Module, package: str) -> Iterator[tuple[int, str, str | None]]:
    """Line, module and name (None: the whole module) of what is imported from a package, in any form."""
    found: list[tuple[str, str | None]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found = [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # import_module("sparkcast.api")
            found = [(node.value, None)] if re.fullmatch(rf"{package}(\.\w+)+", node.value) else []
        else:
            continue
        yield from ((node.lineno, module, name) for module, name in found if f"{module}.".startswith(f"{package}."))


def test_sparkcast_imports_no_paper() -> None:
    for file, tree in _trees(sparkcast):
        assert list(_imports(tree, "sparkcast_papers")) == [], file


def test_papers_import_public_names_of_sparkcast_only() -> None:
    for file, tree in _trees(sparkcast_papers):
        for line, module, name in _imports(tree, "sparkcast"):
            assert module in PUBLIC, f"{file}:{line} imports from {module}"
            is_module = f"{module}.{name}" in PUBLIC
            assert name is None or is_module or name in _names(module), f"{file}:{line} imports {module}.{name}"


def _names(module: str) -> list[str]:
    """The public names of a module: those that it lists, else those without an underscore."""
    found = import_module(module)
    return list(getattr(found, "__all__", [name for name in vars(found) if not name.startswith("_")]))


# How Python reaches Spark's JVM, for which pyspark has no public names; and Python's own of a named tuple, documented.
NOT_OURS = {"_gateway", "_jsc", "_jvm", "_asdict"}


def test_papers_use_no_private_attribute_of_others() -> None:
    for file, tree in _trees(sparkcast_papers):
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr) and node.attr not in NOT_OURS:
                assert isinstance(node.value, ast.Name), f"{file}:{node.lineno}"
                assert node.value.id == "self", f"{file}:{node.lineno}"


def test_the_guide_tells_what_is_public() -> None:
    section = GUIDE.read_text().split("\n## What is public\n")[1].split("\n## ")[0]
    assert set(re.findall(r"`(sparkcast(?:\.\w+)*)`", section)) == set(PUBLIC)


@pytest.mark.parametrize("module", PUBLIC)
def test_what_a_public_module_lists_is_there_and_has_no_underscore(module: str) -> None:
    for name in getattr(import_module(module), "__all__", ()):
        assert not name.startswith("_")
        assert hasattr(import_module(module), name)
