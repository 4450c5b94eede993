"""JWTs of an identity provider. Its keys are a file (JWKS): the service fetches nothing."""

from pathlib import Path
from typing import Any

from sparkcast.errors import StudyError
from sparkcast.serve.access import AccessError, Principal, Verifier
from sparkcast.store.service import SCOPES

_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]  # none with a shared secret


class JwtVerifier(Verifier):
    """The claims `sub` (who), `scope` (read, write, admin: the widest counts) and `team` say who asks."""

    def __init__(self, keys: Path, issuer: str, audience: str) -> None:
        try:
            import jwt
        except ImportError as error:
            raise StudyError("JWTs need PyJWT", hint="pip install 'sparkcast[serve,jwt]'") from error
        self._jwt = jwt
        self._issuer, self._audience = issuer, audience
        try:
            found = jwt.PyJWKSet.from_json(keys.read_text())
        except (OSError, ValueError, jwt.exceptions.PyJWKSetError, jwt.exceptions.PyJWKError) as error:
            raise StudyError(f"{keys} is not a set of keys: {error}", hint="give the JWKS of your provider") from None
        self._keys = {key.key_id: key for key in found.keys}

    def principal(self, token: str) -> Principal:
        claims = self._claims(token)
        asked = str(claims.get("scope", "")).replace("sparkcast:", "").split()
        scopes = [scope for scope in SCOPES if scope in asked]
        if not scopes:
            raise AccessError(403, "the token has no scope of sparkcast", hint="ask for read, write or admin")
        team = str(claims.get("team", ""))
        if not team and "admin" not in scopes:
            raise AccessError(403, "the token names no team", hint="have your provider add the claim `team`")
        return Principal(f"jwt:{claims['sub']}", team, scopes[-1])

    def _claims(self, token: str) -> dict[str, Any]:
        try:
            key = self._keys[self._jwt.get_unverified_header(token)["kid"]]
            found: dict[str, Any] = self._jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self._audience,
                issuer=self._issuer,
                options={"require": ["exp", "sub", "iss", "aud"]},
            )
            return found
        except KeyError:
            raise AccessError(401, "the token was signed with a key that is not known") from None
        except self._jwt.exceptions.PyJWTError as error:
            raise AccessError(401, f"the token is not valid: {error}") from None
