"""What nobody may see is in nothing that is stored or shown; everything else stays as it is."""

import json
import shlex
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sparkcast.study.redaction import (
    REDACTED,
    Redactor,
    is_secret,
    redact_text,
    secrets_in,
    secrets_of_environment,
)

_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789"
SECRETS = st.text(_LETTERS + "/@:+=!$%^*._-#&;,?~", min_size=6, max_size=40).filter(lambda text: text[0] in _LETTERS)
PLAIN = st.text(_LETTERS, min_size=6, max_size=40)

ANYWHERE = [
    "password={}",
    "db.password = {}",
    "26/01/31 ERROR Db: login failed, PASSWORD={} (code 7)",
    "password: {}",
    "--db-password {} --rows 5",
    "export AWS_SECRET_ACCESS_KEY={}",
    "spark.hadoop.fs.s3a.secret.key={}",
    "-Djavax.net.ssl.keyStorePassword={} -Xmx1g",
    "Authorization: Bearer {}",
    "authorization: Basic {}",
    'curl -H "Authorization: Bearer {}" https://host',
    "jdbc:pg://u:{}@h",
    "jdbc:postgresql://user:{}@db.example.com:5432/x?ssl=true",
    "mongodb+srv://u:{}@cluster0.mongodb.net/test",
    "redis://:{}@host:6379/0",
    "s3a://AKID:{}@bucket/path",
    "https://me@corp.com:{}@host/path",
    "jdbc:oracle:thin:scott/{}@//host:1521/svc",
    "Set-Cookie: session={}; Path=/",
    "<password>{}</password>",
]


@pytest.mark.parametrize("template", ANYWHERE)
@given(secret=SECRETS)
def test_a_secret_is_nowhere_in_what_is_shown(template: str, secret: str) -> None:
    assume(secret not in template + REDACTED and "<" not in secret)
    if "://" in template:
        assume(not secret[:2].isdigit())  # it cannot be told from a port
    text = template.format(secret)
    assert secret not in redact_text(f"before {text} after")
    assert redact_text(f"before {text} after").startswith("before ")


@pytest.mark.parametrize(
    "template", ["https://h/a?sv=1&sig={}&se=2", "https://b.s3.amazonaws.com/k?X-Amz-Signature={}", "u:{}@host failed"]
)
@given(secret=PLAIN)
def test_a_secret_of_letters_is_nowhere_either(template: str, secret: str) -> None:
    assume(secret not in template + REDACTED)
    assert secret not in redact_text(template.format(quote(secret, safe="")))


@given(
    secret=st.text(min_size=1, max_size=30), name=st.sampled_from(["password", "apiKey", "auth_token", "client-secret"])
)
def test_a_secret_in_json_is_nowhere_in_what_is_shown(secret: str, name: str) -> None:
    for text in (json.dumps({"user": "me", name: f"~{secret}~"}), json.dumps({name: f"~{secret}~"}, indent=1)):
        shown = redact_text(text)
        assert f"~{json.dumps(secret)[1:-1]}~" not in shown
        assert REDACTED in shown


@pytest.mark.parametrize(
    "secret",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "a1B2" * 9,
        "glpat-" + "a1B2" * 5,
        "xoxb-1234567890-abcdef",
        "dapi" + "0af1" * 8,
        "hf_" + "a1B2" * 9,
        "sk-" + "a1B2" * 10,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.s5Xw3d",
    ],
)
def test_a_token_is_known_by_its_form(secret: str) -> None:
    assert redact_text(f"got {secret}, sent it") == f"got {REDACTED}, sent it"


def test_a_private_key_is_redacted_over_all_its_lines() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----"
    assert "MIIE" not in redact_text(key)
    assert "MIIE" not in redact_text(key.partition("-----END")[0])  # the end of a log that was cut


@pytest.mark.parametrize(
    "text",
    [
        "26/01/31 10:00:00 INFO SparkContext: Successfully stopped SparkContext",
        "spark://CoarseGrainedScheduler@10.0.0.1:44115 and spark://host:7077",
        "hdfs://namenode:8020/user/me@corp/data and http://host:8080/a?mail=a@b.c",
        "max_tokens=512 num_tokens: 1024 tokenizer=bert-base tokens/s: 88.2",
        "org.apache.spark:spark-avro_2.12:3.5.0@jar",
        "image:latest@sha256:0123abcd",
        "java.lang.Object@1a2b3c4d rdd:Foo@1a2b3c",
        "Unexpected token: }",
        "Caused by: java.lang.IllegalStateException: invalid token at 3",
        "basic authentication of the bearer failed",
        "abfss://container@account.dfs.core.windows.net/path",
        "s3a://bucket/key=1/sigma=2/part-0000.parquet?versionId=3",
        "key=value; keyboard=us; monkey=1; design=full",
        "10:30:00@host 12:00",
        "mail me@example.com about it: thanks",
        "ratio 3:2, window a:b, time 10:00:00",
        "ValueError: no rows",
    ],
)
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert redact_text(text) == text


@given(st.lists(st.sampled_from("the job read 12 files in 3.5 s; stage 4 (a, b) of [x] at y.scala:77 -> done".split())))
def test_words_of_logs_in_any_order_are_shown_as_they_are(words: list[str]) -> None:
    assert redact_text(" ".join(words)) == " ".join(words)


@given(st.text(max_size=200))
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact_text(text)
    assert redact_text(once) == once


@given(secret=SECRETS, before=st.text(_LETTERS + " :", max_size=10), after=st.text(_LETTERS + " :", max_size=10))
def test_the_secrets_of_a_study_are_found_without_a_name(secret: str, before: str, after: str) -> None:
    assume(not secret.replace(".", "", 1).isdigit() and secret not in REDACTED)
    redactor = Redactor([secret])
    for form in (secret, quote(secret, safe=""), json.dumps(secret)):
        shown = redactor.text(f"{before} {form} {after}")
        assert secret not in shown.replace(before, "").replace(after, "") or secret in before + after


@given(SECRETS)
def test_the_secrets_of_a_study_are_all_collected(secret: str) -> None:
    assume(not secret.startswith("-"))
    study = {
        "conf": {"spark.my.password": secret, "spark.ui.port": "4040"},
        "options": {"environment": {"API_KEY": f"{secret}1"}, "arguments": ["--db-token", f"{secret}2", "--rows", "5"]},
        "line": ["--conf", f"spark.executor.extraJavaOptions=-Dstore.password={secret}3"],
    }
    assert {secret, f"{secret}1", f"{secret}2", f"{secret}3"} <= secrets_in(study)
    assert not {"4040", "5", "--rows"} & secrets_in(study)


def test_a_short_or_ordinary_value_is_not_looked_for_everywhere() -> None:
    assert Redactor(["x", "true", "1234", "PW"]).text("it is true: x = 1234, PW") == "it is true: x = 1234, PW"
    assert Redactor(["tiger"]).text("tigers and tiger, user tiger.") == f"tigers and {REDACTED}, user {REDACTED}."


def test_variables_with_the_name_of_a_secret_are_secret_unless_they_are_files() -> None:
    environment = {"AWS_SECRET_ACCESS_KEY": "hush-hush", "TOKEN_FILE": "/", "HOME": "/root", "MAX_TOKENS": "4096"}
    assert secrets_of_environment(environment) == {"hush-hush"}


@pytest.mark.parametrize("name", ["max_tokens", "tokenizer", "n-tokens", "monkey", "--keys", "compass"])
def test_what_only_sounds_like_a_secret_is_a_setting(name: str) -> None:
    assert not is_secret(name)


def test_an_argument_of_a_command_line_with_a_password_is_redacted_as_text() -> None:
    line = shlex.join(["spark-submit", "job.py", "--url", "jdbc:pg://u:p@ss/w@h/db", "--password", "a b"])
    assert "p@ss/w" not in redact_text(line)
    assert "a b" not in redact_text(line)
