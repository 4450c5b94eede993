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
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class MasterState:
    total: ClusterCapacity
    free: ClusterCapacity
    granted: Mapping[str, int]  # cores that running applications have, by their ids


def ask_master(host: str, port: int, web_port: int) -> MasterState | None:
    """What the master at `host`:`port` has now; None when its page does not answer, or is another's."""
    url = f"http://{f'[{host}]' if ':' in host else host}:{web_port}/json/"
    # The page is on the cluster's own network, like the master itself: no proxy is between.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_TIMEOUT_S) as answer:
            return parse_state(json.loads(answer.read(_MOST_BYTES)), port)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        _log.debug("%s does not tell what the cluster has: %s", url, error)
        return None


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
