"""A job that was measured in public often enough to learn it from a few runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sparkcast.study import Dataset, Kind, Observation, Response, Setting, Vocabulary

SECONDS = Response("time_s", kind=Kind.TIME)
ACCURACY = Response("accuracy", kind=Kind.SHARE, better="more")


@dataclass(frozen=True, slots=True)
class Job:
    data_set: str
    name: str
    data: Dataset
    response: str
    work: tuple[str, ...] = ()  # factors that say what is to be done; the others say by what means

    @property
    def label(self) -> str:
        return f"{self.data_set} {self.name}"


def job_of(
    data_set: str,
    name: str,
    runs: Any,
    settings: Sequence[Setting],
    response: Response = SECONDS,
    *,
    work: Sequence[Setting] = (),
) -> Job:
    """Repeats of a configuration stay repeats. A setting that a job never varies is no factor of it."""
    varied = [setting for setting in settings if runs[setting.name].nunique() > 1]
    factors = tuple(setting.name for setting in varied)
    observations = tuple(
        Observation(dict(zip(factors, levels, strict=True)), {response.name: float(value)})
        for *levels, value in runs[[*factors, response.name]].to_numpy(dtype=object).tolist()
    )
    words = Vocabulary(tuple(varied), (response,))
    data = Dataset(factors, observations, f"{data_set} {name}", (response.name,), words)
    return Job(data_set, name, data, response.name, tuple(s.name for s in work if s in varied))
