"""How much data an ingested run read from outside: a setting that nobody wrote down and that explains most of its time.

Bytes and records are the same thing twice, so only one of them is varied in a dataset: bytes, unless all runs read the
same of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median

from sparkcast.study import Configuration, Observation, Role, Setting
from sparkcast.study.application import INPUT_BYTES, INPUT_RECORDS

SIZE_SETTINGS = (
    Setting(INPUT_BYTES, role=Role.DATA_SIZE, unit="bytes"),
    Setting(INPUT_RECORDS, role=Role.DATA_SIZE, unit="records"),
)
SIZE_NAMES = tuple(setting.name for setting in SIZE_SETTINGS)
_SAME = 0.005  # sizes that differ by less are one


def told_sizes(run: Observation) -> dict[str, int]:
    """What a run that ended well read. One that failed stopped somewhere on the way."""
    if not run.ok or run.origin is None or not run.origin.is_complete:
        return {}
    told: dict[str, int] = {}
    for name in SIZE_NAMES:
        value = run.configuration.get(name, run.responses.get(name, 0))
        if isinstance(value, int | float) and value > 0:
            told[name] = int(value)
    return told


def with_sizes(runs: Sequence[Observation]) -> list[Observation]:
    """Runs of one job with the sizes as settings, and not as responses.

    Of a run that failed nobody knows how much it would have read: it gets what the job usually reads.
    """
    each = [told_sizes(run) for run in runs]
    usual = {name: _usual(name, each) for name in SIZE_NAMES}
    return [_with(run, told, usual) for run, told in zip(runs, each, strict=True)]


def _usual(name: str, each: Sequence[Mapping[str, int]]) -> int | None:
    known = [told[name] for told in each if name in told]
    return int(median(known)) if known else None


def _with(run: Observation, told: Mapping[str, int], usual: Mapping[str, int | None]) -> Observation:
    sizes = {name: told.get(name, value) for name, value in usual.items() if value is not None}
    others = run.configuration.without(*SIZE_NAMES)
    responses = {name: value for name, value in run.responses.items() if name not in SIZE_NAMES}
    return replace(run, configuration=Configuration({**others, **sizes}), responses=responses)


def varied_sizes(configurations: Sequence[Configuration]) -> tuple[str, ...]:
    """The size that is varied among runs, if any."""
    for name in SIZE_NAMES:
        sizes = [float(level) for one in configurations if isinstance(level := one.get(name), int | float)]
        if sizes and max(sizes) > (1 + _SAME) * min(sizes):
            return (name,)
    return ()


def without_sizes(runs: Sequence[Observation]) -> int:
    """How many runs ended well, and their logs show nothing that was read from outside."""
    return sum(1 for run in runs if run.ok and not told_sizes(run))
