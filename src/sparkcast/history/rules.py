"""Rules of one's own: which applications are one job, as `jobs.yaml` says it.

jobs:
  - job: nightly orders          # the first rule that fits an application names its job
    name: 'orders[-_].*'         # regular expressions, each of the whole text
    user: etl
  - job: 'export {country}'      # (?P<country>...) in `name` or `command`
    name: 'export_(?P<country>[a-z]{2})_.*'
    queue: 'prod.*'
  - job: training
    command: '.*train\\.py.*'
    properties: {spark.app.team: 'ml'}
    split: true                  # by shape, as jobs without a rule are; not done otherwise
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.store import Store
from sparkcast.store.watched import store_rules, stored_rules
from sparkcast.study import AppRecord

_TEXTS = tuple("name command user queue cluster".split())
_KEYS = ("job", *_TEXTS, "properties", "split")


@dataclass(frozen=True, slots=True)
class JobRule:
    """What an application must look like to be of a job. Expressions match whole texts."""

    job: str
    texts: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    split: bool = False

    def job_of(self, record: AppRecord) -> str | None:
        """The name of the job that this application is of by this rule."""
        texts = (record.name, record.command_line, record.user, record.queue, record.cluster)
        told = dict(zip(_TEXTS, texts, strict=True))
        groups: dict[str, str] = {}
        for key, pattern in self.texts.items():
            found = re.fullmatch(pattern, told[key], re.S)
            if found is None:
                return None
            groups |= {name: text or "" for name, text in found.groupdict().items()}
        for name, pattern in self.properties.items():
            found = re.fullmatch(pattern, record.properties.get(name, ""), re.S)
            if found is None:
                return None
            groups |= {name: text or "" for name, text in found.groupdict().items()}
        return self.job.format_map(groups)


def read_rules(path: Path) -> tuple[JobRule, ...]:
    """The rules of a file.

    Raises:
        StudyError: it cannot be read, or a rule makes no sense; the message says which.
    """
    import yaml

    try:
        plain = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        problem = getattr(error, "strerror", None) or str(error)
        raise StudyError(f"cannot read {str(path)!r}: {problem}", hint="pass a YAML file with `jobs:`") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", line {mark.line + 1}"
        problem = getattr(error, "problem", None) or "malformed"
        raise StudyError(f"{path.name}{line} is not YAML: {problem}", hint="check indentation and quotes") from None
    rules = plain.get("jobs") if isinstance(plain, dict) else None
    if not isinstance(rules, list) or set(plain) != {"jobs"}:
        raise StudyError(
            f"{path.name} must have `jobs:` with a list of rules, and nothing else",
            hint="for example: jobs: [{job: nightly, name: 'nightly.*'}]",
        )
    return tuple(_rule(one, f"{path.name}, rule {number}") for number, one in enumerate(rules, 1))


def rules_of(store: Store) -> tuple[JobRule, ...]:
    """The rules that the store keeps."""
    return tuple(JobRule(**plain) for plain in stored_rules(store))


def keep_rules(store: Store, rules: tuple[JobRule, ...]) -> None:
    """In place of those that the store has."""
    store_rules(
        store,
        [
            {"job": one.job, "texts": dict(one.texts), "properties": dict(one.properties), "split": one.split}
            for one in rules
        ],
    )


def _rule(plain: Any, where: str) -> JobRule:
    if not isinstance(plain, dict):
        raise StudyError(f"{where} is not a mapping", hint="write it as: - {job: nightly, name: 'nightly.*'}")
    for key in plain:
        if key not in _KEYS:
            raise StudyError(f"{where} has the unknown key {key!r}", hint=did_you_mean(str(key), _KEYS))
    job, split, properties = plain.get("job"), plain.get("split", False), plain.get("properties", {})
    if not isinstance(job, str) or not job.strip():
        raise StudyError(f"{where} does not name its job", hint="add job: NAME")
    if not isinstance(split, bool):
        raise StudyError(f"{where}: `split` is {split!r}", hint="write split: true, or leave it out")
    if not isinstance(properties, dict):
        raise StudyError(f"{where}: `properties` is not a mapping", hint="properties: {spark.app.team: 'ml.*'}")
    texts = {key: plain[key] for key in _TEXTS if key in plain}
    if not texts and not properties:
        raise StudyError(f"{where} fits every application", hint=f"add one of {', '.join(_TEXTS)}, properties")
    groups: set[str] = set()
    for key, pattern in [*texts.items(), *properties.items()]:
        groups |= _groups(pattern, key, where)
    rule = JobRule(job.strip(), texts, properties, split)
    try:
        job.format_map(dict.fromkeys(groups, ""))
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        raise StudyError(
            f"{where}: the name {job!r} uses {error}, and no expression has a group of this name",
            hint="(?P<country>...) in an expression fills {country}",
        ) from None
    return rule


def _groups(pattern: Any, key: str, where: str) -> set[str]:
    if not isinstance(pattern, str):
        raise StudyError(f"{where}: `{key}` is {pattern!r}, not a text", hint="put the expression into quotes")
    try:
        return set(re.compile(pattern).groupindex)
    except re.error as error:
        raise StudyError(f"{where}: `{key}` {pattern!r}: {error}", hint="use a Python regular expression") from None
