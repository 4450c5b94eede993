"""The YAML study file. A list is a factor, a single value is fixed; every complaint names the line."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import yaml
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study.application import TIME
from sparkcast.study.arrivals import ARRIVAL_RATE, Arrivals, At, FromLogs, MixPart, Poisson, require_whole
from sparkcast.study.configuration import Configuration, Level, normal_level
from sparkcast.study.expression import Expression
from sparkcast.study.model import DOLLARS, DesignChoice, Factor, Limits, Price, SparkOptions, Study
from sparkcast.study.names import usual_unit
from sparkcast.study.paths import no_such_file
from sparkcast.study.response import Kind, Response
from sparkcast.study.vocabulary import Vocabulary
from sparkcast.units import parse_rate, parse_seconds

MOST_CHARACTERS = 100_000  # of a study file: people write them
MOST_VALUES = 20_000  # in it, with what aliases repeat
_MOST_LEVELS_DEEP = 50


def load_study(path: Path) -> Study:
    """Read and check a study file. Raises StudyError, never anything else, for what a file can have wrong."""
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MOST_CHARACTERS + 1)
    except FileNotFoundError:
        raise no_such_file(path, kind="study file", hint="sparkcast init WORKLOAD > study.yaml creates one") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StudyError(
            f"cannot read {str(path)!r}: {reason}", hint="give a study file (YAML in UTF-8) that you may read"
        ) from error
    return parse_study(text, path)


def parse_study(text: str, path: Path = Path("study.yaml")) -> Study:
    values, lines = _read_yaml(text, path)
    values, options = _without_options(values, path, lines)
    try:
        parsed = _StudyFile.model_validate(values)
    except ValidationError as error:
        raise _first_complaint(error, path, lines) from error
    try:
        return _to_study(parsed, options, path, lines)
    except StudyError as error:
        if str(path.name) in error.problem:
            raise
        raise type(error)(f"{path.name}: {error.problem}", hint=error.hint) from error


def _without_options(
    values: Mapping[str, Any], path: Path, lines: Mapping[str, int]
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The file without the block that has the name of its workload, and that block, which only the workload reads."""
    name = values.get("workload")
    if not isinstance(name, str) or name in _StudyFile.model_fields or name not in values:
        return dict(values), {}
    block = values[name]
    if not isinstance(block, dict) or not all(isinstance(key, str) for key in block):
        raise StudyError(f"{path.name} line {lines.get(name, 1)}: {name}: not a list of `key: value`")
    return {key: value for key, value in values.items() if key != name}, block


# ---------------------------------------------------------------- the shape of the file


def _seconds(value: object) -> object:
    return None if value is None else parse_seconds(value)  # type: ignore[arg-type]


def _conf_text(value: object) -> object:
    """Spark properties are texts: YAML's true and 1 become "true" and "1"."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class _FileSection(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Design(_FileSection):
    model_config = ConfigDict(extra="allow", strict=True)  # a design has options of its own, and checks them

    kind: str = "full"
    replicates: int = Field(1, ge=1)
    seed: int = Field(0, ge=0)
    center_points: int = Field(0, ge=0, validation_alias=AliasChoices("center_points", "centre_points"))
    blocks: int = Field(1, ge=1)
    spread: Annotated[float | None, BeforeValidator(_seconds), Field(gt=0)] = None


class _Limits(_FileSection):
    total: Annotated[float | None, BeforeValidator(_seconds)] = None
    trial: Annotated[float | None, BeforeValidator(_seconds)] = None


def _formula(value: object) -> object:
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


class _Price(_FileSection):
    core_hour: float = Field(0.0, ge=0)
    gib_hour: float = Field(0.0, ge=0)
    memory_hour: float = Field(0.0, ge=0)  # another name of gib_hour
    machine_hour: dict[Annotated[str, BeforeValidator(str)], float] = {}
    hour: Annotated[str | None, BeforeValidator(_formula)] = None
    currency: str = DOLLARS


class _Spark(_FileSection):
    master: str = "embedded"
    conf: dict[str, Annotated[str, BeforeValidator(_conf_text)]] = {}


def _level(value: object) -> object:
    """YAML's true and false are what Spark and most jobs write: texts."""
    return str(value).lower() if isinstance(value, bool) else value


_Scalar = Annotated[Annotated[int, Field(ge=-(2**63), lt=2**63)] | float | str, BeforeValidator(_level)]


def _arrival_times(value: object) -> object:
    return [parse_seconds(time) for time in value] if isinstance(value, list) else value


def _arrival_rates(value: object) -> object:
    """Jobs per hour; a rate that is a list makes a factor."""
    if value is None:
        return None
    rates = [round(parse_rate(str(one)) * 3600, 9) for one in (value if isinstance(value, list) else [value])]
    return rates if isinstance(value, list) else rates[0]


class _Arrivals(_FileSection):
    kind: Literal["poisson"] | None = None
    rate: Annotated[float | list[float] | None, BeforeValidator(_arrival_rates)] = None
    jobs: int | None = None
    seed: int = Field(0, ge=0)
    at: Annotated[list[float] | None, BeforeValidator(_arrival_times)] = None
    logs: str | None = None
    speed: float | None = None


class _Response(_FileSection):
    formula: str | None = None
    kind: Literal["time", "money", "share", "count", "other"] = "other"
    better: Literal["less", "more"] | None = None
    unit: str = ""


class _StudyFile(_FileSection):
    study: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    workload: str
    settings: dict[str, _Scalar | list[_Scalar]]
    rules: list[str] = []
    design: _Design = _Design()
    responses: list[str | dict[str, str | _Response]] = [TIME]
    roles: dict[str, str] = {}
    limits: _Limits = _Limits()
    spark: _Spark = _Spark()
    price: _Price | None = None
    arrivals: _Arrivals | None = None
    mix: list[dict[str, _Scalar]] = []
    store: str | None = None
    artifacts: str | None = None


def _to_study(parsed: _StudyFile, options: Mapping[str, Any], path: Path, lines: Mapping[str, int]) -> Study:
    factors: list[Factor] = []
    fixed: dict[str, Level] = {}
    for name, value in parsed.settings.items():
        if isinstance(value, list):
            factors.append(_at_line(path, lines, f"settings.{name}", Factor, name, tuple(value)))
        else:
            fixed[name] = value
    arrivals = None
    if parsed.arrivals is not None:
        arrivals = _at_line(path, lines, "arrivals", _arrivals, parsed.arrivals, path)
        _at_line(path, lines, f"settings.{ARRIVAL_RATE}", _add_rate, parsed, factors, fixed)
    rules = tuple(_at_line(path, lines, f"rules.{i}", Expression, text) for i, text in enumerate(parsed.rules))
    for name, role in parsed.roles.items():
        _at_line(path, lines, f"roles.{name}", Vocabulary().assigning, {name: role})
    return Study(
        name=parsed.study,
        workload=parsed.workload,
        factors=tuple(factors),
        fixed=Configuration(fixed),
        rules=rules,
        design=_design(parsed.design),
        responses=tuple(_responses(parsed, path, lines)),
        limits=Limits(parsed.limits.total, parsed.limits.trial),
        price=None if parsed.price is None else _at_line(path, lines, "price", _price, parsed.price),
        spark=SparkOptions(parsed.spark.master, parsed.spark.conf),
        path=path,
        lines=lines,
        roles=parsed.roles,
        options=options,
        written={name: texts for name, value in parsed.settings.items() if (texts := _written(value))},
        arrivals=arrivals,
        mix=_at_line(path, lines, "mix", _mix, parsed),
        store=None if parsed.store is None else _at_line(path, lines, "store", _store, parsed.store),
        artifacts=parsed.artifacts,
    )


def _store(url: str) -> str:
    if "://" not in url:
        raise StudyError(f"store: {url!r} is not a URL", hint=_EXAMPLES["store"])
    return url


def _arrivals(part: _Arrivals, path: Path) -> Arrivals:
    """The one of the three ways to give arrivals; raises StudyError for a mixture of them."""
    ways = {"rate": part.kind or part.rate or part.jobs, "at": part.at, "logs": part.logs or part.speed}
    chosen = [way for way, value in ways.items() if value is not None]
    if len(chosen) != 1:
        problem = " and ".join(chosen) if chosen else "nothing"
        raise StudyError(f"arrivals are given by {problem}", hint=f"give one: {_EXAMPLES['arrivals']}")
    if part.at is not None:
        return At(tuple(part.at))
    if chosen == ["logs"]:
        if part.logs is None:
            raise StudyError("arrivals have a speed and no logs", hint=_EXAMPLES["arrivals"])
        return FromLogs(path.parent / part.logs, 1.0 if part.speed is None else part.speed)
    if part.rate is None or part.jobs is None:
        missing = "rate" if part.rate is None else "number of jobs"
        raise StudyError(f"Poisson arrivals without a {missing}", hint=_EXAMPLES["arrivals"])
    return Poisson(part.jobs, part.seed)


def _add_rate(parsed: _StudyFile, factors: list[Factor], fixed: dict[str, Level]) -> None:
    """The rate is a setting like others, so that it can be varied, analyzed and predicted."""
    assert parsed.arrivals is not None
    rate = parsed.arrivals.rate
    if ARRIVAL_RATE in parsed.settings:
        raise StudyError(f"{ARRIVAL_RATE} is no setting", hint="give the rate in arrivals: {rate: 12/h, ...}")
    if isinstance(rate, list):
        factors.append(Factor(ARRIVAL_RATE, tuple(rate)))
    elif rate is not None:
        fixed[ARRIVAL_RATE] = rate


def _mix(parsed: _StudyFile) -> tuple[MixPart, ...]:
    parts = []
    for number, given in enumerate(parsed.mix, start=1):
        share = given.get("share")
        if isinstance(share, str) or share is None:
            raise StudyError(f"part {number} of the mix has no share", hint=_EXAMPLES["mix"])
        parts.append(MixPart(share, Configuration({name: v for name, v in given.items() if name != "share"})))
    require_whole(parts)
    if parts and parsed.arrivals is None:
        raise StudyError("a mix of jobs needs arrivals", hint=_EXAMPLES["arrivals"])
    return tuple(parts)


def _written(value: Level | list[Level]) -> dict[Level, str]:
    """The levels of a setting that the file writes in another way than `str` would, such as 1.0, "007" and 1024m."""
    texts = {normal_level(level): str(level) for level in (value if isinstance(value, list) else [value])}
    return {level: text for level, text in texts.items() if text != str(level)}


def _design(part: _Design) -> DesignChoice:
    return DesignChoice(
        part.kind,
        part.replicates,
        part.seed,
        part.center_points,
        part.blocks,
        part.spread,
        options=part.model_extra or {},
    )


def _price(part: _Price) -> Price:
    if part.gib_hour and part.memory_hour:
        raise StudyError("gib_hour and memory_hour are two names for the same price", hint="give one of them")
    formula = None if part.hour is None else Expression(part.hour)
    return Price(part.core_hour, part.gib_hour or part.memory_hour, part.machine_hour, formula, part.currency)


def _responses(parsed: _StudyFile, path: Path, lines: Mapping[str, int]) -> list[Response]:
    responses: list[Response] = []
    for i, entry in enumerate(parsed.responses):
        if isinstance(entry, str):
            name, _, formula = (part.strip() for part in entry.partition("="))
            named: dict[str, str | _Response] = {name: formula}
        else:
            named = entry
        for name, given in named.items():
            responses.append(_at_line(path, lines, f"responses.{i}", _response, name, given))
    return responses


def _response(name: str, given: str | _Response) -> Response:
    part = _Response(formula=given or None) if isinstance(given, str) else given
    formula = None if part.formula is None else Expression(part.formula)
    return Response(name, formula, Kind(part.kind), part.better, part.unit or usual_unit(name, part.kind))


def _at_line(path: Path, lines: Mapping[str, int], key: str, make: Any, *arguments: Any) -> Any:
    """Call `make`; a StudyError it raises gets the file and line of `key` in front."""
    try:
        return make(*arguments)
    except StudyError as error:
        raise StudyError(f"{path.name} line {lines.get(key, 1)}: {error.problem}", hint=error.hint) from error


# ---------------------------------------------------------------- complaints


_EXAMPLES = {
    "settings": "settings are written as `name: value` or `name: [level, level]`",
    "design": "design: {kind: full, replicates: 3, seed: 7}",
    "limits": "limits: {total: 30m, trial: 5m}",
    "spark": "spark: {master: embedded, conf: {spark.executor.memory: 1g}}",
    "price": "price: {core_hour: 0.05}, or {machine_hour: {m4.large: 0.1}}, or {hour: 0.05 * executors * cores}",
    "responses": "responses: [time_s, accuracy], or with their meaning: {auc: {kind: share, better: more}}",
    "roles": "roles: {hosts: machines, auc: share}",
    "rules": "rules: ['batch_size % executors == 0']",
    "study": "a name of letters, digits, dots and dashes",
    "artifacts": "artifacts: s3://BUCKET/FOLDER, or a folder that all machines mount; leave it out to keep logs here",
    "store": "store: postgresql://HOST:5432/DATABASE; leave it out to keep results next to the study file",
    "arrivals": "arrivals: {rate: 12/h, jobs: 20}, or {at: [0s, 30s, 45s]}, or {logs: FOLDER, speed: 10}",
    "mix": "mix: [{share: 0.7, executors: 1}, {share: 0.3, executors: 2}]",
}


_SECTIONS: dict[str, type[_FileSection]] = {
    "limits": _Limits,
    "spark": _Spark,
    "price": _Price,
    "responses": _Response,
    "arrivals": _Arrivals,
    "design": _Design,
}


def _first_complaint(error: ValidationError, path: Path, lines: Mapping[str, int]) -> StudyError:
    """Pydantic's first error as one sentence with the line, the key and a near miss."""
    first = error.errors()[0]
    if first["loc"][0] == "responses":  # a union again: what fits best goes wrong deepest
        same = [other for other in error.errors() if other["loc"][:2] == first["loc"][:2]]
        first = max(same, key=lambda other: len(other["loc"]))
    keys = [str(part) for part in first["loc"] if _is_key(str(part), lines)] or [str(first["loc"][-1])]
    dotted = ".".join(keys)
    place = f"{path.name} line {_line_of(dotted, lines)}"
    top = keys[0] if keys else ""
    if first["type"] == "extra_forbidden":
        known = tuple((_SECTIONS[top] if len(keys) > 1 else _StudyFile).model_fields)
        nested = _nested(dotted) if len(keys) == 1 else ""
        return StudyError(f"{place}: unknown key {dotted!r}", hint=nested or did_you_mean(keys[-1], known))
    if first["type"] == "missing":
        missing = str(first["loc"][-1])
        return StudyError(
            f"{place}: the key {missing!r} is missing", hint=_EXAMPLES.get(missing, f"add `{missing}: ...`")
        )
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, StudyError):
        return StudyError(f"{place}: {dotted}: {cause.problem}", hint=cause.hint)
    message = first["msg"][0].lower() + first["msg"][1:]
    if first["type"] == "model_type":
        message = "not a list of `key: value`"
    if top == "settings":  # a union: pydantic would complain about its first member only
        message = "neither a number or string nor a list of them"
    return StudyError(f"{place}: {dotted} = {_shortened(first['input'])}: {message}", hint=_EXAMPLES.get(top, ""))


def _nested(key: str) -> str:
    """How to write a key that was given with its path, such as `limits.trial` or a property of Spark; "" of others."""
    section, _, rest = key.partition(".")
    part = _SECTIONS.get(section)
    if part is None or not rest:
        return ""
    if section == "spark" and rest not in part.model_fields:
        return f'write it among the Spark properties: spark: {{conf: {{"{key}": ...}}}}'
    return f"write it as {section}: {{{rest}: ...}}"


def _shortened(value: object) -> str:
    try:
        shown = repr(value)
    except ValueError:  # Python refuses to write out a number of thousands of digits
        return "(a huge number)"
    return shown if len(shown) <= 100 else f"{shown[:100]}..."


def _is_key(part: str, lines: Mapping[str, int]) -> bool:
    # Pydantic names the members of a union ("list[...]", "str") in an error's place; they are no keys of the file.
    return any(f".{part}." in f".{key}." for key in lines) or part in _StudyFile.model_fields


def _line_of(dotted: str, lines: Mapping[str, int]) -> int:
    while dotted and dotted not in lines:
        dotted = dotted.rpartition(".")[0]
    return lines.get(dotted, 1)


# ---------------------------------------------------------------- YAML with line numbers


class _TooMuchError(Exception):
    """The file has more in it than a study has."""


class _Loader(yaml.SafeLoader):
    """YAML 1.2's reading of plain words: 1e-3 is a number, `on` and `no` are words, 1:30 is a text."""

    n_values = 0
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.n_values += 1
        self.depth += 1
        if self.n_values > MOST_VALUES:
            raise _TooMuchError(f"more than {MOST_VALUES:,} values")
        if self.depth > _MOST_LEVELS_DEEP:
            raise _TooMuchError(f"brackets or indentation more than {_MOST_LEVELS_DEEP} levels deep")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("tag:yaml.org,2002:bool", r"true|false", "tf"),
    ("tag:yaml.org,2002:int", r"[-+]?[0-9]+", "-+0123456789"),
    ("tag:yaml.org,2002:float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("tag:yaml.org,2002:null", r"null|~|", ["n", "~", ""]),
):
    _Loader.add_implicit_resolver(_tag, re.compile(rf"^(?:{_pattern})$"), list(_first))


class _Document(NamedTuple):
    values: Any
    lines: dict[str, int]  # dotted key -> line


def _read_yaml(text: str, path: Path) -> _Document:
    try:
        if len(text) > MOST_CHARACTERS:
            raise _TooMuchError(f"more than {MOST_CHARACTERS:,} characters")
        loader = _Loader(text)
        node = loader.get_single_node()
        _refuse_many_aliases(node)
        lines: dict[str, int] = {}
        _note_lines(node, "", lines, path)
        values = loader.construct_document(node) if node is not None else None
    except StudyError:
        raise
    except _TooMuchError as error:
        raise StudyError(
            f"{path.name} has {error}", hint="a study file has a few dozen lines; sparkcast init WORKLOAD shows one"
        ) from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise StudyError(
            f"{path.name} line {line}: not YAML: {error.problem}", hint="check indentation, colons and brackets there"
        ) from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise StudyError(
            f"{path.name}: not YAML: {error}", hint="check it line by line against what sparkcast init WORKLOAD writes"
        ) from error
    if not isinstance(values, dict):
        raise StudyError(
            f"{path.name} line 1: a study file is a list of `key: value` lines, got {type(values).__name__}",
            hint="sparkcast init WORKLOAD shows one",
        )
    return _Document(values, lines)


def _refuse_many_aliases(root: yaml.Node | None) -> None:
    """A few lines of aliases of aliases can stand for billions of values: count them without writing them out."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        if id(node) not in sizes:
            sizes[id(node)] = MOST_VALUES  # for whoever contains itself
            sizes[id(node)] = 1 + sum(size(part) for part in _parts(node))
        return sizes[id(node)]

    if root is not None and size(root) > MOST_VALUES:
        raise _TooMuchError(f"more than {MOST_VALUES:,} values once its aliases (*name) are written out")


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _note_lines(node: yaml.Node | None, prefix: str, lines: dict[str, int], path: Path) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = f"{prefix}{key.value}"
            if name in lines:
                raise StudyError(
                    f"{path.name} line {key.start_mark.line + 1}: the key {name!r} appears twice",
                    hint=f"it is already on line {lines[name]}",
                )
            lines[name] = key.start_mark.line + 1
            _note_lines(value, f"{name}.", lines, path)
    elif isinstance(node, yaml.SequenceNode):
        for i, item in enumerate(node.value):
            lines[f"{prefix}{i}"] = item.start_mark.line + 1
            _note_lines(item, f"{prefix}{i}.", lines, path)
