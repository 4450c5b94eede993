"""How many applications a cluster runs now, as its own UI says: a standalone master, or ResourceManager of YARN."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from sparkcast.errors import RunError, StudyError

_TIMEOUT_S = 3.0
_HINT = "give the number itself, or the URL of the UI, such as http://MASTER:8080 or http://RESOURCEMANAGER:8088"


def jobs_running_at(url: str) -> int:
    """Applications that run or wait there. Raises RunError where that cannot be known."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise StudyError(f"{url!r} is not the URL of a cluster's UI", hint=_HINT)
    base = f"{parts.scheme}://{parts.netloc}"
    for path, count in (("/json/", _of_master), ("/ws/v1/cluster/metrics", _of_yarn)):
        if (found := count(_document(base, path))) is not None:
            return found
    raise RunError(f"{base} does not tell how many jobs run", hint=_HINT)


def _document(base: str, path: str) -> Any:
    """None where there is nothing of this kind. Raises RunError where nobody answers."""
    from urllib.error import HTTPError

    try:
        with urlopen(base + path, timeout=_TIMEOUT_S) as answer:
            return json.load(answer)
    except (HTTPError, ValueError):
        return None
    except (URLError, OSError) as error:
        raise RunError(f"{base} does not answer: {getattr(error, 'reason', error)}", hint=_HINT) from None


def _of_master(told: Any) -> int | None:
    apps = told.get("activeapps") if isinstance(told, Mapping) else None
    return len(apps) if isinstance(apps, list) else None


def _of_yarn(told: Any) -> int | None:
    counted = told.get("clusterMetrics") if isinstance(told, Mapping) else None
    if not isinstance(counted, Mapping):
        return None
    numbers = [counted.get(name, 0) for name in ("appsRunning", "appsPending")]
    return sum(numbers) if all(isinstance(number, int) for number in numbers) else None
