"""Who asks, and what they may: tokens of the store, and JWTs of an identity provider."""

import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from sparkcast.errors import SparkcastError
from sparkcast.serve.state import ServiceState
from sparkcast.store.service import SCOPES, AuditEntry, Token, hash_of

_FRESH_S = 2.0  # for which tokens are remembered: so long a revoked one may still be used
_AUDIT_EVERY = 64  # entries that are written together


class AccessError(SparkcastError):
    """Somebody may not ask this."""

    def __init__(self, status: int, problem: str, *, hint: str = "") -> None:
        super().__init__(problem, hint=hint)
        self.exit_code, self.http_status = 2, status


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks."""

    name: str
    team: str  # "" for all teams
    scope: str
    per_minute: int | None = None

    def allows(self, scope: str) -> bool:
        return SCOPES.index(self.scope) >= SCOPES.index(scope)

    def sees(self, owner: str | None) -> bool:
        """Whether a study of this team may be shown; one that is nobody's is everybody's."""
        return not owner or not self.team or owner == self.team


LOCAL = Principal("local", "", "admin")


class Access:
    """Checks who asks, keeps to rates, and notes who was told what."""

    def __init__(self, state: ServiceState, verifier: "Verifier | None" = None) -> None:
        self._state, self._verifier = state, verifier
        self._tokens: Mapping[str, Token] = {}
        self._owners: Mapping[str, str] = {}
        self._read_at = float("-inf")
        self._lock = threading.Lock()
        self._asked: dict[str, deque[float]] = {}
        self._audit: list[AuditEntry] = []

    @property
    def needs_token(self) -> bool:
        """Anybody may ask who has this machine's loopback; everybody else must show a token."""
        return self._state.settings.needs_token

    def who(self, authorization: str | None, cookie: str | None) -> Principal:
        """Raises AccessError with status 401 for nobody, and for a token that is not valid (any more)."""
        secret = cookie or ""
        if authorization is not None:
            kind, _, secret = authorization.partition(" ")
            if kind.lower() != "bearer":
                raise AccessError(401, "only bearer tokens are accepted", hint="Authorization: Bearer TOKEN")
        secret = secret.strip()
        if not secret:
            if self.needs_token:
                raise AccessError(
                    401, "a token is needed", hint="Authorization: Bearer TOKEN; ask who runs the service"
                )
            return LOCAL
        if self._verifier is not None and secret.count(".") == 2:
            return self._verifier.principal(secret)
        self._read()
        token = self._tokens.get(hash_of(secret))
        if token is None:
            raise AccessError(401, "the token is not known", hint="check that it was copied whole")
        if not token.is_valid(time.time()):
            why = "was revoked" if token.revoked_at is not None else "has expired"
            raise AccessError(401, f"the token {why}", hint="ask who runs the service for a new one")
        return Principal(token.name, token.team, token.scope, token.per_minute)

    def of_proxy(self, token: str) -> Principal:
        """Whom a proxy in front has let in: by the JWT that it passes on, verified here as well."""
        if self._verifier is None:
            raise AccessError(401, "no keys are given to verify JWTs")
        return self._verifier.principal(token.strip().removeprefix("Bearer ").strip())

    def require(self, principal: Principal, scope: str) -> None:
        """Raises AccessError with status 403 or 429."""
        if not principal.allows(scope):
            raise AccessError(403, f"this needs a token with scope {scope}", hint=f"yours has scope {principal.scope}")
        most = principal.per_minute or self._state.settings.requests_per_minute
        if principal is LOCAL or most <= 0:
            return
        now = time.monotonic()
        with self._lock:
            asked = self._asked.setdefault(principal.name, deque())
            while asked and now - asked[0] > 60:
                asked.popleft()
            if len(asked) >= most:
                raise AccessError(429, f"more than {most} requests in a minute", hint="wait a minute")
            asked.append(now)

    def owner_of(self, study: str) -> str | None:
        """The team that a study belongs to."""
        self._read()
        return self._owners.get(study)

    def forget(self) -> None:
        """Tokens or owners were changed here: read them again."""
        self._read_at = float("-inf")

    def _read(self) -> None:
        now = time.monotonic()
        if now - self._read_at < _FRESH_S:
            return
        with self._lock:
            if now - self._read_at < _FRESH_S:
                return
            self._tokens, self._owners = self._state.rows.tokens_by_hash(), self._state.rows.owners()
            self._read_at = now

    # ------------------------------------------------------------ who was told what

    def note(self, principal: Principal, what: str, about: str, status: int) -> None:
        with self._lock:
            self._audit.append(AuditEntry(time.time(), principal.name, principal.team, what, about, status))
            if len(self._audit) < _AUDIT_EVERY:
                return
        self.write_audit()

    def write_audit(self) -> None:
        with self._lock:
            entries, self._audit = self._audit, []
        self._state.rows.note_audit(entries)


class Verifier:
    """Tokens that an identity provider signed (OIDC): of this issuer, for this service."""

    def principal(self, token: str) -> Principal:
        raise NotImplementedError
