"""Tokens, from the command line: whoever can write the store may make them."""

import time

from sparkcast.errors import StudyError
from sparkcast.store import open_store
from sparkcast.store.service import SCOPES, ServiceRows, TokenAnswer, service_url


def change_tokens(
    store: str, action: str, name: str = "", *, scope: str = "read", team: str = "", days: float | None = None
) -> TokenAnswer:
    """`action`: add, list or revoke."""
    if action not in ("add", "list", "revoke"):
        raise StudyError(f"tokens cannot be {action!r}", hint="add NAME, list, or revoke NAME")
    if action != "list" and not name:
        raise StudyError(f"`{action}` needs the name of a token", hint=f"sparkcast serve token {action} NAME")
    if scope not in SCOPES:
        raise StudyError(f"there is no scope {scope!r}", hint=f"one of {', '.join(SCOPES)}")
    if days is not None and not 0 < days < 36500:
        raise StudyError(f"{days:g} days are no life of a token", hint="e.g. 90")
    open_store(store).close()  # says what is wrong with it
    rows = ServiceRows(service_url(store))
    try:
        if action == "add":
            until = None if days is None else time.time() + days * 86400
            secret = rows.add_token(name, scope, team=team, expires_at=until)
            return TokenAnswer(tuple(one for one in rows.tokens() if one.name == name), secret)
        if action == "revoke":
            rows.revoke_token(name)
        return TokenAnswer(tuple(one for one in rows.tokens() if not name or one.name == name))
    finally:
        rows.close()
