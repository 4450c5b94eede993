"""Where the results of a study are looked for."""

from pathlib import Path

import pytest

from postgres_support import PostgresServer
from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.store import open_store, results_place
from sparkcast.store.databases import URL_OF_THE_TEAM
from tests_support import Call

STUDY = """\
study: pi-study
workload: pi
settings: {samples: [1000, 2000], executors: 1}
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(URL_OF_THE_TEAM, raising=False)
    (tmp_path / "pi.yaml").write_text(STUDY)
    return tmp_path / "pi.yaml"


def _store_of(path: Path, store: str | None = None) -> str:
    return results_place(api.load_study(path, store=store)).store


def test_without_any_word_results_are_next_to_the_study(study: Path) -> None:
    assert _store_of(study) == str(study.with_suffix(".results"))


def test_the_study_names_its_store_and_the_command_line_another(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(URL_OF_THE_TEAM, "postgresql://team/d")
    assert _store_of(study) == "postgresql://team/d"
    study.write_text(STUDY + "store: postgresql://own/d\n")
    assert _store_of(study) == "postgresql://own/d"
    assert _store_of(study, store="postgresql://asked/d") == "postgresql://asked/d"


def test_results_in_the_folder_are_not_hidden_by_the_stores_of_the_team(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(study.with_suffix(".results"), create=True).close()
    monkeypatch.setenv(URL_OF_THE_TEAM, "postgresql://team/d")
    assert _store_of(study) == str(study.with_suffix(".results"))


def test_a_store_that_was_named_once_is_found_by_later_commands(study: Path, postgres: PostgresServer) -> None:
    url = postgres.new_url()
    results_place(api.load_study(study, store=url)).open_to_write().close()
    assert _store_of(study) == url


def test_a_url_with_a_password_is_not_written_to_a_file(
    study: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL_OF_THE_TEAM, postgres.new_url().replace("tester@", "tester:hunter2@"))
    results_place(api.load_study(study)).open_to_write().close()
    written = [file.read_text() for file in study.with_suffix(".results").iterdir()]
    assert not any("hunter2" in text for text in written)


@pytest.mark.parametrize("store", ["results", "/var/store.sqlite", "127.0.0.1:5432/d"])
def test_a_store_of_a_study_that_is_not_a_url_is_refused_with_its_line(study: Path, store: str) -> None:
    study.write_text(STUDY + f"store: {store}\n")
    with pytest.raises(StudyError, match=r"pi\.yaml line 4: .* is not a URL"):
        api.load_study(study)


@pytest.mark.parametrize("command", ["run", "tune"])
def test_a_password_on_the_command_line_is_refused(call: Call, study: Path, command: str) -> None:
    answer = call(command, str(study), "--store", "postgresql://u:hunter2@h/d")
    assert answer.code == 2
    assert "hunter2" not in answer.err + answer.out
    assert "PGPASSFILE" in answer.err


def test_a_store_that_does_not_answer_ends_a_run_with_advice(call: Call, study: Path) -> None:
    answer = call("run", str(study), "--store", "postgresql://127.0.0.1:1/d")
    assert answer.code == 2
    assert "server runs" in answer.err


def test_the_password_comes_from_the_file_of_postgresql(
    study: Path, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.new_guarded_url("guarded", "hunter2")
    passwords = tmp_path / "passwords"
    passwords.write_text("*:*:*:guarded:hunter2\n")
    passwords.chmod(0o600)
    with pytest.raises(OSError, match="no password supplied"):
        open_store(url)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    open_store(url).close()
