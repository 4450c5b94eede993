"""Tokens of a service, in words."""

import time
from typing import TYPE_CHECKING

from sparkcast.text._page import Page

if TYPE_CHECKING:
    from sparkcast.store.service import Token, TokenAnswer


def write(page: Page, result: "TokenAnswer") -> None:
    tokens = result.tokens
    if result.secret:
        page.verbatim(result.secret)
        page.say("keep it now: it is not stored, and not shown again")
        return
    if not tokens:
        page.tell("There are no tokens.")
        return
    rows = [[one.name, one.scope, one.team or "all", _state(one)] for one in tokens]
    page.table("Tokens", ["name", "scope", "team", "state"], rows)


def _state(token: "Token") -> str:
    if token.revoked_at is not None:
        return "revoked"
    if token.expires_at is None:
        return "valid"
    day = time.strftime("%Y-%m-%d", time.gmtime(token.expires_at))
    return f"valid until {day}" if token.is_valid(time.time()) else f"expired {day}"
