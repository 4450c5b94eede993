"""How a run ended, in the words of those who kept the table."""

from collections.abc import Mapping, Sequence

from sparkcast.data.grid import Grid
from sparkcast.study import Outcome
from sparkcast.study.headings import plain_name

OWN = "outcome"
_COLUMNS = ("status", "state", "result", "final_status", "final_state")
_WORDS = {
    **dict.fromkeys("ok success successful succeeded finished completed complete done passed".split(), Outcome.OK),
    **dict.fromkeys("error failed failure fail exception crashed aborted".split(), Outcome.ERROR),
    **dict.fromkeys(("oom", "out of memory", "outofmemory", "oomkilled", "memory"), Outcome.OOM),
    **dict.fromkeys(("timeout", "timed out", "timed_out", "timedout"), Outcome.TIMEOUT),
    **dict.fromkeys("lost killed canceled cancelled preempted interrupted".split(), Outcome.LOST),
}
_FLAGS = ("completed", "success", "succeeded", "successful", "ok", "passed")
_ANSWERS = {
    **dict.fromkeys(("1", "true", "yes", "y"), Outcome.OK),
    **dict.fromkeys(("0", "false", "no", "n"), Outcome.ERROR),
}


def outcome_column(grid: Grid, taken: Sequence[str]) -> str | None:
    """The column that tells how runs ended: our own, or one whose cells all say so."""
    if OWN in grid.header:
        return OWN
    for names, words in ((_COLUMNS, _WORDS), (_FLAGS, _ANSWERS)):
        named = [name for name in grid.header if plain_name(name) in names and name not in taken]
        for name in named:
            if all(cell.casefold() in words for cell in set(grid.cells(name)) if cell):
                return name
    return None


def outcomes(cells: Sequence[str]) -> Mapping[str, Outcome | None]:
    """What each cell says; None where it says nothing that is known. An empty one is an end like others."""
    own = {outcome.value: outcome for outcome in Outcome}
    return {c: own.get(c) or (_WORDS | _ANSWERS).get(c.casefold()) if c else Outcome.OK for c in set(cells)}
