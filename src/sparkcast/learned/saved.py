"""Model files: what was learned, in a form that can be read without running anything it says.

A zip with a member `sparkcast.json` that tells what it is. Models of nothing but numbers are in it as plain content
(see `content`), which is read in milliseconds; those with an estimator of scikit-learn inside are in the format of
skops (no pickle either). A file is read only when it is whole, of the schema of this sparkcast, and made of nothing but
dataclasses of `sparkcast.models` and the like, and of what skops trusts. See `standins` for trees and kernels, which it
does not.
"""

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from enum import Enum
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sparkcast.errors import NotEnoughDataError, SparkcastError, StudyError
from sparkcast.fitting.encoding import Domain
from sparkcast.fitting.uncertainty import Distribution
from sparkcast.learned import serialization as plain
from sparkcast.learned.feasibility import Feasibility
from sparkcast.learned.sample import Sample, note_on, sample_of
from sparkcast.models import MODELS, Fitted
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Fingerprint, Outcome, Price, Role, Vocabulary
from sparkcast.study.paths import no_such_file
from sparkcast.study.space import Listed, Pool, Space
from sparkcast.units import show_percent

FORMAT, SCHEMA = "sparkcast-model", 3
_ABOUT, _CONTENT = "sparkcast.json", "schema.json"
_FIT_AGAIN = "recreate it: sparkcast fit DATA --save FILE"
# Compiled code follows the indices in these; `standins` keeps their arrays instead, and checks them.
_UNCHECKED = ("sklearn.tree.", "sklearn.ensemble._forest.", "sklearn.ensemble._gb.", "sklearn.ensemble._hist_")
_MAX_BYTES = 2**30  # unpacked; a small file may claim to be very large
_HOMES = ("sparkcast.study.response", "sparkcast.fitting", "sparkcast.models", "sparkcast.learned")
_PROBES = 3
_SAME = 1e-9  # predictions that differ less, relatively, are the same


@dataclass(frozen=True, slots=True)
class Seen:
    """A configuration that was run, and how its runs ended."""

    configuration: Configuration
    ok: int
    failed: int


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """The model of one response, and how much it has seen."""

    model: str
    runs: int
    configurations: int
    available: int | None = None  # configurations in the data, where these are a sample of them

    @property
    def note(self) -> str | None:
        """What to say of it with every answer."""
        return None if self.available is None else note_on(self.configurations, self.available)


@dataclass(frozen=True, slots=True)
class About:
    """What questions need beside the models, and what people want to know of a file."""

    data: str  # its name
    factors: tuple[str, ...]
    responses: Mapping[str, LearnedFrom]
    runs: int
    fixed: Configuration = field(
        default_factory=Configuration
    )  # settings that are no factors, with one value in every run
    seen: tuple[Seen, ...] = ()
    candidates: tuple[Configuration, ...] = ()  # that a recommendation chooses from; or
    space: Space | None = None  # all that the levels and rules of a study allow
    price: Price | None = None
    fingerprints: tuple[Fingerprint, ...] = ()  # where the runs were made
    vocabulary: Vocabulary = field(default_factory=Vocabulary)  # what all names mean
    sparkcast: str = ""
    created: str = ""  # ISO 8601

    def pool(self) -> Pool:
        """Where candidates come from."""
        return self.space or Listed(self.candidates)


@dataclass(frozen=True, slots=True)
class SavedModel:
    about: About
    fitted: Mapping[str, Fitted]  # by response
    curves: Mapping[str, Distribution] = field(default_factory=dict)  # by response, over the factors and epochs
    feasibility: Feasibility | None = None
    notes: tuple[str, ...] = ()  # what its reader should know

    # What questions ask of it, see `Knowledge`.

    @property
    def runs(self) -> None:
        return None

    @property
    def responses(self) -> tuple[str, ...]:
        return tuple(self.fitted)

    @property
    def last_epoch(self) -> int:
        axes = [axis for curve in self.curves.values() for axis in curve.domain.axes]
        return max((int(axis.numbers[-1]) for axis in axes if axis.role is Role.EPOCHS and axis.numbers), default=0)

    def model_of(self, response: str) -> tuple[str, Fitted]:
        if response not in self.fitted:
            hint = did_you_mean(response, self.responses)
            raise StudyError(f"the model file has no model of {response!r}", hint=hint)
        return self.about.responses[response].model, self.fitted[response]

    def domain_of(self, response: str) -> Domain | None:
        domain = getattr(self.model_of(response)[1], "domain", None)
        return domain if isinstance(domain, Domain) else None

    def has_curve(self, response: str) -> bool:
        return response in self.curves

    def curve_of(self, response: str) -> tuple[str, Fitted]:
        if response not in self.curves:
            raise not_by_epoch(response)
        return "curve", self.curves[response]


def not_by_epoch(response: str) -> NotEnoughDataError:
    return NotEnoughDataError(
        f"the runs do not report {response} per epoch, so the number of epochs cannot be free",
        hint="make the number of epochs a factor, or measure with a workload that reports every epoch",
    )


def seen_in(data: Dataset) -> tuple[Seen, ...]:
    """Every configuration that was run, by its varied settings. A lost run says nothing about settings."""
    counts: dict[Configuration, list[int]] = {}
    for run in data.observations:
        count = counts.setdefault(data.key(run), [0, 0])
        if run.outcome is not Outcome.LOST:
            count[0 if run.ok else 1] += 1
    return tuple(Seen(key, *count) for key, count in counts.items())


def constants_in(data: Dataset) -> Configuration:
    """Settings that are no factors and had one value in every run."""
    if not data.observations:
        return Configuration()
    first = data.observations[0].configuration.without(*data.factors)
    return first.only(n for n in first if all(o.configuration.get(n) == first[n] for o in data.observations))


def fingerprints_in(data: Dataset) -> tuple[Fingerprint, ...]:
    """Where successful runs were made, each place once, in the order they were first used."""
    return tuple(dict.fromkeys(run.fingerprint for run in data.observations if run.ok and run.fingerprint))


def learned_from(sample: Sample, response: str, model: str) -> LearnedFrom:
    n_runs = len(sample.runs.successful(response))
    available = None if sample.is_whole else sample.n_available
    return LearnedFrom(model, n_runs, sample.n_configurations, available)


def about_of(data: Dataset, responses: Iterable[str], model: str) -> About:
    """What is known of models that learned these responses from these runs."""
    return About(
        data=data.name,
        factors=data.factors,
        responses={name: learned_from(sample_of(data, name), name, model) for name in responses},
        runs=len(data.observations),
        fixed=constants_in(data),
        seen=seen_in(data),
        fingerprints=fingerprints_in(data),
        vocabulary=data.vocabulary,
    )


# ---------------------------------------------------------------- writing


def save(
    fitted: Mapping[str, Fitted],
    path: Path,
    *,
    about: About,
    curves: Mapping[str, Distribution] | None = None,
    feasibility: Feasibility | None = None,
    force: bool = False,
) -> None:
    """Write a model file, whole or not at all; an existing one is replaced only with `force`."""
    if path.exists() and not force:
        raise StudyError(f"{str(path)!r} exists", hint="add --force to replace it, or choose another name")
    packed = _packed({"fitted": dict(fitted), "curves": dict(curves or {}), "feasibility": feasibility})
    if foreign := _foreign_types(packed):
        raise StudyError(
            f"this model cannot be saved: it contains {', '.join(foreign)}", hint="choose another one with --model"
        )
    buffer = io.BytesIO(packed)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_ABOUT, _about_bytes(about, fitted))
        archive.comment = _checksum(b"")
    content = buffer.getvalue()[: -len(_checksum(b""))]
    _write(content + _checksum(content), path)


def _checksum(content: bytes) -> bytes:
    """Of all that stands before it: a zip itself only watches over its members, not over what it says of them."""
    return f"{zlib.crc32(content):08x}".encode()


@lru_cache(maxsize=1)
def _skops() -> Any:
    """skops.io. To list what it trusts it imports all of scikit-learn, and with one part of it torch: for seconds."""
    import sys

    sys.meta_path.insert(0, _WithoutTorch)
    try:
        import skops.io
    finally:
        sys.meta_path.remove(_WithoutTorch)
    return skops.io


class _WithoutTorch:
    """Finds modules as where torch is not installed: what needs it is passed over."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "sklearn.externals.array_api_compat.torch":
            raise ImportError(name)


def _packed(content: dict[str, Any]) -> bytes:
    from sparkcast.learned.standins import to_plain

    swapped = to_plain(content)
    try:
        return plain.packed(swapped, _is_ours)
    except plain.NotPlainError:  # skops knows more types, or says what is wrong
        pass
    try:
        return bytes(_skops().dumps(swapped, compression=zipfile.ZIP_DEFLATED))
    except TypeError as error:
        raise StudyError(f"this model cannot be saved: {error}", hint="choose another one with --model") from error


def _about_bytes(about: About, fitted: Mapping[str, Fitted]) -> bytes:
    from datetime import UTC, datetime

    import orjson

    from sparkcast import __version__

    head = {"format": FORMAT, "schema": SCHEMA, "libraries": _libraries()}
    written = {"sparkcast": __version__, "created": datetime.now(UTC).isoformat(timespec="seconds")}
    probes = {response: _probes(model, about.seen) for response, model in fitted.items()}
    options = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY
    told = asdict(replace(about, price=None, space=None, vocabulary=Vocabulary()))
    told |= {"price": about.price and about.price.as_plain(), "space": about.space and about.space.as_plain()}
    told |= {"vocabulary": about.vocabulary.as_plain()}
    return orjson.dumps(head | told | written | {"probes": probes}, option=options, default=dict)


def _libraries() -> dict[str, str]:
    return {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}


def _probes(fitted: Fitted, seen: Sequence[Seen]) -> list[Any]:
    """Questions with today's answers: with other libraries the model is asked again."""
    found: list[Any] = []
    for configuration in [known.configuration for known in seen if known.ok][:_PROBES]:
        try:
            found.append([configuration, *fitted.predict([configuration])])
        except NotEnoughDataError:
            continue
    return found


def _write(content: bytes, path: Path) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise StudyError(
            f"cannot write {str(path)!r}: {error.strerror}",
            hint="choose an existing folder that you can write to",
        ) from error


# ---------------------------------------------------------------- reading


def load(path: Path) -> SavedModel:
    """Read a model file; raises StudyError for one that is damaged, newer, or holds anything it should not."""
    try:
        content = path.read_bytes()
    except OSError as error:
        hint = no_such_file(path).hint if isinstance(error, FileNotFoundError) else "is the path right?"
        raise StudyError(f"cannot read {str(path)!r}: {error.strerror}", hint=hint) from error
    try:
        head = _head(content, path.name)
        if foreign := _foreign_types(content):
            raise StudyError(
                f"{path.name} contains {', '.join(foreign)}, which no sparkcast model file contains",
                hint="do not use a file from someone you do not trust; " + _FIT_AGAIN,
            )
        return _checked(_model(content, head), head)
    except zipfile.BadZipFile as error:
        raise StudyError(
            f"{path.name} is an incomplete model file: {error}", hint="copy it again, or " + _FIT_AGAIN
        ) from error
    except SparkcastError:
        raise
    except Exception as error:  # in a file that somebody made up, anything can be wrong
        raise StudyError(f"{path.name} is not a usable model file: {error!r}", hint=_FIT_AGAIN) from error


def _head(content: bytes, name: str) -> dict[str, Any]:
    import orjson

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if archive.comment and archive.comment != _checksum(content[: -len(archive.comment)]):
            raise StudyError(f"{name} is damaged", hint="copy it again, or " + _FIT_AGAIN)
        if sum(member.file_size for member in archive.infolist()) > _MAX_BYTES:
            raise StudyError(f"{name} would unpack to more than a gigabyte", hint=_FIT_AGAIN)
        if (damaged := archive.testzip()) is not None:
            raise StudyError(f"{name} is damaged in part {damaged!r}", hint="copy it again, or " + _FIT_AGAIN)
        head = orjson.loads(archive.read(_ABOUT)) if _ABOUT in archive.namelist() else None
    if not isinstance(head, dict) or head.get("format") != FORMAT or not isinstance(head.get("schema"), int):
        raise StudyError(f"{name} is not a sparkcast model file", hint=_FIT_AGAIN)
    if head["schema"] > SCHEMA:
        raise StudyError(
            f"{name} was written by a newer sparkcast ({head.get('sparkcast')}): its schema is {head['schema']}, "
            f"this one reads up to {SCHEMA}",
            hint="upgrade sparkcast, or retrain the model with this version",
        )
    if head["schema"] < SCHEMA:
        raise StudyError(f"{name} was written by an older sparkcast ({head.get('sparkcast')})", hint=_FIT_AGAIN)
    return head


def _foreign_types(content: bytes) -> list[str]:
    """The types in a file that are neither ours nor trusted by skops; nothing of the file is built to find out."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if plain.is_plain(archive):
            return sorted(name for name in plain.type_names(archive) if not _is_ours(name))
        named = set(_type_names(json.loads(archive.read(_CONTENT))))  # the parser that skops uses
    untrusted = {name for name in _skops().get_untrusted_types(data=content) if not _is_ours(name)}
    return sorted(untrusted | {name for name in named if name.startswith(_UNCHECKED)})


def _type_names(schema: Any) -> Iterator[str]:
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict) and "__class__" in part:
            yield f"{part.get('__module__')}.{part['__class__']}"
        if isinstance(part, (dict, list)):
            waiting.extend(part.values() if isinstance(part, dict) else part)


def _is_ours(name: str) -> bool:
    """A dataclass or enumeration of ours or of a registered model's package, by the module that defines it."""
    module, _, attribute = name.rpartition(".")
    if not (_lies_in(module, _HOMES) or _lies_in(module, _others())):
        return False
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        return False
    is_kept = isinstance(found, type) and (is_dataclass(found) or issubclass(found, Enum))
    return is_kept and found.__module__ == module


def _lies_in(module: str, homes: Iterable[str]) -> bool:
    return any(module == home or module.startswith(f"{home}.") for home in homes)


def _others() -> set[str]:
    """Packages with models of their own. Whoever installed one trusts it to run already."""
    return {MODELS.get(name).__module__.partition(".")[0] for name in MODELS.names()} - {"sparkcast"}


def _model(content: bytes, head: Mapping[str, Any]) -> SavedModel:
    from sparkcast.learned.standins import from_plain

    parts = from_plain(_parts(content))
    fitted, curves, feasibility = parts["fitted"], parts["curves"], parts["feasibility"]
    about = _about(head)
    if (
        not all(_answers(model) for model in (*fitted.values(), *curves.values()))
        or set(fitted) != set(about.responses)
        or not isinstance(feasibility, Feasibility | None)
    ):
        raise StudyError("the model file does not contain the models it lists", hint=_FIT_AGAIN)
    return SavedModel(about, fitted, curves, feasibility)


def _parts(content: bytes) -> Any:
    import warnings

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if plain.is_plain(archive):
            return plain.unpacked(archive, _is_ours)
    trusted = [name for name in _skops().get_untrusted_types(data=content) if _is_ours(name)]
    with warnings.catch_warnings():
        # scikit-learn warns of every other version; whether that matters is found out by asking, see _checked.
        warnings.simplefilter("ignore")
        return _skops().loads(content, trusted=trusted)


def _answers(model: object) -> bool:
    names = "predict interval probability_below beyond".split()
    return not isinstance(model, type) and all(callable(getattr(model, name, None)) for name in names)


def _about(head: Mapping[str, Any]) -> About:
    return About(
        data=str(head["data"]),
        factors=tuple(str(name) for name in head["factors"]),
        responses={str(name): LearnedFrom(**part) for name, part in head["responses"].items()},
        runs=int(head["runs"]),
        fixed=Configuration(head["fixed"]),
        seen=tuple(Seen(**{**part, "configuration": Configuration(part["configuration"])}) for part in head["seen"]),
        candidates=tuple(Configuration(levels) for levels in head["candidates"]),
        space=None if head.get("space") is None else Space.from_plain(head["space"]),
        price=None if head["price"] is None else Price.from_plain(head["price"]),
        fingerprints=tuple(Fingerprint(**part) for part in head.get("fingerprints", ())),
        vocabulary=Vocabulary.from_plain(head["vocabulary"]),
        sparkcast=str(head["sparkcast"]),
        created=str(head["created"]),
    )


def _checked(model: SavedModel, head: Mapping[str, Any]) -> SavedModel:
    """With a note when other libraries than it was written with make it say something else."""
    here = _libraries()
    others = [
        f"{name} {old}, here {here.get(name)}" for name, old in head["libraries"].items() if here.get(name) != old
    ]
    if not others:
        return model
    difference = 0.0
    for response, probes in head["probes"].items():
        for configuration, before in probes:
            [now] = model.fitted[response].predict([configuration])
            difference = max(difference, abs(now - before) / max(abs(before), 1e-300))
    if difference <= _SAME:
        return model
    note = f"written with {'; '.join(others)}: its predictions differ by up to {show_percent(difference)}; retrain it"
    return replace(model, notes=(note,))
