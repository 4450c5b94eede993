"""Tests that guard the project itself."""

import ast
import pickle
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import sparkcast
from sparkcast import api, errors

ROOT = Path(sparkcast.__file__).parent
# Left to right: the whole house. Only the last few put rooms together.
ORDER = (
    "errors units plain arrays display registry replications eventlogs study facts replay profile designs workloads "
    "engines observe store runs data analysis queues fitting models learned validate recommend search testing history "
    "report text client api demo wire serve cli __main__"
).split()


@pytest.mark.parametrize("room", ORDER)
def test_a_room_imports_only_from_its_left(room: str) -> None:
    allowed = {*ORDER[: ORDER.index(room) + 1], "__version__"}
    for file in [*ROOT.glob(f"{room}.py"), *ROOT.glob(f"{room}/**/*.py")]:
        for line, imported in _imported(file):
            assert imported in allowed, f"{file}:{line} imports sparkcast.{imported}"


def test_the_reader_of_event_logs_knows_nothing_of_sparkcast_but_its_errors() -> None:
    imported = {name for file in ROOT.glob("eventlogs/**/*.py") for _, name in _imported(file)}
    assert imported <= {"eventlogs", "errors"}


def _imported(file: Path) -> list[tuple[int, str]]:
    """The rooms that a file imports from, at its top or anywhere else, in every form that Python has."""
    found: list[tuple[int, str]] = []
    package = [ROOT.name, *file.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1], node.module or ""] if node.level else [node.module or ""]
            start = ".".join(part for part in base if part)
            names = [f"{start}.{alias.name}" for alias in node.names] if start == ROOT.name else [start]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # import_module("sparkcast.api")
            names = [node.value] if re.fullmatch(rf"sparkcast\.({'|'.join(ORDER)})(\.\w+)*", node.value) else []
        else:
            continue
        parts = [name.split(".") for name in names]
        found += [(node.lineno, part[1]) for part in parts if part[0] == ROOT.name and len(part) > 1]
    return found


def test_every_module_is_a_room() -> None:
    found = {p.stem for p in ROOT.iterdir() if p.suffix == ".py" or (p.is_dir() and (p / "__init__.py").exists())}
    assert found - {"__init__"} == set(ORDER)


# Names of settings and responses mean something only where they are declared: by workloads and in the tables of usual
# names, of their translations and of their words. The suites for plugs make up data, and the demonstration is a study.
DECLARED = "n_gpus accuracy batch_size executors sampling_rate learning_rate throughput time_s cost".split()
SPEAK_OF_NAMES = ("workloads/", "testing/", "study/names.py", "study/heading", "demo.py")
# Fields of Spark's executors, of seconds and of learning algorithms, whatever settings are called.
OWN_WORDS = {"executors", "learning_rate", "time_s", "cost", "throughput"}
OWN_KEYS = {("observe/report.py", "time_s"), ("study/application.py", "time_s"), ("store/schema.py", "time_s")}
# Replays vary Spark's executors and cores, which no study names.
OWN_KEYS |= {
    ("replay/answer.py", "executors"),
    ("replay/question.py", "executors"),
    ("recommend/replayed.py", "executors"),
    ("serve/assistant.py", "executors"),
    ("serve/v1/logs.py", "executors"),
    ("recommend/replayed.py", "time_s"),
    ("recommend/replayed.py", "cost"),
    ("report/figures/replays.py", "executors"),
    ("report/figures/replays.py", "cost"),
    ("cli/whatif.py", "executors"),
    ("text/whatif.py", "cost"),
    ("text/whatif.py", "executors"),
    ("history/savings.py", "executors"),
    ("text/fleet.py", "cost"),
    ("cli/watching.py", "time_s"),
    ("text/watching.py", "cost"),
    ("text/watching.py", "time_s"),
}


def test_shared_code_knows_no_setting_or_response_by_its_name() -> None:
    found = []
    for file in ROOT.rglob("*.py"):
        place, tree = str(file.relative_to(ROOT)), ast.parse(file.read_text())
        if not place.startswith(SPEAK_OF_NAMES):
            names = {*_identifiers(tree), *_names_in_strings(tree)}
            found += [f"{place}:{line} {name}" for line, name in sorted(names) if (place, name) not in OWN_KEYS]
    assert found == []


PLUGS = ("designs", "workloads", "engines", "models", "searchers", "protocols")
# Words of other things: transformations, keys of a study file, a full disk, how descriptions of clusters begin.
NO_PLUGS = {
    *(
        ("analysis/anova.py", "auto"),
        ("analysis/scale.py", "auto"),
        ("study/file.py", "spark"),
        ("study/model.py", "spark"),
    ),
    *(("store/rows.py", "spark"), ("store/store.py", "full")),
    *(("study/environment.py", "embedded"), ("runs/environment.py", "embedded")),
    *(("engines/_remote.py", "spark"), ("runs/control.py", "spark")),  # of master URLs
}


def test_shared_code_asks_plugs_what_they_are_and_not_for_their_names() -> None:
    names = {name for kind in PLUGS for name in api.list_plugs(kind)}
    found = []
    for file in ROOT.rglob("*.py"):
        place, tree = str(file.relative_to(ROOT)), ast.parse(file.read_text())
        for line, name in _names_that_decide(tree):
            if name in names and f'register("{name}")' not in file.read_text() and (place, name) not in NO_PLUGS:
                found.append(f"{place}:{line} {name}")
    assert found == []


def _names_that_decide(tree: ast.AST) -> list[tuple[int, object]]:
    """Texts that are compared, listed, or looked up."""
    found: list[tuple[int, object]] = []
    for node in ast.walk(tree):
        parts: list[ast.expr | None] = []
        match node:
            case ast.Compare():
                parts = [node.left, *node.comparators]
            case ast.Tuple() | ast.List() | ast.Set():
                parts = [*node.elts]
            case ast.Dict():
                parts = [*node.keys, *node.values]
            case ast.Call(func=ast.Attribute(attr="get")):
                parts = [*node.args]
        found += [(part.lineno, part.value) for part in parts if isinstance(part, ast.Constant)]
    return found


def _identifiers(tree: ast.AST) -> list[tuple[int, str]]:
    found = []
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name"):
            name = getattr(node, field, None)
            if name in DECLARED and name not in OWN_WORDS:
                found.append((getattr(node, "lineno", 0), name))
    return found


def _names_in_strings(tree: ast.AST) -> list[tuple[int, str]]:
    """Words with an underscore are names wherever they stand, others where they are all that the text says."""
    prose = {id(part) for text in _prose(tree) for part in ast.walk(text)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            alone = re.sub(r"^\W+|\W+$", "", node.value)
            names = {name for name in re.findall(r"\w+", node.value) if "_" in name} | {alone}
            found += [(node.lineno, name) for name in names & set(DECLARED)]
    return found


def _prose(tree: ast.AST) -> list[ast.AST]:
    """What is written for people: docstrings, errors, hints, help, and examples that these quote."""
    found: list[ast.AST] = []
    for node in ast.walk(tree):
        match node:
            case ast.Raise() | ast.keyword(arg="hint" | "help") | ast.Expr(value=ast.Constant()):
                found.append(node)
            case ast.arguments() if any(argument.arg == "hint" for argument in node.args):
                found += node.defaults
            case ast.Assign() if re.search("EXAMPLE|WRITE", ast.unparse(node.targets[0])):
                found.append(node)
    return found


# Files with options of another program, or lines that are for a shell.
SHELL_LINES = {
    "spark-submit and Spark's own scripts": """
        data/ingest/on_spark.py engines/_family.py engines/_remote.py engines/_submit.py engines/base.py engines/conf.py
        engines/embedded.py
        profile/findings/cluster.py recommend/formats/emr.py recommend/formats/spark_submit.py recommend/launch.py
        recommend/submit.py search/options.py study/redaction.py testing/workloads.py
        workloads/_submit_line.py workloads/lines.py""",
    "a user's own job": "data/ingest/settings.py workloads/_command_block.py",
    "pip": "store/packing.py store/records.py store/schema.py",
    "the service, which a command starts, and what repeats its answers": """
        api/submission.py serve/assistant.py serve/gate.py serve/mcp.py serve/run.py serve/state.py serve/v1/logs.py""",
    "titles of what commands print": "wire/schemas.py",
    "commands to type, in a study file and after the demo": "demo.py workloads/pasted.py workloads/starter.py",
}


def test_only_the_command_line_names_its_options() -> None:
    """A message names an argument as Python writes it, `force=True`; cli/_wording.py makes it an option."""
    allowed = {name for names in SHELL_LINES.values() for name in names.split()}
    found = []
    for file in ROOT.rglob("*.py"):
        name = file.relative_to(ROOT).as_posix()
        if name in allowed or name.startswith("cli/"):
            continue
        tree = ast.parse(file.read_text())
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                found += [f"{name}:{node.lineno} {option}" for option in re.findall("--[a-z][a-z-]*", node.value)]
    assert found == []


MOST_PARAMETERS = 12  # of a function; those of the command line are its options


def test_no_function_takes_a_long_list_of_parameters() -> None:
    found = []
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and ast.unparse(node.body[0]) != "...":
                named = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                if len(named) > MOST_PARAMETERS and file.parent.name != "cli":
                    found.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert found == []


MOST_LINES = 600  # of a file
MOST_COMPLEX = 20  # of a function: its branches and one more


def test_no_file_is_long() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in ROOT.rglob("*.py")}
    assert {place: n for place, n in lengths.items() if n > MOST_LINES} == {}


def test_no_function_is_complex() -> None:
    found = []
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (n := 1 + _branches(node)) > MOST_COMPLEX:
                found.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.name} {n}")
    assert found == []


def _branches(node: ast.AST) -> int:
    """As radon counts them; those of a function or class inside are its own."""
    own = 0
    match node:
        case ast.Assert():
            return 1
        case ast.If() | ast.IfExp():
            own = 1
        case ast.For() | ast.AsyncFor() | ast.While():
            own = 1 + bool(node.orelse)
        case ast.Try():
            own = len(node.handlers) + bool(node.orelse)
        case ast.BoolOp():
            own = len(node.values) - 1
        case ast.comprehension():
            own = 1 + len(node.ifs)
        case ast.Match():
            has_rest = any(isinstance(c.pattern, ast.MatchAs) and c.pattern.pattern is None for c in node.cases)
            own = len(node.cases) - has_rest
    parts = node.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ast.iter_child_nodes(node)
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return own + sum(_branches(part) for part in parts if not isinstance(part, inner))


def test_a_class_has_a_name_of_its_own() -> None:
    homes: dict[str, list[str]] = {}
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_importing_sparkcast_stays_light() -> None:
    heavy = ["pyspark", "sklearn", "pandas", "numpy", "scipy", "statsmodels", "sqlalchemy", "altair", "torch"]
    code = f"import sys, sparkcast, sparkcast.api, sparkcast.cli; print([m for m in {heavy} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_listing_plugs_imports_no_heavy_library() -> None:
    heavy = ["pyspark", "sklearn", "pandas", "scipy", "statsmodels", "torch", "bigdl"]
    kinds = "designs workloads engines models searchers protocols grids replications".split()
    code = (
        f"import sys; from sparkcast import api; [api.list_plugs(kind) for kind in {kinds}]; "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_help_loads_no_library_but_that_of_the_command_line() -> None:
    code = (
        "import sys; before = set(sys.modules); sys.argv = ['sparkcast', '--help']; import atexit; "
        "atexit.register(lambda: print(*set(sys.modules) - before, file=sys.stderr)); "
        "from sparkcast import cli; cli.main()"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage: sparkcast" in answer.stdout
    loaded = {name.partition(".")[0] for name in answer.stderr.split()} - sys.stdlib_module_names
    assert loaded <= {"sparkcast", "typer", "annotated_doc", "shellingham"}


MOST_DEPENDENCIES = 18
MODULES = {"pyjwt": "jwt", "pyyaml": "yaml", "scikit-learn": "sklearn", "vl-convert-python": "vl_convert"}


def test_the_core_install_needs_few_libraries_and_uses_each() -> None:
    project = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text())["project"]
    declared = [re.split("[<>=]", text)[0] for text in project["dependencies"]]
    assert len(declared) <= MOST_DEPENDENCIES
    trees = [ast.parse(file.read_text()) for file in ROOT.rglob("*.py")]
    imported = {name.partition(".")[0] for tree in trees for name in _modules(tree)}
    assert {MODULES.get(name, name) for name in declared} <= imported
    optional = {re.split(r"[<>=\[]", text)[0] for extra in project["optional-dependencies"].values() for text in extra}
    known = {*declared, *optional, *map(str.lower, sys.stdlib_module_names), "bigdl", "sparkcast", "py4j", "pytest"}
    others = {name for name in imported if not {name.lower(), name.lower().replace("_", "-")} & known}
    assert others <= {*MODULES.values(), "PIL", "mlflow", "markupsafe", "tensorflow"}  # markupsafe is part of jinja2


def _modules(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def test_the_public_names_of_the_api_are_all_it_shows() -> None:
    assert dir(api) == sorted(api.__all__)
    assert {name: hasattr(api, name) for name in api.__all__} == dict.fromkeys(api.__all__, True)


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
