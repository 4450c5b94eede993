"""How an application ended, by the words that Spark, Python and resource managers have for it."""

import re

from sparkcast.eventlogs import LogRead
from sparkcast.study import Outcome

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
