"""Asking the master of a standalone cluster what it has. It answers at the address of its web page, /json."""

import json
import logging
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkcast.engines.capacity import ClusterCapacity

_log = logging.getLogger(__name__)
_TIMEOUT_S = 3.0
_MOST_BYTES = 20 * 2**20  # thousands of workers
_MOST_LOG_BYTES = 2**20  # which a worker shows at most
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class MasterState:
    total: ClusterCapacity
    free: ClusterCapacity
    granted: Mapping[str, int]  # cores that running applications have, by their ids


def ask_master(host: str, port: int, web_port: int) -> MasterState | None:
    """What the master at `host`:`port` has now; None when its page does not answer, or is another's."""
    try:
        return parse_state(json.loads(_get(_page(host, web_port))), port)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        _log.debug("%s:%s does not tell what the cluster has: %s", host, web_port, error)
        return None


def ask_driver_output(host: str, web_port: int, driver: str, stream: str) -> bytes:
    """The end of what a driver of the cluster printed, stdout or stderr; b"" when its worker does not show it."""
    try:
        page = json.loads(_get(_page(host, web_port)))
        drivers = [*page.get("activedrivers", ()), *page.get("completeddrivers", ())]
        workers = {str(worker["id"]): str(worker["webuiaddress"]) for worker in page["workers"]}
        ran_on = next(str(one.get("worker", "")) for one in drivers if one["id"] == driver)
        shown = _get(f"{workers[ran_on]}/log/?driverId={driver}&logType={stream}&byteLength={_MOST_LOG_BYTES}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
        _log.debug("%s:%s does not tell what %s printed: %r", host, web_port, driver, error)
        return b""
    title, _, text = shown.partition(b"\n")  # ==== Bytes 0-1024 of 1024 of /work/driver-.../stderr ====
    return text if title.startswith(b"====") else b""


def _page(host: str, web_port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{web_port}/json/"


def _get(url: str) -> bytes:
    """The page is on the cluster's own network, like the master itself: no proxy is between."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=_TIMEOUT_S) as answer:
        return bytes(answer.read(_MOST_BYTES))


def parse_state(page: Mapping[str, Any], port: int) -> MasterState | None:
    """The answer of a master; None when it is not the one that leads, or not that at `port`."""
    if page["status"] != "ALIVE" or not str(page["url"]).endswith(f":{port}"):
        return None
    alive = [worker for worker in page["workers"] if worker["state"] == "ALIVE"]
    return MasterState(
        total=ClusterCapacity.of((int(worker["cores"]), int(worker["memory"]) * _MIB) for worker in alive),
        free=ClusterCapacity.of((int(worker["coresfree"]), int(worker["memoryfree"]) * _MIB) for worker in alive),
        granted={str(application["id"]): int(application["cores"]) for application in page["activeapps"]},
    )
