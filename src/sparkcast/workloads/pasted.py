"""A pasted spark-submit line as a commented study file."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from sparkcast.errors import StudyError
from sparkcast.study.application import FROM_THE_LOG
from sparkcast.study.configuration import normal_level
from sparkcast.study.environment import kind_of
from sparkcast.study.names import COST
from sparkcast.study.redaction import is_secret, redact, redact_arguments, redact_text, secrets_in
from sparkcast.units import as_number
from sparkcast.workloads._placeholders import escape
from sparkcast.workloads._submit_line import SubmitLine, parse_line
from sparkcast.workloads.base import CLUSTER_SETTINGS
from sparkcast.workloads.command import RUN_FOLDER

_TEMPLATE = """\
# A study of your own job, submitted as is:
{pasted}{warning}
# A list is a factor: every level is tried. A single value is fixed.
# Then: sparkcast design FILE, sparkcast run FILE, sparkcast recommend FILE --within 60s
study: {name}
workload: command

command:
{command}

settings:
{settings}

# Combinations that break a rule are never run.
# rules: [executors * cores <= 16]

design:
  kind: full          # every combination; or two-level (the extremes). See: sparkcast list designs
  replicates: 2       # runs of each combination: without replicates there is no measure of noise
  seed: 1             # the run order is random, and the same for the same seed

limits:
  total: 24h          # never spends more, and says what it left out; lower it to what you can spare
  trial: 12h          # a trial that takes longer is stopped and counts as a timeout

spark:
  master: {master}{master_note}
  conf:{conf}

price:
  core_hour: 0.05     # money per core and hour; gib_hour adds memory
"""
_SECRETS = """
# This file holds a secret of that line: keep it to yourself (chmod 600). sparkcast shows it nowhere. Better, let the
# job read it from an environment variable, which it inherits, and remove it here."""
_BLANK = ("spark-submit", "my_job.py", "--rows", "1000000")
_MORE = """\
  # class: org.example.Train       # and jars, packages, py_files, files, archives, ...: options of spark-submit
  # environment: {OMP_NUM_THREADS: 1}
"""
_MASTERS = "a cluster on this machine; or spark://host:7077, yarn, k8s://..., local[2]"
_VARY = "make it a list to vary it"
_WIDTH = 100
_LISTS = ("jars", "packages", "exclude_packages", "repositories", "py_files", "files", "archives")
_OURS = ("spark.eventLog.", "spark.redaction.regex")
_TUNED = re.compile(r"true|false|-?[0-9.]+(?:[a-zA-Z]{1,3})?")  # values of properties that people vary
_JOINED = re.compile(r"([A-Za-z_][\w.-]*)=(.*)", re.DOTALL)  # rows=1000 among the arguments
_WRITTEN = re.compile(r"out|save|dest|target|checkpoint|log|tmp|temp", re.IGNORECASE)  # what is not read
_OPTION = re.compile(r"(--?[A-Za-z][^=\s]*)(?:=(.*))?", re.DOTALL)


def blank_study() -> str:
    """The study of a job that is still to be named."""
    return study_of_line(_BLANK).replace("  # data:", f"{_MORE}  # data:", 1)


def study_of_line(words: Sequence[str]) -> str:
    """The text of a study file for a spark-submit line. Raises StudyError for a line that submits no job."""
    line = parse_line(words)
    job = _take_apart(line.arguments)
    shape, properties, held, left_out = _properties(line.properties, line.master)
    return _TEMPLATE.format(
        pasted=_comment(words),
        warning=_SECRETS if secrets_in([*words]) else "",
        name=_study_name(line.application),
        command="\n".join(_command(line, job)),
        settings="\n".join(_settings(shape, properties, job.settings, _cluster_notes(line))),
        master=_yaml(line.master or "embedded"),
        master_note="" if line.master else f"    # {_MASTERS}",
        conf=_conf(held, left_out),
    )


# ---------------------------------------------------------------- the job's own arguments


@dataclass(slots=True)
class _Arguments:
    """The arguments with placeholders, and the values that these have in the line."""

    words: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    data: list[str] = field(default_factory=list)

    def keep(self, word: str) -> None:
        self.words.append(escape(word))
        self._note_data(word)

    def vary(self, name: str, value: str, before: str = "") -> None:
        """A word of which the end, `value`, becomes a setting."""
        own = self._free(_identifier(name))
        self.words.append(f"{escape(before)}{{{own}}}")
        self.settings[own] = value
        if not _WRITTEN.search(name):
            self._note_data(value)

    def _free(self, name: str) -> str:
        taken = {*self.settings, *_RESERVED}
        if name in _RESERVED:
            name = f"job_{name}"
        count, free = 1, name
        while free in taken:
            count, free = count + 1, f"{name}_{count + 1}"
        return free

    def _note_data(self, word: str) -> None:
        if (
            word
            and word not in self.data
            and _exists(word)
            and not Path().resolve().is_relative_to(Path(word).resolve())
        ):
            self.data.append(word)


_RESERVED = frozenset((*(s.name for s in CLUSTER_SETTINGS), *(r.name for r in FROM_THE_LOG), COST, RUN_FOLDER, "epoch"))


def _take_apart(arguments: Sequence[str]) -> _Arguments:
    """Options with a value, `name=value` and numbers become settings; everything else stays as it is."""
    job, place, position = _Arguments(), 0, 0
    only_positional = False
    while place < len(arguments):
        word, following = arguments[place], arguments[place + 1 : place + 2]
        option = None if only_positional else _OPTION.fullmatch(word)
        joined = _JOINED.fullmatch(word)
        place += 1
        if word == "--":
            only_positional = True
            job.keep(word)
        elif option:
            place += _take_option(job, option, following)
        elif joined and _can_vary(joined[1], joined[2]):
            job.vary(joined[1], joined[2], f"{joined[1]}=")
        else:
            position += 1
            if _number(word) is not None and _can_vary("", word):
                job.vary(f"arg{position}", word)
            else:
                job.keep(word)
    return job


def _take_option(job: _Arguments, option: re.Match[str], following: Sequence[str]) -> int:
    """How many words after the option are its value."""
    name, joined = option[1], option[2]
    can_vary = _can_vary(name, "".join(following) if joined is None else joined)
    if joined is not None and can_vary:
        job.vary(name, joined, f"{name}=")
        return 0
    job.keep(option[0])
    if joined is not None or not following or not _is_value(following[0]):
        return 0
    if can_vary:
        job.vary(name, following[0])
    elif is_secret(name):
        job.keep(following[0])
    return int(can_vary or is_secret(name))


def _is_value(word: str) -> bool:
    """Whether a word can be the value of the option before it: not an option, but -5 is."""
    return not word.startswith("-") or _number(word) is not None or word == "-"


def _can_vary(name: str, value: str) -> bool:
    """Not a secret, which would be written down with every result, nor what is no level of a setting."""
    if is_secret(name) or redact_text(value) != value:
        return False
    try:
        normal_level(value)
    except StudyError:
        return False
    return True


def _number(text: str) -> float | None:
    try:
        return as_number(text)
    except StudyError:
        return None


def _identifier(name: str) -> str:
    """The name of an option as that of a setting: --learning-rate is learning_rate."""
    plain = re.sub(r"[^0-9A-Za-z_]+", "_", name.lstrip("-")).strip("_")
    return plain if plain[:1].isalpha() else f"arg_{plain}".rstrip("_")


def _exists(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):  # too long for a name
        return False


# ---------------------------------------------------------------- what Spark knows


_ALL_CORES, _DYNAMIC = "spark.cores.max", "spark.dynamicAllocation.enabled"
_MOST_EXECUTORS = "spark.dynamicAllocation.maxExecutors"
_LOCAL = re.compile(r"local\[(\d+)(?:,\d+)?\]")
_SHAPE = {
    "executors": "spark.executor.instances",
    "cores": "spark.executor.cores",
    "memory": "spark.executor.memory",
}


def _properties(
    given: Mapping[str, str], master: str
) -> tuple[dict[str, str], dict[str, str], dict[str, str], dict[str, str]]:
    """What becomes settings of the cluster, settings, properties of all runs, and what is left out."""
    rest = dict(given)
    shape = {name: rest.pop(key) for name, key in _SHAPE.items() if key in rest}
    shape = {**_divided(shape, rest.pop(_ALL_CORES, ""), master), **shape}
    if _is_dynamic(given) and (most := rest.get(_MOST_EXECUTORS, "")).isdigit():
        shape["executors"] = most
    if shape.get("memory", "").isdigit():
        shape["memory"] += "m"  # how Spark reads a bare number
    left_out = {key: rest.pop(key) for key in list(rest) if key.startswith(_OURS)}
    varied = {key: rest.pop(key) for key in list(rest) if _TUNED.fullmatch(rest[key]) and _can_vary(key, rest[key])}
    return shape, varied, rest, left_out


def shape_asked(line: SubmitLine) -> tuple[dict[str, str], bool]:
    """Executors, cores and memory that a line asks for, and whether Spark decides how many executors there are."""
    return _properties(line.properties, line.master)[0], _is_dynamic(line.properties)


def _divided(shape: Mapping[str, str], all_cores: str, master: str) -> dict[str, str]:
    """Executors and cores, as far as the line says only how many cores there are in all.

    Without `--executor-cores` a standalone cluster starts one executor on a worker, with all cores that it can have.
    """
    if threads := _LOCAL.fullmatch(master):
        return {"cores": threads[1]}
    if not all_cores.isdigit() or kind_of(master) == "yarn":  # which takes no notice of it
        return {}
    executors, cores = (int(text) if (text := shape.get(name, "")).isdigit() else 0 for name in ("executors", "cores"))
    if cores:
        return {"executors": str(max(1, int(all_cores) // cores))}
    return {"executors": "1", "cores": str(max(1, int(all_cores) // (executors or 1)))}


def _is_dynamic(properties: Mapping[str, str]) -> bool:
    return properties.get(_DYNAMIC, "").lower() == "true"


def _cluster_notes(line: SubmitLine) -> dict[str, str]:
    """What to know of the settings of the cluster, where the line says something else than sparkcast would."""
    given, notes = line.properties, {}
    if _ALL_CORES in given and _SHAPE["cores"] not in given and kind_of(line.master) != "yarn":
        notes["cores"] = "of one executor per worker; on several workers, fewer cores and more executors"
    elif kind_of(line.master) == "yarn" and _ALL_CORES in given:
        notes["cores"] = "cores per executor: YARN ignores --total-executor-cores"
    elif line.master.startswith("spark://") and not {_ALL_CORES, _SHAPE["cores"]} & {*given}:
        notes["cores"] = "your line takes all cores of the cluster; say here what it should have"
    if _is_dynamic(given):
        notes["executors"] = "the most: dynamic allocation is on, and Spark decides; turn it off to vary executors"
    return notes


# ---------------------------------------------------------------- the text


def _comment(words: Sequence[str]) -> str:
    shown = " ".join(shlex.quote(word) for word in redact_arguments(words))
    printable = "".join(sign if sign.isprintable() else "?" for sign in shown)
    return f"#   {printable}"


def _study_name(application: str) -> str:
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", PurePath(application).stem).strip("-._")
    return stem if re.match(r"[A-Za-z]", stem) else f"job-{stem}".rstrip("-")


def _command(line: SubmitLine, job: _Arguments) -> list[str]:
    absent = "" if _exists(line.application) or ":" in line.application else "  # there is no such file here"
    lines = [f"  application: {_yaml(escape(line.application))}{absent}"]
    if job.words:
        lines += [_flow("arguments", job.words)]
    for key, value in line.kept.items():
        is_list = key in _LISTS and "," in value
        text = value if key in ("name", "properties_file") else escape(value)
        lines.append(_flow(key, text.split(",")) if is_list else f"  {key}: {_yaml(text)}")
    lines += [f"  {switch}: true" for switch in line.switches]
    if line.environment:
        lines.append("  environment:")
        lines += [f"    {_yaml(name)}: {_yaml(escape(value))}" for name, value in line.environment.items()]
    if job.data:
        lines.append(_flow("data", job.data) + "  # their sizes and modification times are stored with each result")
    else:
        lines.append("  # data: [input.csv]              # files or folders it reads: sizes and times are stored")
    lines += [
        "  # sampling: {fraction: fraction} # the setting that makes the job use only part of its data, if any",
        "  # responses: {accuracy: 'AUC = ([0-9.]+)'}   # numbers it prints; the last match counts",
    ]
    return lines


def _settings(
    shape: Mapping[str, str], properties: Mapping[str, str], own: Mapping[str, str], notes: Mapping[str, str]
) -> list[str]:
    defaults = {setting.name: setting for setting in CLUSTER_SETTINGS}
    lines = []
    for name in _SHAPE:
        text = shape.get(name, str(defaults[name].default))
        lines.append(_setting(name, _yaml(text), notes.get(name) or f"{defaults[name].help}; {_VARY}"))
    lines.append(_setting("# jobs", "1", defaults["jobs"].help))
    lines += [_setting(_yaml(name, is_key=True), _yaml(value), _VARY) for name, value in properties.items()]
    lines += [_setting(_yaml(name), _yaml(value), _VARY) for name, value in own.items()]
    return lines


def _setting(name: str, text: str, comment: str) -> str:
    return f"  {name}: {text}".ljust(34) + f"  # {comment}"


def _conf(held: Mapping[str, str], left_out: Mapping[str, str]) -> str:
    lines = [f"    {_yaml(key)}: {_yaml(value)}" for key, value in held.items()]
    lines += [
        f"    # left out, because sparkcast collects the event log of each run itself: {_yaml(key)}: {_yaml(value)}"
        for key, value in redact(left_out).items()
    ]
    note = "# any Spark property; yours win over sparkcast's. To vary one, write it among the settings"
    if not held:
        return "\n".join([f" {{}}            {note}", *lines])
    return "\n".join(["", f"    {note}", *lines])


def _flow(key: str, words: Sequence[str]) -> str:
    """A list on one line, or on several when it is long."""
    lines, current = [], f"  {key}: ["
    for place, word in enumerate(words):
        text = _yaml(word) + ("]" if place == len(words) - 1 else ", ")
        if len(current) + len(text) > _WIDTH and current.strip():
            lines.append(current.rstrip())
            current = "    "
        current += text
    return "\n".join([*lines, current])


_PLAIN = re.compile(r"(?:[A-Za-z_/]|\.\.?/)[\w./*@+-]*|--?[A-Za-z][\w./@+-]*|[0-9]+[kmgtKMGT][bB]?", re.ASCII)
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,14})\.[0-9]{1,15}")


def _yaml(text: str, *, is_key: bool = False) -> str:
    """A text as YAML reads it back: a number only where it is written as sparkcast would write it."""
    is_number = _WHOLE.fullmatch(text) or (_DECIMAL.fullmatch(text) and str(float(text)) == text)
    if is_number and not is_key and text != "-0":
        return text
    if _PLAIN.fullmatch(text) and text.lower() not in ("true", "false", "null") and not is_key:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    if sign.isprintable():
        return sign
    code = ord(sign)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
