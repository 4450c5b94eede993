"""A run that was made without sparkcast, as it is kept: no trial asked for it, and it fills none."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sparkcast.study.configuration import Level
from sparkcast.study.observation import Epoch, Outcome


@dataclass(frozen=True, slots=True)
class IngestedRun:
    """All that its log told, so that its settings can be put together anew when other runs come in."""

    key: str  # application and attempt
    job: str
    log: str
    size: int  # of the log, bytes: one that has grown is read again
    is_complete: bool  # an application that has not ended has no time yet
    outcome: str = Outcome.OK.value
    cause: str = ""
    started_s: float = 0.0
    settings: Mapping[str, Level] = field(default_factory=dict)  # the cluster's and the job's own
    properties: Mapping[str, str] = field(default_factory=dict)
    responses: Mapping[str, float] = field(default_factory=dict)
    curve: tuple[Epoch, ...] = ()
    spark: str = ""  # its version
    cluster: str = ""
    missing: tuple[str, ...] = ()  # settings that were asked for and that the log does not tell: such a run is not kept
