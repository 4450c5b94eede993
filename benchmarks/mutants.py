"""Which small wrong changes to the code the tests notice: the share of mutants killed, by room and by file.

    python benchmarks/mutants.py [ROOM ...] [--sample 250] [--seed 1] [--jobs 2] [--survivors]

pytest collects once. Each test then runs alone, traced, which says what it covers; this is measured again only for
tests, or code, that changed. For each mutant a forked process exchanges the code of one function and runs the tests
that cover the line, until one fails: first those that killed a mutant of the same function, then the room's own, fast
ones first. Slow tests, and what a test runs in another process, do not count. A mutant that takes far more CPU time
than usual counts as killed, and is counted apart.

The results are in .mutants/report.json; `--survivors` runs those again that survived there. Mutants that change nothing
that can be observed are in mutants_equivalent.toml, each with the reason, and are left out.
"""

import argparse
import ast
import gc
import hashlib
import importlib
import os
import random
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType

import msgspec
import pytest
from _forked_tests import CoveredTest, FirstFailure, TimedTest, Verdict, Work, measure, run_forked
from _mutations import Mutation, Source

_ROOT = Path(__file__).resolve().parents[1]
_PACKAGE = _ROOT / "src" / "sparkcast"
_FOLDER = _ROOT / ".mutants"
_ROOMS = ("queues", "recommend", "validate", "observe")
_ALSO = ("tests/cli/test_queue.py", "tests/cli/test_recommend.py")  # what the rooms do, as people see it
_MOST_S = 20.0  # CPU time of the tests, traced, that a mutant is tried on at most
_EQUIVALENT = Path(__file__).with_name("mutants_equivalent.toml")


class Result(msgspec.Struct, frozen=True):
    """A mutant and what became of it."""

    file: str
    line: int
    function: str
    operator: str
    before: str
    after: str
    outcome: str = ""
    killer: str = ""

    @property
    def room(self) -> str:
        return self.file.split("/")[0]

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The same mutant again, although its line moved."""
        return (self.file, self.function, self.before, self.after)


class Report(msgspec.Struct, frozen=True):
    seed: int
    sample: int
    seconds: float
    mutants: list[Result]


@dataclass(frozen=True, slots=True)
class Mutant:
    source: Source
    mutation: Mutation
    described: Result


# ---------------------------------------------------------------- which mutants


def sources(rooms: Iterable[str]) -> list[Source]:
    return [Source.read(path) for room in rooms for path in sorted((_PACKAGE / room).rglob("*.py"))]


def mutants_of(source: Source) -> list[Mutant]:
    file = str(source.path.relative_to(_PACKAGE))
    found = []
    for mutation in source.mutations:
        before, after = mutation.texts()
        line = getattr(mutation.before, "lineno", mutation.statement.lineno)
        described = Result(file, line, mutation.function_name, mutation.operator, before, after)
        found.append(Mutant(source, mutation, described))
    return found


def chosen(rooms: Sequence[str], options: argparse.Namespace) -> list[Mutant]:
    """A random sample of each room, or those that survived."""
    equivalent = {(one["file"], one["function"], one["before"], one["after"]) for one in _listed()}
    survived = {one.key for one in _last_report().mutants if one.outcome == "survived"} if options.survivors else None
    found: list[Mutant] = []
    for room in rooms:
        all_of_room = [
            mutant
            for source in sources([room])
            for mutant in mutants_of(source)
            if mutant.described.key not in equivalent
        ]
        if survived is not None:
            found += [mutant for mutant in all_of_room if mutant.described.key in survived]
        else:
            draw = random.Random(f"{room} {options.seed}")
            found += draw.sample(all_of_room, min(options.sample, len(all_of_room)))
    return found


def _listed() -> list[dict[str, str]]:
    return list(tomllib.loads(_EQUIVALENT.read_text())["mutant"]) if _EQUIVALENT.exists() else []


def _last_report() -> Report:
    return msgspec.json.decode((_FOLDER / "report.json").read_bytes(), type=Report)


# ---------------------------------------------------------------- putting one in place


def functions_by_place() -> dict[tuple[str, str, int], list[FunctionType]]:
    """The functions that there are: all places that imported one share its code."""
    found: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename.startswith(str(_PACKAGE)):
            found[_place(thing.__code__)].append(thing)
    return found


def _place(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def change_of(mutant: Mutant, functions: dict[tuple[str, str, int], list[FunctionType]]) -> Callable[[], None] | None:
    """What puts it in place in a forked process; None where that cannot be done."""
    if mutant.mutation.function is None:
        return lambda: _change_constant(mutant)
    code = _code_of(mutant)
    changed = functions.get(_place(code), []) if code is not None else []
    if code is None or not changed or any(len(code.co_freevars) != len(one.__code__.co_freevars) for one in changed):
        return None

    def change() -> None:
        for function in changed:
            function.__code__ = code

    return change


def _code_of(mutant: Mutant) -> CodeType | None:
    mutation, source = mutant.mutation, mutant.source
    wanted = _first_line(mutation.function)
    mutation.put(mutation.after)
    try:
        module = compile(source.tree, str(source.path), "exec", dont_inherit=True)
    except SyntaxError:
        return None
    finally:
        mutation.put(mutation.before)
    return next((code for code in _codes(module) if code.co_firstlineno == wanted and code.co_name != "<lambda>"), None)


def _first_line(function: ast.AST | None) -> int:
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    return min([function.lineno, *(one.lineno for one in function.decorator_list)])


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)


def _change_constant(mutant: Mutant) -> None:
    """In its module, and in those that imported it by name."""
    statement = mutant.mutation.statement
    module = sys.modules[_module_name(mutant.source.path)]
    before = dict(vars(module))
    mutant.mutation.put(mutant.mutation.after)
    after = dict(before)
    exec(compile(ast.Module([statement], []), str(mutant.source.path), "exec"), after)
    for name in _assigned(statement):
        for other in list(sys.modules.values()):
            is_ours = getattr(other, "__name__", "").startswith("sparkcast")
            if is_ours and vars(other).get(name) is before[name]:
                setattr(other, name, after[name])


def _assigned(statement: ast.stmt) -> set[str]:
    nodes = ast.walk(statement)
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _module_name(path: Path) -> str:
    parts = path.relative_to(_PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# ---------------------------------------------------------------- which tests


class Suite:
    """Every collected test with what it covers."""

    def __init__(self, items: Sequence[pytest.Item], covered: dict[str, CoveredTest]) -> None:
        self._items, self._covered = {item.nodeid: item for item in items}, covered
        self._by_line: dict[tuple[str, int], set[str]] = defaultdict(set)
        self._killers: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for name, test in covered.items():
            for file, lines in test.lines.items():
                for line in lines:
                    self._by_line[file, line].add(name)

    def note_killer(self, mutant: Mutant, test: str) -> None:
        self._killers[mutant.described.file, mutant.described.function][test] += 1

    def tests_for(self, mutant: Mutant, places: Iterable[tuple[str, int]]) -> list[TimedTest]:
        """Those that cover one of the places, the most promising first, as far as time allows."""
        names = {name for place in places for name in self._by_line.get(place, ())}
        killed = self._killers[mutant.described.file, mutant.described.function]
        kept: list[str] = []
        spent = 0.0
        for name in sorted(names, key=lambda name: (-killed[name], *self._distance(name, mutant.described))):
            spent += self._covered[name].seconds
            if spent <= _MOST_S or not kept:
                kept.append(name)
        return self._timed(kept)

    def _distance(self, test: str, mutant: Result) -> tuple[bool, bool, float, str]:
        """The file's own tests come first, then those of its room; fast ones before slow ones."""
        is_own_file = f"test_{Path(mutant.file).stem}.py" in test
        return not is_own_file, f"/{mutant.room}/" not in test, self._covered[test].seconds, test

    def all_tests(self) -> list[TimedTest]:
        names = {name for test_names in self._by_line.values() for name in test_names}
        return self._timed(sorted(names, key=lambda name: (self._covered[name].seconds, name)))

    def _timed(self, names: Iterable[str]) -> list[TimedTest]:
        return [TimedTest(self._items[name], self._covered[name].seconds) for name in names]


def places_of(mutant: Mutant, all_sources: Sequence[Source]) -> list[tuple[str, int]]:
    """Lines that run it; of a constant, those that mention its name."""
    if mutant.mutation.function is not None:
        return [(str(mutant.source.path), line) for line in mutant.mutation.lines]
    names = _assigned(mutant.mutation.statement)
    return [
        (str(source.path), node.lineno)
        for source in all_sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)
    ]


def covered_tests(items: Sequence[pytest.Item], failure: FirstFailure, jobs: int) -> dict[str, CoveredTest]:
    """What each test covers, from the cache where neither it nor the rooms changed."""
    cache = _FOLDER / "coverage.json"
    kept = msgspec.json.decode(cache.read_bytes(), type=dict[str, CoveredTest]) if cache.exists() else {}
    support = [*(_ROOT / "tests").glob("*.py"), _ROOT / "conftest.py"]
    rooms = [path for room in _ROOMS for path in (_PACKAGE / room).rglob("*.py")]
    package = _digest(sorted([*rooms, *support]))
    digests = {path: _digest([path]) for path in {item.path for item in items}}
    keys = {item.nodeid: f"{package} {digests[item.path]} {item.nodeid}" for item in items}
    missing = [item for item in items if keys[item.nodeid] not in kept]
    if missing:
        _say(f"measuring what {len(missing)} tests cover")
    files = frozenset(map(str, rooms))
    with tempfile.TemporaryDirectory() as folder:
        measure(missing, files, failure, Path(folder), jobs)
        for number, item in enumerate(missing):
            out = Path(folder) / str(number)
            test = msgspec.json.decode(out.read_bytes(), type=CoveredTest) if out.exists() else None
            if test is not None and test.passed:
                kept[keys[item.nodeid]] = test
            else:
                _say(f"does not pass alone, and is not used: {item.nodeid}")
    cache.write_bytes(msgspec.json.encode({key: kept[key] for key in keys.values() if key in kept}))
    return {item.nodeid: kept[key] for item in items if (key := keys[item.nodeid]) in kept}


def _digest(paths: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for path in paths:
        found.update(str(path).encode() + path.read_bytes())
    return found.hexdigest()[:16]


# ---------------------------------------------------------------- one run


class Hunt:
    """A pytest plugin: in place of running the tests once, run them on every mutant."""

    def __init__(
        self, options: argparse.Namespace, failure: FirstFailure, on_progress: Callable[[Sequence[Result]], object]
    ) -> None:
        self._options, self._failure, self._on_progress = options, failure, on_progress
        self.results: list[Result] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # once: it empties the folder
        everything = sources(_ROOMS)
        for source in everything:
            importlib.import_module(_module_name(source.path))
        suite = Suite(session.items, covered_tests(session.items, self._failure, self._options.jobs))
        with tempfile.TemporaryDirectory() as folder:
            if not self._options.survivors:
                self._check(suite, Path(folder))
            self._run(suite, everything, Path(folder))
        return True

    def _check(self, suite: Suite, folder: Path) -> None:
        """Without a mutant all tests must pass in this order too."""
        work = Work(0, suite.all_tests, lambda: None, folder / "check")
        run_forked([work], self._failure, 1, lambda _, verdict: self._require_passed(verdict))

    def _require_passed(self, verdict: Verdict) -> None:
        if verdict.outcome != "survived":
            _say(f"without a mutant: {verdict}")
            raise pytest.exit("the tests fail without a mutant", returncode=2)

    def _run(self, suite: Suite, everything: Sequence[Source], folder: Path) -> None:
        functions = functions_by_place()
        works, by_key = [], {}
        for number, mutant in enumerate(chosen(self._options.rooms, self._options)):
            if (change := change_of(mutant, functions)) is None:
                continue
            by_key[number] = mutant
            select = partial(suite.tests_for, mutant, places_of(mutant, everything))
            works.append(Work(number, select, change, folder / str(number)))
        begun = time.monotonic()

        def done(number: int, verdict: Verdict) -> None:
            mutant = by_key[number]
            if verdict.killer:
                suite.note_killer(mutant, verdict.killer)
            result = msgspec.structs.replace(mutant.described, outcome=verdict.outcome, killer=verdict.killer)
            self.results.append(result)
            if len(self.results) % 50 == 0:
                self._on_progress(self.results)
                _say(f"{len(self.results)} of {len(works)} mutants in {time.monotonic() - begun:.0f} s")

        run_forked(works, self._failure, self._options.jobs, done)


# ---------------------------------------------------------------- what is printed


def print_report(report: Report) -> None:
    _say(f"{'file':42} {'mutants':>8} {'killed':>8} {'timeout':>8} {'survived':>9} {'share':>7}")
    for room in sorted({one.room for one in report.mutants}):
        of_room = [one for one in report.mutants if one.room == room]
        for file in sorted({one.file for one in of_room}):
            _say(_row(file, [one for one in of_room if one.file == file]))
        _say(_row(f"{room} in all", of_room) + "\n")
    for operator in sorted({one.operator for one in report.mutants}):
        _say(_row(operator, [one for one in report.mutants if one.operator == operator]))
    _say(_row("all", report.mutants))
    survived = [one for one in report.mutants if one.outcome == "survived"]
    for one in sorted(survived, key=lambda one: (one.file, one.line)):
        _say(
            f"\n{one.file}:{one.line} {one.function}\n  - {{}}\n  + {{}}".format(
                *_around_difference(one.before, one.after)
            )
        )


def _around_difference(before: str, after: str, width: int = 110) -> tuple[str, str]:
    pairs = zip(before, after, strict=False)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(before), len(after)))
    start = max(0, same - width // 2)
    return before[start : start + width], after[start : start + width]


def _row(name: str, mutants: Sequence[Result]) -> str:
    count = Counter(one.outcome for one in mutants)
    share = 100 * (1 - count["survived"] / len(mutants))
    return f"{name:42} {len(mutants):8} {count['killed']:8} {count['timeout']:8} {count['survived']:9} {share:6.1f}%"


def _say(text: str) -> None:
    print(text, file=sys.__stdout__, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", default=_ROOMS, metavar="ROOM", help="of " + ", ".join(_ROOMS))
    parser.add_argument("--sample", type=int, default=250, help="mutants of each room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--also", nargs="*", default=_ALSO, metavar="TESTS", help="files or folders besides those of rooms"
    )
    parser.add_argument("--survivors", action="store_true", help="those of the last report again")
    options = parser.parse_args()
    for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[threads] = "1"  # a process that forks has no threads
    os.chdir(_ROOT)
    _FOLDER.mkdir(exist_ok=True)
    failure = FirstFailure()
    begun = time.monotonic()

    def save(results: Sequence[Result]) -> Report:
        report = Report(options.seed, options.sample, round(time.monotonic() - begun, 1), list(results))
        name = "survivors.json" if options.survivors else "report.json"
        (_FOLDER / name).write_bytes(msgspec.json.format(msgspec.json.encode(report)))
        return report

    hunt = Hunt(options, failure, save)
    tests = [*(f"{folder}/{room}" for folder in ("tests", "src/sparkcast") for room in _ROOMS), *options.also]
    options_of_pytest = "-q --doctest-modules --capture=sys --timeout=0 -p no:cacheprovider".split()
    with tempfile.TemporaryDirectory() as folder:
        arguments = [*options_of_pytest, "-m", "not slow", f"--basetemp={folder}/tests", *tests]
        code = pytest.main(arguments, plugins=[failure, hunt])
    if code or not hunt.results:
        sys.exit(int(code) or "no mutants")
    print_report(save(hunt.results))


if __name__ == "__main__":
    main()
