"""What worker processes are asked to do: learn models, read logs, replay them, test models."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.eventlogs.codecs import DamagedError, decompressed
from sparkcast.serve.catalog import CatalogEntry
from sparkcast.serve.learning import Learned, learn
from sparkcast.serve.worker import Report
from sparkcast.study import Price
from sparkcast.wire.documents import document_of

_RATIO, _FREE = 150, 4 * 2**20  # as the reader of logs allows: a file that grows more is no event log


@dataclass(frozen=True, slots=True)
class LearnTask:
    entry: CatalogEntry
    model: str

    def __call__(self, report: Report) -> Learned:
        return learn(self.entry, self.model)


@dataclass(frozen=True, slots=True)
class LogTask:
    """`profile` or `whatif` of logs that were uploaded, or that the store knows."""

    kind: str
    logs: tuple[str, ...]
    options: Mapping[str, Any]
    max_log_bytes: int
    is_upload: bool

    def __call__(self, report: Report) -> Any:
        if self.is_upload:
            report({"step": "unpacking"})
            for log in self.logs:
                require_bounded(Path(log), self.max_log_bytes)
        report({"step": "reading the log"})
        try:
            result = self._result()
        except StudyError as error:
            if self.is_upload:  # no name of a file of this machine
                raise StudyError(self._shown(error.problem), hint=self._shown(error.hint)) from None
            raise
        return document_of(self.kind, result)

    def _shown(self, text: str) -> str:
        for number, log in enumerate(self.logs, start=1):
            name = "the log" if len(self.logs) == 1 else f"log {number}"
            text = text.replace(log, name).replace(Path(log).name, name)
        return text

    def _result(self) -> object:
        options = dict(self.options)
        if "price" in options:
            options["price"] = Price(**options["price"])
        if self.kind == "profile":
            return api.compare_profiles(*self.logs) if len(self.logs) == 2 else api.profile(self.logs[0])
        limits = {name: options.pop(name) for name in ("within_s", "budget", "confidence") if name in options}
        if limits.get("within_s") is not None or limits.get("budget") is not None:
            return api.whatif_within(self.logs, **limits, **options)
        return api.whatif(self.logs, **options)


@dataclass(frozen=True, slots=True)
class ValidateTask:
    learned: Learned
    options: Mapping[str, Any]

    def __call__(self, report: Report) -> Any:
        def on_step(*told: object) -> None:
            report({"step": " ".join(map(str, told))})

        return document_of("validate", api.validate(self.learned.data, on_step=on_step, **self.options))


def require_bounded(log: Path, most: int) -> None:
    """Raise StudyError for an upload that unpacks to more than is allowed, before anything reads it."""
    size, packed = 0, log.stat().st_size
    try:
        with log.open("rb") as file:
            for piece in decompressed(file):
                size += len(piece)
                if size > most:
                    raise StudyError(
                        f"the log unpacks to more than {most:,} bytes", hint="run `sparkcast profile` where the log is"
                    )
                if size > _FREE and size > _RATIO * packed:
                    raise StudyError(f"the log unpacks to more than {_RATIO} times its size, as no event log does")
    except DamagedError as error:
        if not size:
            raise StudyError(f"the log is damaged: {error}", hint="upload the file as Spark wrote it") from None
