"""Where runs were made: what differs between two environments, as far as it matters for their times."""

import re
from collections.abc import Sequence

from sparkcast.study.observation import Fingerprint
from sparkcast.units import show_bytes

_SAME_MEMORY = 0.05  # kernels and virtual machines keep a little of it for themselves


def is_local(cluster: str) -> bool:
    return kind_of(cluster) in ("embedded", "local", "local-cluster")


def kind_of(cluster: str) -> str:
    """The first word: of "embedded: 2 worker(s) x 1 core(s)", of "local[2]", of "spark://host:7077"."""
    return re.split(r"[:\[]", cluster, maxsplit=1)[0]


def environment_differences(known: Fingerprint, other: Fingerprint) -> dict[str, tuple[str, str]]:
    """What matters for time and differs, as shown to people. What one of the two does not say is not compared.

    Versions of Python, Java and the kernel, and Spark's third number, matter less than the noise between runs.
    """
    pairs = {
        "cpu": (known.cpu, other.cpu),
        "cores": (str(known.cores or ""), str(other.cores or "")),
        "memory": _memory(known, other),
        "Spark": (_minor(known.spark), _minor(other.spark)),
        "cluster": (known.cluster, other.cluster),
        "CPU affinity": (known.affinity, other.affinity),
    }
    return {name: (a, b) for name, (a, b) in pairs.items() if a and b and a != b}


def _memory(known: Fingerprint, other: Fingerprint) -> tuple[str, str]:
    sizes = known.memory_bytes, other.memory_bytes
    if max(sizes) - min(sizes) <= _SAME_MEMORY * max(sizes) or not min(sizes):
        return "", ""
    return show_bytes(sizes[0]), show_bytes(sizes[1])


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def mixed_environments(training: Sequence[Fingerprint]) -> str:
    """What to know of runs from several environments, which are learned from together; "" when all are alike."""
    kinds: list[Fingerprint] = []
    differing: dict[str, None] = {}
    for known in training:
        found = [environment_differences(kind, known) for kind in kinds]
        if all(found):
            kinds.append(known)
            differing |= {name: None for differences in found for name in differences}
    if len(kinds) < 2:
        return ""
    return (
        f"The training runs come from {len(kinds)} environments that differ in {', '.join(differing)}: predictions mix "
        "them."
    )
