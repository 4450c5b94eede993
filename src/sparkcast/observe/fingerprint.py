"""Which hardware and software a number came from."""

import functools
import platform
from pathlib import Path

from sparkcast.engines import ClusterFacts
from sparkcast.engines.machine import this_machine
from sparkcast.study import Fingerprint


def fingerprint(facts: ClusterFacts, data: str) -> Fingerprint:
    machine = this_machine()
    return Fingerprint(
        cpu=_cpu_model(),
        cores=machine.cores,
        memory_bytes=machine.memory,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        spark=facts.spark,
        java=facts.java,
        cluster=facts.description,
        data=data,
        affinity=facts.affinity,
    )


@functools.cache
def _cpu_model() -> str:
    # platform.processor() is empty on most Linux systems.
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
