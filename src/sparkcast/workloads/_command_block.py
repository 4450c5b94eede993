"""The `command:` block of a study file: its shape, its complaints, and the patterns in it."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Kind, Response, Study
from sparkcast.study.names import usual_unit, usual_vocabulary

_EXAMPLES = {
    "application": "command: {application: train.py, arguments: [--rows, '{rows}']}",
    "arguments": "arguments: [--rows, '{rows}', --verbose]",
    "environment": "environment: {OMP_NUM_THREADS: 1}",
    "sampling": "sampling: {fraction: fraction}, with the name of the setting in front",
    "responses": "responses: {accuracy: 'AUC = ([0-9.]+)'}",
    "data": "data: [input/ratings.csv]",
}
_EPOCH = "epoch"


def _text(value: object) -> object:
    """A word of a command line: YAML's 10 and true are "10" and "true"."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else value


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _by_name(value: object) -> object:
    return {value: "fraction"} if isinstance(value, str) else value


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("no process can be given the character NUL")
    return text


Word = Annotated[str, BeforeValidator(_text), AfterValidator(_without_nul)]
Variable = Annotated[str, Field(pattern=r"^[^=\x00]+$")]
Words = Annotated[tuple[Word, ...], BeforeValidator(_listed)]


class _BlockSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ResponsePattern(_BlockSection):
    """A response of the job's own, and where it is told."""

    pattern: str | None = None
    kind: Literal["time", "money", "share", "count", "other"] | None = None
    better: Literal["less", "more"] | None = None
    unit: str = ""

    def response(self, name: str) -> Response:
        usual = usual_vocabulary((), (name,)).response(name)
        if self.kind is None:
            return Response(name, None, usual.kind, self.better or usual.better, self.unit or usual.unit)
        return Response(name, None, Kind(self.kind), self.better, self.unit or usual_unit(name, self.kind))


class CommandBlock(_BlockSection):
    application: str = Field(min_length=1)
    arguments: tuple[Word, ...] = ()
    # Options of spark-submit; their names are the options' with _ for -.
    main_class: str = Field("", alias="class")
    name: str = ""
    jars: Words = ()
    packages: Words = ()
    exclude_packages: Words = ()
    repositories: Words = ()
    py_files: Words = ()
    files: Words = ()
    archives: Words = ()
    principal: str = ""
    keytab: str = ""
    proxy_user: str = ""
    deploy_mode: Literal["client", "cluster"] | None = None
    properties_file: str = ""
    supervise: bool = False
    verbose: bool = False
    # How to run it, and what it reads and tells.
    environment: dict[Variable, Word] = {}
    directory: str = "."
    data: Words = ()
    sampling: Annotated[dict[str, Literal["fraction", "data-size"]], BeforeValidator(_by_name)] = {}
    responses: dict[str, str | ResponsePattern] = {}

    def texts(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Every text that may have placeholders, and its place in the block."""
        yield ("application",), self.application
        for i, word in enumerate(self.arguments):
            yield ("arguments", str(i)), word
        for option, value in self.options():
            yield (option,), value
        for variable, value in self.environment.items():
            yield ("environment", variable), value

    def options(self) -> Iterator[tuple[str, str]]:
        """Options of spark-submit that have a value, by their keys in the block."""
        keys = "class jars packages exclude_packages repositories py_files files archives principal keytab proxy_user"
        for key in (*keys.split(), "deploy_mode"):
            value = self.main_class if key == "class" else getattr(self, key)
            if value:
                yield key, value if isinstance(value, str) else ",".join(value)

    def readings(self) -> dict[str, ResponsePattern]:
        return {
            name: ResponsePattern(pattern=given) if isinstance(given, str) else given
            for name, given in self.responses.items()
        }


def read_block(study: Study) -> CommandBlock:
    """The block of a study. Raises StudyError with its line."""
    if not study.options:
        raise StudyError(
            f"{study.where('workload')}workload {study.workload!r} does not say what to submit",
            hint=_EXAMPLES["application"],
        )
    try:
        return CommandBlock.model_validate(dict(study.options))
    except ValidationError as error:
        raise _complaint(study, error) from error


def _complaint(study: Study, error: ValidationError) -> StudyError:
    # A mistyped key explains one that is missing; of a union, what fits best goes wrong deepest.
    unknown = [one for one in error.errors() if one["type"] == "extra_forbidden"]
    first = (unknown or error.errors())[0]
    if first["loc"][0] == "responses":
        first = max((one for one in error.errors() if one["loc"][:2] == first["loc"][:2]), key=lambda o: len(o["loc"]))
    keys = [str(part) for part in first["loc"] if str(part) not in ("str", "ResponsePattern")]
    place = next((w for end in range(len(keys), -1, -1) if (w := study.where(study.workload, *keys[:end]))), "")
    key = ".".join((study.workload, *keys))
    if first["type"] == "extra_forbidden":
        known = tuple((ResponsePattern if len(keys) > 1 else CommandBlock).model_fields)
        names = ["class" if name == "main_class" else name for name in known]
        return StudyError(f"{place}unknown key {key!r}", hint=did_you_mean(keys[-1], names))
    if first["type"] == "missing":
        return StudyError(f"{place}the key {key!r} is missing", hint=_EXAMPLES.get(keys[0], ""))
    message = first["msg"][0].lower() + first["msg"][1:]
    return StudyError(f"{place}{key} = {first['input']!r}: {message}", hint=_EXAMPLES.get(keys[0], ""))


def compile_pattern(name: str, text: str) -> re.Pattern[str]:
    """A pattern with one group for the number. Raises StudyError for any other."""
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise StudyError(
            f"{text!r} is not a regular expression: {error}", hint="write \\( to match a literal parenthesis"
        ) from error
    groups = pattern.groups - (_EPOCH in pattern.groupindex)
    if groups == 1:
        return pattern
    if not groups:
        raise StudyError(
            f"the pattern {text!r} has no group around the number", hint=f"e.g. {name}: '{name} = ([0-9.]+)'"
        )
    raise StudyError(
        f"the pattern {text!r} has {groups} groups, but only one can be the number",
        hint="use (?:...) for the others; the only extra group allowed is (?P<epoch>...)",
    )
