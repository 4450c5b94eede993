"""What must not be written down: passwords, tokens and keys, among the properties of a job and in what it says."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

REDACTED = "*********(redacted)"  # Spark's own word for it
# Spark's own rule (the default of spark.redaction.regex), and what it forgets. Tokens in the plural are counted.
_WORDS = (
    "secret|passw(?:or)?d|passphrase|token(?!s|i[sz])|credential|(?<![a-z])pwd(?![a-z])|"
    "(?:access|account|api|client|encryption|private|shared|signing)[._-]?key"
)
SECRET = f"(?i){_WORDS}"
# The same for Spark, written so that it does not match itself: Spark hides every value that it matches, and the
# command line of the driver, which event logs keep, has this property among others.
SPARK_SECRET = "(?i)" + re.sub(r"\b([a-z])([a-z])(?=[a-z])", r"\1[\2]", _WORDS)

_NAME = re.compile(SECRET)
_OPTION = re.compile(rf"((?:--conf=)?[\w.-]*(?:{_WORDS})[\w.-]*=).+", re.IGNORECASE | re.DOTALL)
_DONE = re.escape(REDACTED)
_QUOTED = r"""\\?"(?:[^"\\\n]|\\.)*(?:"|$)|\\?'(?:[^'\\\n]|\\.)*(?:'|$)"""
_VALUE = rf"(?P<secret>{_DONE}|{_QUOTED}|\S+)"
_SHORT = re.compile(r"[\w.%]{0,15}")  # one word that is shorter than all secrets that tell themselves by their form
_ANY_CASE = re.IGNORECASE | re.MULTILINE
# Within a text. In each, `secret` is what nobody may see.
_PATTERNS = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        # -Dssl.password=x, {"token": "x"}, password: x, <password>x</password>, --db-password x
        (rf"""(?:{_WORDS})[\w.-]*(?:\\?["']?\s*=|\\?["']\s*:)\s*{_VALUE}""", _ANY_CASE),
        (rf"(?:{_WORDS})[\w.-]*: +(?P<secret>{_DONE}|(?=\S*\d)\S{{6,}})", _ANY_CASE),
        (rf"(?:passw(?:or)?d|passphrase|(?<![a-z])pwd)[\w.-]*: *{_VALUE}", _ANY_CASE),
        (rf"<[\w.:-]*(?:{_WORDS})[\w.-]*>(?P<secret>[^<\n]+)", _ANY_CASE),
        (rf"(?<!\S)--?[\w.-]*(?:{_WORDS})[\w.-]*[ \t]+(?!-)(?P<secret>{_DONE}|{_QUOTED}|\S+)", _ANY_CASE),
        # https://user:x@host, also where x has a slash or an @, but not a port; a URL that became a path; user:x@host
        (r"://[^/\s:]*:(?!\d{2,5}(?:[/?#\s]|$))(?P<secret>\S+)(?=@)", re.MULTILINE),
        (r":/[^/\s:@]*:(?P<secret>[^/\s]+)(?=@)", 0),
        (r"jdbc:oracle:\w+:[^/\s@]+/(?P<secret>\S+)(?=@)", re.IGNORECASE),
        (
            r"(?<![\w/@:.-])[A-Za-z_][\w.+-]*:(?P<secret>[^\s@/]+)@"
            r"(?!(?:jar|pom|zip|aar|war|sha\d+|[0-9a-f]{4,8})\b)(?=\w)",
            0,
        ),
        # https://host/a?sig=x: shared access signatures and presigned requests
        (
            rf"[?&;](?:sig|signature|x-(?:amz|goog)-(?:signature|credential|security-token)|awsaccesskeyid)="
            rf"(?P<secret>{_DONE}|[^&;\s\"']+)",
            re.IGNORECASE,
        ),
        (rf"""authorization["']?\s*[:=]\s*["']?(?:\w+ +(?=\S))?(?P<secret>{_DONE}|[^\s"']+)""", re.IGNORECASE),
        (rf"\bBearer +(?P<secret>{_DONE}|[\w.~+/=-]{{6,}})", 0),
        (r"\bcookie: *(?P<secret>[^\n]+)", re.IGNORECASE),
        # What tells itself by its form: AWS, GitHub, GitLab, Slack, Google, Databricks, OpenAI, Hugging Face, JWT, PEM
        (
            r"(?<![A-Za-z0-9])(?P<secret>(?:AKIA|ASIA)[A-Z0-9]{16}|gh[opsru]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|"
            r"xox[abprs]-[\w-]{10,}|AIza[\w-]{35}|dapi[0-9a-f]{32}|sk-[\w-]{20,}|hf_[A-Za-z0-9]{30,}|"
            r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)",
            0,
        ),
        (r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<secret>.*?)(?:(?=-----END)|\Z)", re.DOTALL),
    )
)


def redact(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties as they may be shown.

    >>> redact({"spark.ssl.keyPassword": "x", "spark.ui.port": "1", "spark.b": "-Dc.token=x"})
    {'spark.ssl.keyPassword': '*********(redacted)', 'spark.ui.port': '1', 'spark.b': '-Dc.token=*********(redacted)'}
    """
    return {name: REDACTED if _NAME.search(name) and text else redact_text(text) for name, text in properties.items()}


def redact_text(text: str) -> str:
    """Any text, as it may be shown: without what is given as a password, a token or a key, or looks like one.

    >>> redact_text("spark.hadoop.fs.s3a.secret.key=x")
    'spark.hadoop.fs.s3a.secret.key=*********(redacted)'
    """
    if _SHORT.fullmatch(text):
        return text
    for pattern in _PATTERNS:
        text = pattern.sub(_without_secret, text)
    return text


def _without_secret(match: re.Match[str]) -> str:
    start, end = (place - match.start() for place in match.span("secret"))
    return f"{match[0][:start]}{REDACTED}{match[0][end:]}"


def redact_word(word: str) -> str:
    """A word of a command line, as it may be shown: all of the value of a secret property, spaces and all.

    >>> redact_word("spark.ssl.keyPassword=a b")
    'spark.ssl.keyPassword=*********(redacted)'
    """
    found = _OPTION.fullmatch(word)
    return f"{found[1]}{REDACTED}" if found else redact_text(word)


def split_secrets(properties: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Those that anybody may see, and those that nobody may."""
    shown = redact(properties)
    public = {name: text for name, text in properties.items() if shown[name] == text}
    return public, {name: text for name, text in properties.items() if name not in public}


@lru_cache(4096)
def is_secret(name: str) -> bool:
    """Whether what has this name must not be written down.

    >>> is_secret("db_password"), is_secret("--rows")
    (True, False)
    """
    return _NAME.search(name) is not None


def redact_arguments(words: Sequence[str]) -> list[str]:
    """The words of a command line, as they may be shown: also what follows an option with the name of a secret.

    >>> redact_arguments(["--db-password", "x", "--token=y", "--rows", "5"])
    ['--db-password', '*********(redacted)', '--token=*********(redacted)', '--rows', '5']
    """
    shown = []
    for before, word in zip(("", *words), words, strict=False):
        shown.append(REDACTED if _takes_secret(before, word) else redact_word(word))
    return shown


def _takes_secret(option: str, word: str) -> bool:
    is_option = option.startswith("-") and "=" not in option and is_secret(option)
    return is_option and bool(word) and not word.startswith("--")


def redact_plain(value: Any) -> Any:
    """Plain data (mappings, lists, texts) as they may be shown."""
    if type(value) in (float, int):
        return value
    if isinstance(value, Mapping):
        return {
            name: REDACTED if isinstance(part, str) and part and is_secret(str(name)) else redact_plain(part)
            for name, part in value.items()
        }
    if isinstance(value, (list, tuple)):
        if all(isinstance(part, str) for part in value):
            return redact_arguments(value)
        return [redact_plain(part) for part in value]
    return redact_text(value) if isinstance(value, str) else value


# ---------------------------------------------------------------- values that turn up where no name stands beside them

_SHORTEST = 4  # of a value that is looked for everywhere: shorter ones are parts of ordinary words
_ORDINARY = frozenset(("true", "false", "none", "null", "test", "default", "password", "secret", "token"))


class Redactor:
    """Redacts what everybody would, and the given secrets themselves wherever they turn up."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = frozenset(secret for secret in secrets if _is_literal(secret))

    def text(self, text: str) -> str:
        return redact_text(self._literals.sub(REDACTED, text) if self._secrets else text)

    @cached_property
    def _literals(self) -> re.Pattern[str]:
        forms = {form for secret in self._secrets for form in _forms(secret)}
        return re.compile("|".join(map(_bounded, sorted(forms, key=lambda form: (-len(form), form)))))


def _is_literal(secret: str) -> bool:
    is_number = secret.replace(".", "", 1).isdigit() and len(secret) < 8
    return len(secret) >= _SHORTEST and secret.lower() not in _ORDINARY and REDACTED not in secret and not is_number


def _forms(secret: str) -> Iterator[str]:
    """As it is, and as URLs and JSON write it."""
    yield from (secret, quote(secret, safe=""), unquote(secret), json.dumps(secret)[1:-1], repr(secret)[1:-1])


def _bounded(form: str) -> str:
    """A secret that could be a part of a word is looked for as a whole one."""
    before = r"(?<!\w)" if form[0].isalnum() and len(form) < 8 else ""
    after = r"(?!\w)" if form[-1].isalnum() and len(form) < 8 else ""
    return f"{before}{re.escape(form)}{after}"


def secrets_in(value: Any) -> set[str]:
    """The secret values in plain data (properties, arguments, environments, texts), as `redact_plain` finds them.

    >>> sorted(secrets_in({"conf": {"spark.a.password": "abcd"}, "arguments": ["--db-token", "efgh", "s3://u:ijkl@b"]}))
    ['abcd', 'efgh', 'ijkl']
    """
    if isinstance(value, Mapping):
        named = {part for name, part in value.items() if isinstance(part, str) and part and is_secret(str(name))}
        return named.union(*(secrets_in(part) for part in value.values()))
    if isinstance(value, (list, tuple)):
        follow = {
            word
            for before, word in pairwise(value)
            if isinstance(before, str) and isinstance(word, str) and _takes_secret(before, word)
        }
        return follow.union(*(secrets_in(part) for part in value))
    if not isinstance(value, str):
        return set()
    option = _OPTION.fullmatch(value)
    named = {value[option.end(1) :]} if option else set()
    return named | {match["secret"].strip("\"'") for pattern in _PATTERNS for match in pattern.finditer(value)}


def secrets_of_environment(environment: Mapping[str, str] = os.environ) -> set[str]:
    """The values of the variables that are secret by their names: a job inherits them, and may print them."""
    return {text for name, text in environment.items() if is_secret(name) and not Path(text).exists()}
