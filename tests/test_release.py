"""The wheel alone, in a clean environment: as another user, without a terminal, with LANG=C, on files of its own."""

import os
import pwd
import random
import shutil
import stat
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

import sparkcast

ROOT = Path(__file__).parents[1]

_STUDY = """\
study: pi-by-size
workload: pi
settings:
  samples: [100000, 200000, 400000, 800000]
  partitions: [1, 2]
"""
_COMMANDS = [
    ["--version"],
    ["list", "models"],
    ["init", "pi"],
    ["init", "--", "spark-submit", "--executor-memory", "1g", "train.py", "--rows", "50000"],
    ["design", "study.yaml"],
    ["analyze", "runs.csv"],
    ["predict", "runs.csv", "--at", "executors=2,batch_size=96"],
    ["recommend", "runs.csv", "--within", "30s"],
    ["fit", "runs.csv", "--save", "nightly.model"],
    ["predict", "nightly.model", "--at", "executors=2,batch_size=96"],
    ["validate", "runs.csv", "--protocol", "loo", "--model", "ridge"],
    ["queue", "runs.csv", "--arrival-rate", "12/h", "--slo", "120s", "--at", "executors=2,batch_size=128"],
    ["report", "runs.csv", "-o", "report.html"],
    ["profile", "log.zstd"],
    ["whatif", "log.zstd", "--executors", "1,2"],
]
# Both ends of what pyproject.toml allows, as of November 2026; all else as it is pinned.
_LEAST = {"numpy": "1.26.4", "pandas": "2.2.3", "scikit-learn": "1.5.2", "scipy": "1.13.1"}
_NEWEST = {"numpy": "2.4.6", "pandas": "3.1.1", "scipy": "1.17.1"}


@dataclass(frozen=True)
class Release:
    """A folder that anyone can read, with the archives."""

    folder: Path

    @property
    def wheel(self) -> Path:
        [found] = self.folder.glob("*.whl")
        return found

    def environment(self, name: str, python: str, versions: Mapping[str, str]) -> Path:
        """With the versions that are pinned, but for these."""
        folder = self.folder / name
        lines = (ROOT / "requirements" / "core.lock").read_text().splitlines()
        kept = [line for line in lines if line.partition("==")[0] not in versions]
        constraints = self.folder / f"{name}.txt"
        constraints.write_text("\n".join([*kept, *(f"{one}=={version}" for one, version in versions.items())]))
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--constraint", str(constraints), str(self.wheel)], check=True, timeout=540)
        return folder


@pytest.fixture(scope="module")
def release() -> Iterator[Release]:
    with tempfile.TemporaryDirectory(prefix="sparkcast-release-", dir="/tmp") as folder:  # whose parents all may enter
        Path(folder).chmod(0o755)
        build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, str(ROOT)]
        subprocess.run(build, check=True, capture_output=True, timeout=540)
        yield Release(Path(folder))


def _runs() -> str:
    noise, lines = random.Random(1), ["executors,batch_size,time_s,accuracy"]
    for executors in (1, 2):
        for batch_size in (64, 128, 256, 512):
            for _ in range(2):
                time_s = (4 + 24 / executors) * (1 + 64 / batch_size) * noise.uniform(0.97, 1.03)
                lines.append(f"{executors},{batch_size},{time_s:.3f},{0.96 - batch_size / 5000:.4f}")
    return "\n".join(lines) + "\n"


def _another_user() -> int | None:
    """`nobody`, where this process may become it, and it may read this Python."""
    if os.getuid() != 0:
        return None
    base = Path(sys.base_prefix)
    is_open = all(folder.stat().st_mode & stat.S_IXOTH for folder in (base, *base.parents))
    return pwd.getpwnam("nobody").pw_uid if is_open else None


def _home(folder: Path) -> Path:
    home = folder / "home"
    home.mkdir()
    (home / "study.yaml").write_text(_STUDY)
    (home / "runs.csv").write_text(_runs())
    shutil.copy(ROOT / "tests" / "data" / "eventlog-3.5-pi.zstd", home / "log.zstd")
    if (user := _another_user()) is not None:
        for path in (home, *home.iterdir()):
            shutil.chown(path, user)
    return home


def _as_another_user(command: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    """With nothing of this process' environment, and no terminal."""
    return subprocess.run(
        command,
        cwd=home,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "LANG": "C",
            "PYTHONWARNINGS": "error::DeprecationWarning:sparkcast",
        },
        user=_another_user(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def _check_commands(environment: Path, home: Path) -> None:
    for words in _COMMANDS:
        answer = _as_another_user([str(environment / "bin" / "sparkcast"), *words], home)
        assert answer.returncode == 0, f"sparkcast {' '.join(words)}\n{answer.stdout}\n{answer.stderr}"
        assert "Traceback" not in answer.stderr
        assert "Warning" not in answer.stderr, f"sparkcast {' '.join(words)}\n{answer.stderr}"
    assert (home / "report.html").stat().st_size > 10_000


def _python(name: str) -> str:
    """Another Python of this machine, on the path or of pyenv."""
    found = sorted((Path.home() / ".pyenv" / "versions").glob(f"{name.removeprefix('python')}.*/bin/python"))
    path = str(found[-1]) if found else shutil.which(name)
    if path is None or subprocess.run([path, "-m", "venv", "--help"], capture_output=True, check=False).returncode:
        pytest.skip(f"no {name} on this machine")
    return path


@pytest.mark.slow
def test_the_wheel_works_alone_with_the_versions_that_are_pinned(release: Release) -> None:
    environment = release.environment("pinned", sys.executable, {})
    _check_commands(environment, _home(release.folder))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "versions"), [("python3.12", _LEAST), ("python3.13", _NEWEST)])
def test_the_wheel_works_with_other_pythons_and_other_versions(
    release: Release, name: str, versions: Mapping[str, str]
) -> None:
    environment = release.environment(name, _python(name), versions)
    home = _home(Path(tempfile.mkdtemp(dir=release.folder)))
    home.parent.chmod(0o755)
    _check_commands(environment, home)


@pytest.mark.slow
def test_the_archives_hold_the_package_and_nothing_that_was_made(release: Release) -> None:
    listing = subprocess.run(
        ["tar", "tzf", *map(str, release.folder.glob("*.tar.gz"))], capture_output=True, text=True, check=True
    )
    names = [line.partition("/")[2] for line in listing.stdout.splitlines()]
    assert {"src/sparkcast/__init__.py", "Makefile", "README.md", "LICENSE", "CITATION.cff"} <= set(names)
    assert [name for name in names if ".results" in name or "__pycache__" in name or name.startswith(".venv")] == []


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == sparkcast.__version__


def test_what_the_repository_tells_other_programs_is_well_formed() -> None:
    files = [ROOT / ".pre-commit-config.yaml", *(ROOT / ".github").rglob("*.yml")]
    assert len(files) >= 5
    for path in files:
        assert isinstance(yaml.safe_load(path.read_text()), dict), path
    steps = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]["test"]["steps"]
    assert steps[-1] == {"run": "bash .ci/run"}
