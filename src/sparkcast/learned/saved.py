"""Model files: the runs, and how models learn from them. Whoever reads one trains the models again.

A file is one JSON document with a hash of its content. It names a model and its settings and holds data, never code or
objects, so that reading it can run nothing. Training gives the same model for the same runs, to the last digit, on any
number of threads; where another sparkcast or other libraries give another one, the reader is told.
"""

import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from sparkcast import __version__
from sparkcast.data.sources import MODEL_FORMAT, Data
from sparkcast.errors import NotEnoughDataError, SparkcastError, StudyError
from sparkcast.learned.grid_search import Settings, space_of
from sparkcast.learned.knowledge import Knowledge
from sparkcast.models import MODELS, Predictor
from sparkcast.plain import from_plain, to_json, to_plain
from sparkcast.registry import did_you_mean
from sparkcast.study import Configuration, Dataset, Listed, Observation, Price, Space
from sparkcast.study.paths import no_such_file
from sparkcast.units import show_percent

SCHEMA = 4
_FIT_AGAIN = "recreate it: `api.save_model(api.fit(DATA).model, FILE)`"
_PROBES = 3
_SAME = 1e-9  # predictions that differ less, relatively, are the same


@dataclass(frozen=True)
class SavedModel(Knowledge):
    """What `fit` learned: models of some responses, with settings of their own where a search chose them."""

    trained: tuple[str, ...] = ()  # responses
    grid: str = ""  # among whose settings was searched
    settings: Mapping[str, Settings] = field(default_factory=dict)  # that were found, by response
    notes: tuple[str, ...] = ()  # what the reader of its file should know

    @cached_property
    def responses(self) -> tuple[str, ...]:
        return self.trained

    def predictor(self, response: str) -> Predictor:
        if response not in self.settings:
            return super().predictor(response)
        return space_of(self.grid, self.model).model(self.settings[response])

    def _require(self, response: str) -> None:
        if response not in self.trained:
            hint = did_you_mean(response, self.trained)
            raise StudyError(f"the model file has no model of {response!r}", hint=hint)


@dataclass(frozen=True, slots=True)
class _Probe:
    """A question with the answer it had when the file was written."""

    configuration: Configuration
    prediction: float


@dataclass(frozen=True, slots=True)
class _Content:
    created: str  # ISO 8601
    versions: Mapping[str, str]  # of what it was written with
    model: str
    trained: tuple[str, ...]
    grid: str
    settings: Mapping[str, Mapping[str, Any]]
    probes: Mapping[str, tuple[_Probe, ...]]
    price: dict[str, Any] | None
    space: dict[str, Any] | None
    candidates: tuple[Configuration, ...] | None  # where they are not those of the data
    data: Dataset


class _File(msgspec.Struct):
    format: str
    schema: int
    sha256: str
    content: msgspec.Raw


# ---------------------------------------------------------------- writing


def save(model: SavedModel, path: Path, *, force: bool = False) -> None:
    """Write a model file, whole or not at all; an existing one is replaced only with `force`."""
    if model.model in MODELS.declaring("replays_logs"):
        raise StudyError(
            f"a model file keeps runs, and {model.model} needs their event logs",
            hint="ask the store of the runs itself, or save another model",
        )
    if path.exists() and not force:
        raise StudyError(f"{str(path)!r} exists", hint="add `force=True` to replace it, or choose another name")
    content = to_json(to_plain(_content_of(model), omit_defaults=True))
    _write(msgspec.json.encode(_File(MODEL_FORMAT, SCHEMA, _hash_of(content), msgspec.Raw(content))), path)


def _content_of(model: SavedModel) -> _Content:
    pool = model.pool
    is_of_data = pool == Data(model.runs).pool()
    return _Content(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=_versions(),
        model=model.model,
        trained=model.trained,
        grid=model.grid,
        settings=model.settings,
        probes={response: _probes(model, response) for response in model.trained},
        price=None if model.price is None else model.price.as_plain(),
        space=pool.as_plain() if isinstance(pool, Space) else None,
        candidates=pool.configurations if isinstance(pool, Listed) and not is_of_data else None,
        data=replace(model.runs, observations=tuple(map(_kept, model.runs.observations))),
    )


def _kept(run: Observation) -> Observation:
    """What answers are made of: no paths, and no excerpts of logs."""
    finite = {name: value for name, value in run.responses.items() if math.isfinite(value)}
    jobs = tuple(replace(job, cause="", artifacts="") for job in run.jobs)
    return replace(run, responses=finite, cause="", artifacts="", run_id="", jobs=jobs, origin=None)


def _probes(model: SavedModel, response: str) -> tuple[_Probe, ...]:
    """Questions with today's answers: under other versions the model is asked again."""
    fitted, found = model.model_of(response)[1], []
    for seen in [seen.configuration for seen in model.about.seen if seen.ok][:_PROBES]:
        try:
            found += [_Probe(seen, *fitted.predict([seen]))]
        except NotEnoughDataError:
            continue
    return tuple(found)


def _versions() -> dict[str, str]:
    return {"sparkcast": __version__} | {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}


def _hash_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


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
    """Read a model file; raises StudyError for one that is damaged, newer or older. Trains nothing yet."""
    try:
        text = path.read_bytes()
    except OSError as error:
        hint = no_such_file(path).hint if isinstance(error, FileNotFoundError) else "is the path right?"
        raise StudyError(f"cannot read {str(path)!r}: {error.strerror}", hint=hint) from error
    try:
        content = from_plain(_Content, msgspec.json.decode(_raw_content(text, path.name)))
        return _compared(_model_of(content), content)
    except SparkcastError:
        raise
    except Exception as error:  # in a file that somebody made up, anything can be wrong
        raise StudyError(f"{path.name} is not a usable model file: {error}", hint=_FIT_AGAIN) from error


def _raw_content(text: bytes, name: str) -> msgspec.Raw:
    if text.startswith(b"PK"):  # a zip, as before schema 4
        raise StudyError(f"{name} is a zip archive: a model of an older sparkcast, or no model", hint=_FIT_AGAIN)
    try:
        file = msgspec.json.decode(text, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StudyError(
            f"{name} is not a sparkcast model file, or is incomplete: {error}", hint="copy it again, or " + _FIT_AGAIN
        ) from error
    if file.format != MODEL_FORMAT:
        raise StudyError(f"{name} is not a sparkcast model file", hint=_FIT_AGAIN)
    if file.schema > SCHEMA:
        raise StudyError(
            f"{name} was written by a newer sparkcast: its schema is {file.schema}, this one reads up to {SCHEMA}",
            hint="upgrade sparkcast, or retrain the model with this version",
        )
    if file.schema < SCHEMA:
        raise StudyError(f"{name} was written by an older sparkcast", hint=_FIT_AGAIN)
    if _hash_of(bytes(file.content)) != file.sha256:
        raise StudyError(f"{name} is damaged", hint="copy it again, or " + _FIT_AGAIN)
    return file.content


def _model_of(content: _Content) -> SavedModel:
    data = content.data
    pool: Space | Listed = Data(data).pool() if content.candidates is None else Listed(content.candidates)
    model = SavedModel(
        data,
        content.model,
        pool if content.space is None else Space.from_plain(content.space),
        None if content.price is None else Price.from_plain(content.price),
        trained=content.trained,
        grid=content.grid,
        settings=content.settings,
    )
    for response in content.trained:
        model.predictor(response)  # says at once which plugin is missing
    return model


def _compared(model: SavedModel, content: _Content) -> SavedModel:
    """With a note when other versions than it was written with make it say something else."""
    here = _versions()
    others = [f"{name} {old}, here {here.get(name)}" for name, old in content.versions.items() if here.get(name) != old]
    if not others:
        return model
    difference = 0.0
    for response, probes in content.probes.items():
        for probe in probes:
            [now] = model.model_of(response)[1].predict([probe.configuration])
            difference = max(difference, abs(now - probe.prediction) / max(abs(probe.prediction), 1e-300))
    if difference <= _SAME:
        return model
    note = f"written with {'; '.join(others)}: its predictions differ by up to {show_percent(difference)}"
    return replace(model, notes=(note,))
