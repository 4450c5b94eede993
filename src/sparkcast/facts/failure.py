"""How an application ended, by the words that Spark, Python and resource managers have for it."""

import re

from sparkcast.eventlogs import LogRead
from sparkcast.study import Outcome

_LONGEST = 160  # characters of a cause
# Who kills for want of memory says so: YARN that a container is beyond its limits, Kubernetes OOMKilled, Spark's own
# executors by exit code 52. Code 137 alone is a SIGKILL from anywhere (a preempted container, an administrator, the
# kernel), and no proof that the settings ask for too little memory, whatever Spark adds ("possible container OOM").
_OOM = re.compile(
    r"OutOfMemoryError|Java heap space|MemoryError\b|exit(?:ed with)? code:? 52\b|Container killed .* memory|"
    r"OOMKilled|can(?:'t|not) allocate memory|unable to allocate [\d.]+ [KMGT]iB|"
    r"exceeding (?:physical |virtual )?memory limits|beyond (?:the )?'?(?:physical|virtual)?'? ?memory limit",
    re.IGNORECASE,
)
_LOST = re.compile(
    r"ExecutorLostFailure|Lost executor|Lost worker|Master removed our application|All masters are unresponsive|"
    r"Disconnected from Spark cluster|SparkContext (?:has been|was) shut ?down|Connection refused|"
    r"exit(?:ed with)? (?:code|status)(?:: ?| is | )137\b|Worker shutting down",
    re.IGNORECASE,
)


def is_out_of_memory(text: str) -> bool:
    return _OOM.search(text) is not None


def is_loss(text: str) -> bool:
    """Whether it says that a part of the cluster was lost."""
    return _LOST.search(text) is not None


def outcome_of_failure(text: str) -> Outcome:
    """What made a run fail."""
    if is_out_of_memory(text):
        return Outcome.OOM
    return Outcome.LOST if is_loss(text) else Outcome.ERROR


def outcome_of(log: LogRead) -> tuple[Outcome, str]:
    """As the last job ended, and why; what failed before was tried again, or did not matter."""
    ended = [job for job in log.jobs if job.succeeded is not None]
    last = max(ended, key=lambda job: job.completed_ms, default=None)
    if last is None or last.succeeded:
        return Outcome.OK, ""
    texts = (
        *(job.failure for job in ended),
        *(one.removed_reason for one in log.executors),
        *log.tasks.words["end_detail"],
    )
    return outcome_of_failure("\n".join(texts)), last.failure or "its last job failed"


_MOST_RECENT = re.compile(r"most recent failure: [^\n]*?\): ([^\n]+)")
_RAISED = re.compile(r"^[\w.]*(?:Error|Exception|Exit|Interrupt|Failure)\b[^\n]*", re.MULTILINE)
_ROUTINE = re.compile(r"^(?:Job aborted due to stage failure: |org\.apache\.spark\.SparkException: )+")


def cause_line(cause: str) -> str:
    """One line that says why: of Python the exception, of a task its last failure.

    >>> cause_line("Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, most recent failure: Lost "
    ... "task 1.3 in stage 0.0 (TID 7) (10.0.0.1 executor 2): java.lang.IllegalStateException: no\\n\\tat Job.main")
    'java.lang.IllegalStateException: no'
    """
    if "Traceback (most recent call last)" in cause:
        raised = _RAISED.findall(cause.split("Traceback (most recent call last)", 1)[1])
        if raised:
            return str(raised[0])[:_LONGEST]
    recent = _MOST_RECENT.search(cause)
    line = recent[1] if recent else (cause.strip().splitlines() or [""])[0]
    return _ROUTINE.sub("", line)[:_LONGEST].rstrip(". ")
