"""Who may ask: tokens, owners of studies, and what was asked."""

import time

from fastapi import APIRouter, Query, Response

from sparkcast.plain import to_plain
from sparkcast.serve.access import AccessError
from sparkcast.serve.gate import COOKIE
from sparkcast.serve.problems import JsonBytes
from sparkcast.serve.v1.bodies import OwnerBody, SessionBody, TokenBody
from sparkcast.serve.v1.common import Ask, Asking, answers, errors

router = APIRouter(prefix="/v1", tags=["access"])


def _whole(ask: Asking) -> None:
    """An administrator of one team does not administer others."""
    if ask.who.team:
        raise AccessError(403, "this needs a token for all teams", hint=f"yours is for team {ask.who.team}")


@router.get("/tokens", responses=answers("", "every token, without its secret"))
def tokens(ask: Ask) -> Response:
    """Names, teams, scopes and ends of all tokens."""
    _whole(ask)
    return JsonBytes({"schema": "sparkcast/tokens/1", "tokens": to_plain(ask.state.rows.tokens())})


@router.post("/tokens", status_code=201, responses={**errors(), 201: {"description": "the token, told this once"}})
def add_token(body: TokenBody, ask: Ask) -> Response:
    """Make a token. Its secret is told in this answer, and never again."""
    _whole(ask)
    until = None if body.days is None else time.time() + body.days * 86400
    secret = ask.state.rows.add_token(
        body.name, body.scope, team=body.team, expires_at=until, per_minute=body.per_minute
    )
    ask.access.forget()
    ask.request.state.about = body.name
    return JsonBytes({"schema": "sparkcast/token/1", "name": body.name, "token": secret}, status_code=201)


@router.delete("/tokens/{name}", responses=answers("", "the token is not valid any more"))
def revoke_token(name: str, ask: Ask) -> Response:
    """Make a token invalid, from now on and for ever."""
    _whole(ask)
    ask.state.rows.revoke_token(name)
    ask.access.forget()
    ask.request.state.about = name
    return JsonBytes({"schema": "sparkcast/revoked/1", "name": name})


@router.put("/owners", responses=answers("", "whose the study is now"))
def give(body: OwnerBody, ask: Ask) -> Response:
    """Make a study a team's own; "" shows it to everybody."""
    _whole(ask)
    ask.entry(body.study)
    ask.state.rows.give(body.study, body.team)
    ask.access.forget()
    return JsonBytes({"schema": "sparkcast/owner/1", "study": body.study, "team": body.team})


@router.get("/audit", responses=answers("", "the latest requests, newest first"))
def audit(ask: Ask, last: int = Query(100, ge=1, le=10_000)) -> Response:
    """Who was told what."""
    _whole(ask)
    ask.access.write_audit()
    return JsonBytes({"schema": "sparkcast/audit/1", "requests": to_plain(ask.state.rows.audited(last=last))})


@router.post("/session", responses=answers("", "a cookie was set"))
def begin_session(body: SessionBody, ask: Ask) -> Response:
    """Keep a token in a cookie that scripts cannot read, for pages."""
    who = ask.access.who(f"Bearer {body.token}", None)
    answer = JsonBytes({"schema": "sparkcast/session/1", "name": who.name, "team": who.team, "scope": who.scope})
    is_secure = ask.request.url.scheme == "https"
    answer.set_cookie(COOKIE, body.token, max_age=43200, httponly=True, samesite="strict", secure=is_secure)
    return answer


@router.delete("/session", responses=answers("", "the cookie was removed"))
def end_session(ask: Ask) -> Response:
    """Forget the cookie."""
    answer = JsonBytes({"schema": "sparkcast/session/1", "name": None})
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return answer
