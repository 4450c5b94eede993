"""How many runs a plan may have: more are a mistake, and listing them would fill the memory."""

from sparkcast.errors import StudyError

MOST_RUNS = 20_000
_INSTEAD = "give fewer levels or replicates, or run some of them: design: {kind: random, runs: 40}"


def require_few_runs(n: int, of_what: str, where: str = "", *, at_least: bool = False) -> None:
    """Raise StudyError for a plan of more runs than anybody makes."""
    if n > MOST_RUNS:
        more_than = "more than " if at_least else ""
        raise StudyError(
            f"{where}{of_what} would be {more_than}{n:,} runs, and a plan has at most {MOST_RUNS:,}", hint=_INSTEAD
        )
