"""A client of the service, of the standard library only: this file alone is enough to ask and to report.

>>> from sparkcast.client import Client
>>> client = Client("http://localhost:8080")                       # doctest: +SKIP
>>> client.recommend("mnist", within="300s")["chosen"]             # doctest: +SKIP
"""

import json
import os
import secrets
import ssl
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

TOKEN = "SPARKCAST_TOKEN"  # the environment variable
Document = dict[str, Any]


class ServiceFailed(Exception):
    """The service refused. `status` is of HTTP; `problem`, `hint` and `nearest` are as the command line has them."""

    def __init__(self, status: int, told: Mapping[str, Any]) -> None:
        self.status, self.code = status, int(told.get("code", 1))
        self.problem, self.hint = str(told.get("problem", "")), str(told.get("hint", ""))
        self.nearest = tuple(told.get("nearest", ()))
        super().__init__(f"{self.problem}\n  hint: {self.hint}" if self.hint else self.problem)


class ServiceDown(Exception):
    """The service did not answer."""


class _NoRedirect(HTTPRedirectHandler):
    """A token is for one service only."""

    def redirect_request(self, *args: Any) -> None:
        return None


class Client:
    """Asks a service at a URL; `token` is by default what SPARKCAST_TOKEN holds."""

    def __init__(
        self, url: str, token: str | None = None, *, timeout_s: float = 10.0, certificates: str | Path | None = None
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"{url!r} is no URL of a service, such as http://localhost:8080")
        self._url, self._timeout_s = url.rstrip("/"), timeout_s
        self._token = token or os.environ.get(TOKEN, "")
        context = ssl.create_default_context(cafile=None if certificates is None else str(certificates))
        self._opener = build_opener(HTTPSHandler(context=context), _NoRedirect())

    # ------------------------------------------------------------ questions

    def studies(self) -> list[Document]:
        """What can be asked about."""
        return list(self._get("/v1/studies")["studies"])

    def study(self, name: str) -> Document:
        """Settings, responses and the model of a study."""
        return self._get(f"/v1/studies/{quote(name)}")

    def predict(self, study: str, at: Mapping[str, Any] | Sequence[Mapping[str, Any]], **options: Any) -> Document:
        """A response at settings that need not have been run: `response`, `level`, `extrapolate`."""
        return self._post("/v1/predict", {"study": study, "at": at, **options})

    def recommend(self, study: str, **question: Any) -> Document:
        """The best settings: `within`, `budget`, `limits`, `maximize`, `minimize`, `fix`, `confidence`, `brief`."""
        return self._post("/v1/recommend", {"study": study, **question})

    def check(self, **question: Any) -> Document:
        """May it start now? `line` of a recurring job, or `study` and `configuration`; `within`, `budget`."""
        return self._post("/v1/check", question)

    def submission(self, study: str, **question: Any) -> Document:
        """What to add to a spark-submit line that has these `properties`."""
        return self._post("/v1/submission", {"study": study, **question})

    def analyze(self, study: str, **options: Any) -> Document:
        """Which settings matter."""
        return self._post("/v1/analyze", {"study": study, **options})

    def queue(self, **question: Any) -> Document:
        """Waiting times and capacity of a shared cluster."""
        return self._post("/v1/queue", question)

    def profile(self, log: str | Path) -> Document:
        """Where the time of one application went, from its event log."""
        return self._call("POST", "/v1/profile", Path(log).read_bytes(), "application/octet-stream")

    def whatif(self, log: str | Path, **query: Any) -> Document:
        """What other clusters would have made of it: `executors="2,4,8"`, `within=300`."""
        asked = "&".join(f"{quote(name)}={quote(str(value))}" for name, value in query.items())
        return self._call("POST", f"/v1/whatif?{asked}", Path(log).read_bytes(), "application/octet-stream")

    # ------------------------------------------------------------ observations

    def append(
        self, study: str, runs: Iterable[Mapping[str, Any]], *, key: str | None = None, tries: int = 5
    ) -> Document:
        """Report finished runs. It is tried again while the service does not answer, and counted once."""
        key, body = key or secrets.token_hex(16), {"runs": [dict(run) for run in runs]}
        pause_s = 0.2
        for left in reversed(range(tries)):
            try:
                return self._post(f"/v1/studies/{quote(study)}/observations", body, {"Idempotency-Key": key})
            except (ServiceDown, ServiceFailed) as error:
                is_passing = isinstance(error, ServiceDown) or error.status in (429, 502, 503)
                if not left or not is_passing:
                    raise
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 5.0)
        raise AssertionError("unreachable")

    # ------------------------------------------------------------ HTTP

    def _get(self, path: str) -> Document:
        return self._call("GET", path)

    def _post(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> Document:
        return self._call("POST", path, json.dumps(body).encode(), "application/json", headers)

    def _call(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        kind: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Document:
        asked = Request(self._url + path, body, {"Content-Type": kind, **(headers or {})}, method=method)
        if self._token:
            asked.add_header("Authorization", f"Bearer {self._token}")
        try:
            with self._opener.open(asked, timeout=self._timeout_s) as answer:
                found: Document = json.load(answer)
                return found
        except HTTPError as error:
            with error:
                raise ServiceFailed(error.code, _told(error.read())) from None
        except (URLError, TimeoutError, ConnectionError, OSError) as error:
            why = getattr(error, "reason", error)
            raise ServiceDown(f"{self._url} does not answer: {why}") from None
        except ValueError:
            raise ServiceDown(f"{self._url} is no sparkcast service: its answer is not JSON") from None


def _told(body: bytes) -> Mapping[str, Any]:
    try:
        return dict(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        return {"problem": body[:200].decode(errors="replace") or "the service refused"}
