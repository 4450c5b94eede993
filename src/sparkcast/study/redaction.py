"""What must not be written down: passwords, tokens and keys among the properties of a job."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

REDACTED = "*********(redacted)"  # Spark's own word for it
# Spark's own rule (the default of spark.redaction.regex), and what it forgets.
_WORDS = (
    "secret|passw(?:or)?d|passphrase|token|credential|(?<![a-z])pwd(?![a-z])|"
    "(?:access|account|api|client|encryption|private|shared|signing)[._-]?key"
)
SECRET = f"(?i){_WORDS}"
# The same for Spark, written so that it does not match itself: Spark hides every value that it matches, and the
# command line of the driver, which event logs keep, has this property among others.
SPARK_SECRET = "(?i)" + re.sub(r"\b([a-z])([a-z])(?=[a-z])", r"\1[\2]", _WORDS)

_NAME = re.compile(SECRET)
# Within a text: -Dssl.password=x, {"token": "x"}, https://user:x@host, https://host/a?sig=x (a shared access signature)
_VALUE = rf"""{re.escape(REDACTED)}|"[^"]*"|'[^']*'|\S+"""
_NAMED = re.compile(rf"""((?:{_WORDS})[\w.-]*(?:["']?\s*=|["']\s*:)\s*)(?:{_VALUE})""", re.IGNORECASE)
_OPTION = re.compile(rf"((?:--conf=)?[\w.-]*(?:{_WORDS})[\w.-]*=).+", re.IGNORECASE | re.DOTALL)
_IN_URL = re.compile(r"(:/?/[^/\s:@]*:)[^/\s]+(?=@)")  # one slash: a URL that became a path
_SIGNATURE = re.compile(rf"([?&;]sig=)(?:{re.escape(REDACTED)}|[^&;\s]+)")


def redact(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties as they may be shown.

    >>> redact({"spark.ssl.keyPassword": "x", "spark.ui.port": "1", "spark.b": "-Dc.token=x"})
    {'spark.ssl.keyPassword': '*********(redacted)', 'spark.ui.port': '1', 'spark.b': '-Dc.token=*********(redacted)'}
    """
    return {name: REDACTED if _NAME.search(name) and text else redact_text(text) for name, text in properties.items()}


def redact_text(text: str) -> str:
    """A text with `name=value` pairs, as it may be shown.

    >>> redact_text("spark.hadoop.fs.s3a.secret.key=x")
    'spark.hadoop.fs.s3a.secret.key=*********(redacted)'
    """
    for secret in (_NAMED, _IN_URL, _SIGNATURE):
        text = secret.sub(rf"\1{REDACTED}", text)
    return text


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
        follows = before.startswith("-") and "=" not in before and is_secret(before) and not word.startswith("--")
        shown.append(REDACTED if follows and word else redact_word(word))
    return shown


def redact_plain(value: Any) -> Any:
    """Plain data (mappings, lists, texts) as they may be shown."""
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
