"""Passwords, tokens and keys reach the job, and nothing that stays or is shown."""

import json
import re
import shlex
import sqlite3
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sparkcast import api
from sparkcast.cli import tuning
from sparkcast.engines import SparkJob, engine_for
from sparkcast.engines.conf import merge_conf, parse_conf_option, read_properties
from sparkcast.errors import StudyChangedError, StudyError
from sparkcast.runs.session import Progress
from sparkcast.study import SparkOptions
from sparkcast.study.redaction import REDACTED, SECRET, redact, redact_text

# Plays spark-submit: notes what it was given, then reports as the driver would.
_SUBMIT = """\
#!{python}
import json, os, sys
words = sys.argv[1:]
seen = {{"argv": words}}
if "--properties-file" in words:
    file = words[words.index("--properties-file") + 1]
    seen |= {{"file": file, "text": open(file).read(), "mode": os.stat(file).st_mode & 0o777}}
json.dump(seen, open({seen!r}, "w"))
with open(words[-1], "a") as report:
    for line in ({{"kind": "started"}}, {{"kind": "result", "responses": {{"time_s": 1.0}}}}):
        report.write(json.dumps({{"at": 1.0, **line}}) + "\\n")
"""
STUDY = """\
study: s
workload: pi
settings: {executors: 1, samples: 1000}
spark:
  master: local[1]
  conf: {spark.hadoop.fs.s3a.secret.key: hush-study}
"""
SECRETS = {
    "spark.ssl.keyPassword": r"hush#1=a\b",
    "spark.hadoop.fs.azure.account.key.lake": "hush-2",
    "spark.yarn.historyServer.credential": "hush-3",
    "spark.executor.extraJavaOptions": "-Dstore.password=hush-4 -XX:+UseSerialGC",
}
PUBLIC = {"spark.ui.port": "4050", "spark.some.jar": "tokenizer.jar"}


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Spark that can only be submitted to; what it sees goes into this file."""
    home, file = tmp_path / "spark", tmp_path / "seen.json"
    for folder in ("bin", "jars", "conf"):
        (home / folder).mkdir(parents=True)
    (home / "jars" / "spark-core_2.12-3.5.9.jar").touch()
    (home / "conf" / "spark-defaults.conf").write_text("spark.some.default  7")
    submit = home / "bin" / "spark-submit"
    submit.write_text(_SUBMIT.format(python=sys.executable, seen=str(file)))
    submit.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(home))
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    (tmp_path / "s.yaml").write_text(STUDY)
    return file


def _run(folder: Path, conf: Mapping[str, str], **options: Any) -> str:
    """Everything that was said meanwhile."""
    told: list[Progress] = []
    result = api.run(folder / "s.yaml", conf=conf, on_progress=told.append, **options)
    return "\n".join([*(progress.text for progress in told), repr(result)])


def _written(folder: Path) -> str:
    return "\n".join(p.read_bytes().decode("latin-1") for p in folder.rglob("*") if p.is_file())


def test_a_secret_reaches_the_job_and_nothing_that_stays(tmp_path: Path, seen: Path, no_orphans: None) -> None:
    said = _run(tmp_path, SECRETS | PUBLIC)
    given = json.loads(seen.read_text())
    assert "hush" not in " ".join(given["argv"])
    assert "--conf spark.ui.port=4050" in " ".join(given["argv"])
    assert given["mode"] == 0o600
    assert not Path(given["file"]).exists()
    lines = given["text"].splitlines()
    assert "spark.some.default  7" in lines  # Spark reads one file of properties, so its own is in ours
    assert r"spark.ssl.keyPassword=hush#1=a\\b" in lines
    assert "spark.hadoop.fs.s3a.secret.key=hush-study" in lines
    assert "spark.executor.extraJavaOptions=-Dstore.password=hush-4 -XX:+UseSerialGC" in lines
    assert "hush" not in said
    assert "hush" not in _written(tmp_path / "s.results")
    (command,) = (tmp_path / "s.results").rglob("command.sh")
    assert f"--conf 'spark.ssl.keyPassword={REDACTED}'" in command.read_text()


def test_what_a_failing_job_prints_is_stored_and_shown_without_secrets(
    tmp_path: Path, seen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = tmp_path / "spark" / "bin" / "spark-submit"
    lines = (
        "Traceback (most recent call last):",
        "ConnectionError: password=hush-a at jdbc:pg://u:hush/b@h, token hush-study and hush-inherited",
        'sent {"password": "hush-c"} and Authorization: Bearer hush-dddd to https://h/x?sig=hush-e',
    )
    submit.write_text(f"#!{sys.executable}\nimport sys\nsys.exit({chr(10).join(lines)!r})\n")
    monkeypatch.setenv("MY_API_KEY", "hush-inherited")
    said = _run(tmp_path, SECRETS)
    assert "ConnectionError: password=" in said
    assert "hush" not in said
    store = (tmp_path / "s.results" / "store.sqlite").read_bytes().decode("latin-1")
    assert "ConnectionError" in store
    assert "hush" not in store
    page = tmp_path / "report.html"
    api.report(tmp_path / "s.yaml", page)
    assert "ConnectionError" in page.read_text()
    assert "hush" not in page.read_text()


def test_a_cause_that_an_earlier_version_stored_is_read_without_its_secrets(tmp_path: Path, seen: Path) -> None:
    _run(tmp_path, {})
    connection = sqlite3.connect(tmp_path / "s.results" / "store.sqlite")
    with connection:
        connection.execute("UPDATE observations SET outcome = 'error', cause = 'no: password=hush'")
    connection.close()
    [run] = api.load_data(tmp_path / "s.yaml").dataset.observations
    assert run.cause == f"no: password={REDACTED}"


@pytest.mark.parametrize("level", ["jdbc:pg://u:hush@h", "https://h/a?sig=hush"])
def test_a_setting_that_holds_a_secret_is_refused_because_settings_are_written_down(tmp_path: Path, level: str) -> None:
    (tmp_path / "job.py").touch()
    text = "study: s\nworkload: command\ncommand: {application: job.py, arguments: ['{url}']}\nsettings: {url: '%s'}\n"
    (tmp_path / "s.yaml").write_text(text % level)
    with pytest.raises(StudyError, match=r"s.yaml line 4: url cannot be a setting: it holds a secret") as caught:
        api.load_study(tmp_path / "s.yaml")
    assert "arguments" in caught.value.hint


def test_without_a_secret_spark_reads_its_own_properties(tmp_path: Path, seen: Path) -> None:
    (tmp_path / "s.yaml").write_text(STUDY.replace("spark.hadoop.fs.s3a.secret.key: hush-study", "spark.ui.port: 1"))
    _run(tmp_path, {})
    assert "--properties-file" not in json.loads(seen.read_text())["argv"]


def test_a_new_password_is_no_new_study_but_none_at_all_is(tmp_path: Path, seen: Path) -> None:
    _run(tmp_path, SECRETS)
    _run(tmp_path, SECRETS | {"spark.ssl.keyPassword": "hush-new"})
    with pytest.raises(StudyChangedError, match=r"UseSerialGC -> .*UseG1GC") as caught:
        _run(tmp_path, SECRETS | {"spark.executor.extraJavaOptions": "-Dstore.password=hush-5 -XX:+UseG1GC"})
    assert "hush" not in str(caught.value)
    with pytest.raises(StudyChangedError, match="keyPassword") as caught:
        _run(tmp_path, {name: value for name, value in SECRETS.items() if "keyPassword" not in name})
    assert "hush" not in str(caught.value)


def test_a_store_that_has_a_secret_in_clear_goes_on_and_loses_it(tmp_path: Path, seen: Path) -> None:
    _run(tmp_path, SECRETS)
    file = tmp_path / "s.results" / "store.sqlite"
    connection = sqlite3.connect(file)
    with connection:  # as the first versions stored it
        text = connection.execute("SELECT definition FROM studies").fetchone()[0]
        definition = json.loads(text)
        definition["spark"]["conf"] |= SECRETS
        connection.execute("UPDATE studies SET definition = ?", [json.dumps(definition)])
    connection.close()
    assert "hush" in _written(tmp_path / "s.results")
    _run(tmp_path, SECRETS | {"spark.ssl.keyPassword": "hush-new"})
    assert "hush" not in _written(tmp_path / "s.results")


def test_a_dry_run_shows_that_there_is_a_secret_and_not_which(tmp_path: Path, seen: Path) -> None:
    (line,) = api.dry_run(tmp_path / "s.yaml", conf=SECRETS | PUBLIC)
    assert "hush" not in line
    assert f"--conf 'spark.hadoop.fs.s3a.secret.key={REDACTED}'" in line
    assert f"'spark.executor.extraJavaOptions=-Dstore.password={REDACTED} -XX:+UseSerialGC'" in line
    assert "--conf spark.ui.port=4050" in line


def test_a_search_keeps_its_secrets_as_well(tmp_path: Path, seen: Path) -> None:
    (tmp_path / "s.yaml").write_text(STUDY.replace("samples: 1000", "samples: [1000, 2000]"))
    result = api.tune(tmp_path / "s.yaml", searcher="exhaustive", conf=SECRETS)
    assert f"--conf 'spark.ssl.keyPassword={REDACTED}'" in result.conf
    assert "hush" not in repr(result)
    assert "hush" not in _written(tmp_path / "s.results")


def test_the_command_to_go_on_with_does_not_tell_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    conf = ["--conf", "spark.ssl.keyPassword=hush hush", "--conf=spark.b.token=hush hush", "--conf", "spark.c=1"]
    monkeypatch.setattr(sys, "argv", ["sparkcast", "tune", "s.yaml", *conf])
    assert tuning._this_command() == (
        f"sparkcast tune s.yaml --conf 'spark.ssl.keyPassword={REDACTED}' '--conf=spark.b.token={REDACTED}' "
        "--conf spark.c=1 --resume"
    )


def test_a_submission_does_not_tell_its_secrets() -> None:
    job = SparkJob(Path("app.py"), ("x",), SECRETS | PUBLIC, "name")
    submission = engine_for(SparkOptions("local[1]")).submission(job)
    assert submission.secrets == SECRETS
    assert "hush" not in repr(submission) + submission.shell()


def test_messages_about_properties_do_not_tell_secrets(tmp_path: Path) -> None:
    _, notes = merge_conf({"spark.ssl.keyPassword": "hush-ours"}, SECRETS)
    assert notes == (f"your spark.ssl.keyPassword={REDACTED} replaces {REDACTED}",)
    with pytest.raises(StudyError, match=r"ssl.password=\*") as caught:
        parse_conf_option("ssl.password=hush")
    assert "hush" not in str(caught.value)
    (tmp_path / "some.conf").write_text("ssl.password hush\n")
    with pytest.raises(StudyError, match=r"some.conf line 1: 'ssl.password \.\.\.'") as caught:
        read_properties(tmp_path / "some.conf")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("-Da.password=hush -Db=1", f"-Da.password={REDACTED} -Db=1"),
        ('-Da.token="hush a" -Db=1', f"-Da.token={REDACTED} -Db=1"),
        ('{"secret": "hush", "user": "me"}', f'{{"secret": {REDACTED}, "user": "me"}}'),
        ("jdbc:x://host/db?user=me&password=hush", f"jdbc:x://host/db?user=me&password={REDACTED}"),
        ("https://me:hush@host/path", f"https://me:{REDACTED}@host/path"),
        ("-Da.passphrase=hush -Db.pwd=hush -Dc=1", f"-Da.passphrase={REDACTED} -Db.pwd={REDACTED} -Dc=1"),
        ("wasbs://host/a?sv=1&sig=hush%2B&se=2", f"wasbs://host/a?sv=1&sig={REDACTED}&se=2"),
        ("-Dsigma=1 -Dkeyboard=2 -Dcwd=/a", "-Dsigma=1 -Dkeyboard=2 -Dcwd=/a"),
        ("/home/token/tokenizer.jar:/secret.jar", "/home/token/tokenizer.jar:/secret.jar"),
        ("file:///a/tokens.results/runs", "file:///a/tokens.results/runs"),
        ("spark://host:7077", "spark://host:7077"),
        ("", ""),
    ],
)
def test_only_what_is_secret_is_redacted_in_a_text(text: str, shown: str) -> None:
    assert redact_text(text) == shown
    assert redact_text(shown) == shown
    assert redact({"spark.some.key": text, "spark.some.secret": text}) == {
        "spark.some.key": shown,
        "spark.some.secret": REDACTED if text else "",
    }


@pytest.mark.parametrize(
    "name",
    [
        "spark.ssl.keyStorePassword",
        "spark.ssl.passphrase",
        "spark.executorEnv.DB_PWD",
        "spark.hadoop.fs.s3a.encryption.key",
        "spark.hadoop.fs.azure.account.key.me.blob.core.windows.net",
        "spark.my.signingKey",
        "spark.my.shared-key",
    ],
)
def test_passwords_and_keys_are_secret_by_their_names(name: str) -> None:
    assert redact({name: "hush"}) == {name: REDACTED}


@pytest.mark.parametrize("name", ["spark.sql.shuffle.partitions", "spark.key", "spark.executorEnv.CWD", "spark.pwdx"])
def test_other_properties_are_no_secrets(name: str) -> None:
    assert redact({name: "seen"}) == {name: "seen"}


def test_the_rule_that_spark_is_given_hides_secrets_and_not_the_command_line_that_has_it(tmp_path: Path) -> None:
    """Spark hides a value when the rule matches its name or the value itself, and the driver's command is a value."""
    (tmp_path / "s.yaml").write_text(STUDY.partition("  conf:")[0])
    (line,) = api.dry_run(tmp_path / "s.yaml")
    rule = next(word for word in shlex.split(line) if word.startswith("spark.redaction.regex=")).partition("=")[2]
    assert rule in " ".join(shlex.split(line))
    assert re.search(rule, " ".join(shlex.split(line))) is None
    for name in (*SECRETS, "my.TOKEN", "db.passwd", "x.pwd", "fs.azure.account.key", "api_key", "ssl.passphrase"):
        if re.search(SECRET, name):
            assert re.search(rule, name), name
    for name in ("spark.ui.port", "spark.executor.memory", "sun.java.command"):
        assert re.search(rule, name) is None
