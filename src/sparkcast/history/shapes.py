"""Which runs of one name are one job: by what they do, and by which of them recur on their own.

Runs that do the same, as asked the same way, are first put together. Two such groups are then one job or two:

- They take turns: no run of one falls between runs of the other. A new version, or other settings: one job, unless
  they have next to nothing in common.
- Each recurs at its own interval, and together they are no more regular: two jobs, however alike. If together they
  are more regular than apart, one runs in place of the other, as on weekends, or as adaptive execution and sizes of
  tables have it: one job.
- Where no interval tells, they are one job when they have more in common than not.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from statistics import median

from sparkcast.study import AppRecord, Observation

_NEAR = 0.15  # of an interval
_REGULAR = 0.75  # share of gaps that are one interval
_MORE = 0.1  # by which this share has to be higher
_FEWEST = 3  # runs of which an interval can be told
_ALIKE, _SINGLE_ALIKE, _NEXT_VERSION = 0.5, 0.8, 0.3  # in common
_MOST_COMPARED = 60  # groups that a run is compared with
_CHANGING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+")
_FLAGS = re.compile(r"\s--?conf\s+\S+|\s--(?:num-executors|executor-\w+|driver-memory|properties-file)[= ]\S+")


@dataclass(slots=True)
class Variant:
    """Runs that do the same."""

    runs: list[Observation]
    shape: Mapping[str, int]
    told: Mapping[str, object]  # what else they have in common

    @property
    def times(self) -> list[float]:
        return sorted(run.started_at for run in self.runs if run.started_at)


@dataclass
class Group:
    """Variants that are one job."""

    variants: list[Variant]
    reasons: list[str] = field(default_factory=list)

    @property
    def runs(self) -> list[Observation]:
        return [run for one in self.variants for run in one.runs]

    @cached_property
    def times(self) -> list[float]:
        return sorted(time for one in self.variants for time in one.times)

    def with_variant(self, variant: Variant, reason: str) -> "Group":
        reasons = [*self.reasons, reason] if reason not in self.reasons else self.reasons
        return Group([*self.variants, variant], reasons)

    @property
    def shape(self) -> Mapping[str, int]:
        """Of the variant with the most runs."""
        return max(self.variants, key=lambda one: len(one.runs)).shape

    @property
    def mark(self) -> str:
        """The same whenever it is asked for, as long as its first run is there."""
        first = min(self.variants, key=lambda one: min(one.times, default=0.0))
        told = repr((sorted(first.shape.items()), sorted(first.told.items(), key=lambda one: one[0])))
        return hashlib.sha256(told.encode()).hexdigest()[:8]


def groups_of(runs: Sequence[Observation], names: Mapping[str, str]) -> list[Group]:
    """The jobs among runs of one name, in the order in which they first ran. `names`: by run id, less dates and ids."""
    names = names if _numbers_mean_something(runs, names) else {}
    whole = [run for run in runs if _is_whole(run)]
    rest = [run for run in runs if not _is_whole(run)]
    groups: list[Group] = []
    for variant in sorted(_variants(whole, names), key=lambda one: (-len(one.runs), min(one.times, default=0.0))):
        _place(variant, groups)
    for run in rest:
        _place_part(run, groups, names)
    return sorted(groups, key=lambda group: group.times[0] if group.times else math.inf)


def _is_whole(run: Observation) -> bool:
    """Whether it did all that its job does: one that failed or goes on did only a part."""
    is_over = run.ok and run.origin is not None and run.origin.is_complete
    return is_over and run.record is not None and bool(run.record.shape)


def _numbers_mean_something(runs: Sequence[Observation], names: Mapping[str, str]) -> bool:
    """Whether numbers at the end of names come again, as a country's would; a counter's never do."""
    distinct = {names.get(run.run_id, "") for run in runs}
    return 1 < len(distinct) <= len(runs) / 2


def _variants(runs: Iterable[Observation], names: Mapping[str, str]) -> list[Variant]:
    found: dict[str, Variant] = {}
    for run in runs:
        assert run.record is not None
        told = _told(run.record, names.get(run.run_id, ""))
        key = repr((sorted(run.record.shape.items()), sorted(told.items(), key=lambda one: one[0])))
        found.setdefault(key, Variant([], run.record.shape, told)).runs.append(run)
    return list(found.values())


def _told(record: AppRecord, name: str) -> dict[str, object]:
    given = record.properties.get
    asked = tuple(given(f"spark.executor.{one}", "") for one in ("cores", "memory", "instances"))
    return {
        "its name": name,
        "the user": record.user,
        "the command": _CHANGING.sub("#", _FLAGS.sub("", record.command_line)),
        "where it reads": tuple(dict.fromkeys(_CHANGING.sub("#", one.path) for one in record.sources)),
        "the order of its queries": tuple(dict.fromkeys(query.shape for query in record.queries)),
        "the executors asked for": asked,
    }


# ---------------------------------------------------------------- one or two


def _place(variant: Variant, groups: list[Group]) -> None:
    """Into the group that it is of, or into one of its own."""
    near = sorted(groups, key=lambda group: -in_common(variant.shape, group.shape))[:_MOST_COMPARED]
    compared = [(group, *_compare(variant, group)) for group in near]
    same = [(group, reason) for group, reason, is_same in compared if is_same]
    if not same:
        groups.append(Group([variant], [compared[0][1]] if compared else []))
        return
    # Of several that it could be of, the one with which it recurs best.
    group, reason = max(same, key=lambda one: _belonging(variant, one[0]))
    groups[groups.index(group)] = group.with_variant(variant, reason)


def _belonging(variant: Variant, group: Group) -> float:
    together = regularity(sorted([*variant.times, *group.times])) or 0.0
    return in_common(variant.shape, group.shape) + together


def _compare(variant: Variant, group: Group) -> tuple[str, bool]:
    """Why they are one job or two, and whether they are one."""
    common = max(in_common(variant.shape, one.shape) for one in group.variants)
    share = f"{100 * common:.0f}% of operators and stages in common"
    what = _difference(variant, group)
    own, others = variant.times, group.times
    if not own or not others:
        return share, common >= _ALIKE
    if own[0] > others[-1] or own[-1] < others[0]:
        return f"runs before and after a change of {what}, {share}", common >= _NEXT_VERSION
    mine, theirs = regularity(own), regularity(others)
    both = regularity(sorted([*own, *others])) or 0.0
    if mine is not None and theirs is not None:
        least = min(mine, theirs)
        if least >= _REGULAR and both <= least + _MORE:
            return f"apart from others by {what}: each recurs at its own interval, {share}", False
        if both >= _REGULAR and both > least + _MORE:
            return f"some runs differ in {what} and run in place of others, {share}", common >= _NEXT_VERSION
    needed = _ALIKE if len(own) >= _FEWEST else _SINGLE_ALIKE
    return f"runs differ in {what}, {share}", common >= needed


def regularity(times: Sequence[float]) -> float | None:
    """The share of gaps between runs that are about as long as the usual one; None of too few runs."""
    if len(times) < _FEWEST:
        return None
    gaps = [after - before for before, after in pairwise(times)]
    usual = median(gaps)
    return sum(abs(gap - usual) <= _NEAR * usual for gap in gaps) / len(gaps) if usual > 0 else 0.0


def in_common(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """What two runs are both made of, of what either is; how often counts less the more often it is."""
    words = {*one, *other}
    if not words:
        return 1.0
    pairs = [(math.log1p(one.get(word, 0)), math.log1p(other.get(word, 0))) for word in words]
    return sum(map(min, pairs)) / sum(map(max, pairs))


def _difference(variant: Variant, group: Group) -> str:
    """What differs most plainly, in words."""
    other = max(group.variants, key=lambda one: in_common(variant.shape, one.shape))
    for word in sorted({*variant.shape} ^ {*other.shape}, key=lambda word: (not word.startswith("Scan"), word)):
        return f"{word!r}"
    for name, value in variant.told.items():
        if value != other.told.get(name):
            return name
    return "how often their operators occur"


# ---------------------------------------------------------------- runs that failed or go on


def _place_part(run: Observation, groups: list[Group], names: Mapping[str, str]) -> None:
    """To the job that does all that it did, was asked for in the same way, and usually begins at this time of day."""
    record = run.record
    shape = {} if record is None else dict(record.shape)
    told = {} if record is None else _told(record, names.get(run.run_id, ""))
    if not groups:
        groups.append(Group([Variant([run], shape, told)]))
        return
    best = max(groups, key=lambda group: _fit(run, shape, told, group))
    best.variants.append(Variant([run], shape, told))
    best.__dict__.pop("times", None)


def _fit(run: Observation, shape: Mapping[str, int], told: Mapping[str, object], group: Group) -> float:
    words = Counter(dict(group.shape))
    held = sum(word in words for word in shape) / len(shape) if shape else 0.5
    alike = max(sum(one.told.get(name) == value for name, value in told.items()) for one in group.variants)
    days = [abs((run.started_at or 0.0) - time) % 86400.0 for time in group.times[-30:]]
    near = min((min(one, 86400.0 - one) for one in days), default=43200.0) / 43200.0
    return held + 0.2 * alike + (1 - near)
