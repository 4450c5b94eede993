"""What spark-submit says of a driver that the cluster runs: its id, and how it ended.

Its exit code alone does not tell: on a standalone cluster and on Kubernetes it is 0 also when the driver failed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from sparkcast.engines.handle import Exit

_KILLED = "the driver was killed on the cluster"


@dataclass(frozen=True, slots=True)
class DriverState:
    id: str = ""  # by which the cluster knows it; "" as long as it has none
    exit: Exit | None = None  # as far as it was said how it ended


Reader = Callable[[str], DriverState]

_STANDALONE_ID = re.compile(r"[Ss]ubmitted as (driver-[\w-]+)")
_STANDALONE_STATE = re.compile(r"State of (?:driver )?driver-[\w-]+ is (\w+)")


def read_standalone(text: str) -> DriverState:
    """
    >>> read_standalone("INFO ClientEndpoint: State of driver-20261119014500-0003 is FAILED").exit
    Exit(code=1, lost_because='')
    """
    states = _STANDALONE_STATE.findall(text)
    ends = {"FINISHED": Exit(0), "FAILED": Exit(1), "ERROR": Exit(1), "KILLED": Exit(143, _KILLED)}
    return DriverState(_last(_STANDALONE_ID, text), ends.get(states[-1]) if states else None)


_YARN_ID = re.compile(r"[Aa]pplication (?:report for )?(application_\d+_\d+)")
_YARN_STATE = re.compile(r"Application report for application_\d+_\d+ \(state: (\w+)\)")
_YARN_STATUS = re.compile(r"^\s*final status: (\w+)", re.MULTILINE)


def read_yarn(text: str) -> DriverState:
    state, status = _last(_YARN_STATE, text), _last(_YARN_STATUS, text)
    end = None
    if "KILLED" in (state, status):
        end = Exit(143, _KILLED)
    elif "FAILED" in (state, status):
        end = Exit(1)
    elif state == "FINISHED" and status == "SUCCEEDED":
        end = Exit(0)
    return DriverState(_last(_YARN_ID, text), end)


_POD = re.compile(r"^\s*pod name: (\S+)\s+namespace: (\S+)", re.MULTILINE)
_PHASE = re.compile(r"\(phase: (\w+)\)|^\s*phase: (\w+)", re.MULTILINE)
_FINAL = re.compile(r"Container final statuses:(.*?)(?:^\S|\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"exit code: (\d+)", re.IGNORECASE)


def read_kubernetes(text: str) -> DriverState:
    pods = _POD.findall(text)
    name = f"{pods[-1][1]}:{pods[-1][0]}" if pods else ""
    phases = [first or second for first, second in _PHASE.findall(text)]
    codes = [int(code) for block in _FINAL.findall(text) for code in _CODE.findall(block)]
    if codes:  # a container beside the driver's may have failed, too: the phase of the pod says what counts
        worst = next((code for code in codes if code), 0)
        return DriverState(name, Exit(0) if phases and phases[-1] == "Succeeded" else Exit(worst))
    ends = {"Succeeded": Exit(0), "Failed": Exit(1)}
    return DriverState(name, ends.get(phases[-1]) if phases else None)


def _last(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.findall(text)
    return str(found[-1]) if found else ""
