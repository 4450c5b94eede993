"""JWTs of an identity provider, given by who asks or passed on by a proxy; and TLS."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID
from starlette.testclient import TestClient

from serve_support import asking, free_port, make_store, process_of, settings_of
from sparkcast.client import Client, ServiceDown
from sparkcast.errors import StudyError
from sparkcast.serve.settings import ServeSettings

ISSUER = "https://idp.example.org"
HEADER = "X-Forwarded-Access-Token"
Sign = Callable[..., str]


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture(scope="module")
def sign(key: rsa.RSAPrivateKey) -> Sign:
    def signed(with_key: Any = key, algorithm: str = "RS256", kid: str = "one", **claims: object) -> str:
        told = {"sub": "ada", "iss": ISSUER, "aud": "sparkcast", "exp": time.time() + 60, "scope": "read", "team": "a"}
        kept = {name: value for name, value in {**told, **claims}.items() if value is not None}
        return jwt.encode(kept, with_key, algorithm, headers={"kid": kid})

    return signed


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, key: rsa.RSAPrivateKey) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("jwt")
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    keys = folder / "jwks.json"
    keys.write_text(json.dumps({"keys": [{**public, "kid": "one", "alg": "RS256", "use": "sig"}]}))
    options = {"jwt_keys": keys, "jwt_issuer": ISSUER, "jwt_header": HEADER, "require_token": True}
    with asking(settings_of(make_store(folder), **options)) as found:
        yield found


def test_a_jwt_of_the_provider_is_accepted_with_its_scope_and_team(client: TestClient, sign: Sign) -> None:
    for headers in ({"Authorization": f"Bearer {sign()}"}, {HEADER: sign()}, {HEADER: f"Bearer {sign()}"}):
        assert client.get("/v1/studies", headers=headers).status_code == 200
        assert client.get("/v1/audit", headers=headers).status_code == 403
    run = {"runs": [{"configuration": {"executors": 2}, "responses": {"total_s": 9.0}}]}
    mine = client.post("/v1/studies/theirs/observations", json=run, headers={HEADER: sign(scope="openid write")})
    assert mine.status_code == 201
    seen = client.get("/v1/studies/theirs", headers={HEADER: sign(team="b")})
    assert seen.status_code == 404
    whole = {HEADER: sign(scope="sparkcast:admin", team=None)}
    noted = client.get("/v1/audit", headers=whole).json()["requests"]
    assert "jwt:ada" in {one["who"] for one in noted}


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": time.time() - 100},
        {"exp": None},
        {"iss": "https://evil.example.org"},
        {"iss": None},
        {"aud": "another"},
        {"aud": None},
        {"sub": None},
        {"kid": "two"},
    ],
    ids=lambda claims: "-".join(f"{name}" for name in claims) + ("-none" if None in claims.values() else ""),
)
def test_a_jwt_that_is_not_for_this_service_is_refused(client: TestClient, sign: Sign, claims: dict[str, Any]) -> None:
    assert client.get("/v1/studies", headers={HEADER: sign(**claims)}).status_code == 401


def test_a_jwt_that_somebody_else_signed_is_refused(client: TestClient, sign: Sign, key: rsa.RSAPrivateKey) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    shared = sign(with_key=str(key.public_key().public_numbers().n), algorithm="HS256")  # what everybody knows
    unsigned = jwt.encode({"sub": "ada", "iss": ISSUER, "aud": "sparkcast"}, "", "none", headers={"kid": "one"})
    for token in (sign(with_key=other), shared, unsigned, "not.a.token", "", "sct_nothing"):
        assert client.get("/v1/studies", headers={HEADER: token}).status_code == 401
        assert client.get("/v1/studies", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_a_jwt_without_scope_or_team_may_do_nothing(client: TestClient, sign: Sign) -> None:
    assert client.get("/v1/studies", headers={HEADER: sign(scope="openid profile")}).status_code == 403
    assert client.get("/v1/studies", headers={HEADER: sign(team=None)}).status_code == 403


def test_a_header_of_a_proxy_is_nothing_without_keys(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="only when its JWT is verified"):
        ServeSettings(jwt_header=HEADER)
    with pytest.raises(StudyError, match="one issuer"):
        ServeSettings(jwt_keys=tmp_path / "keys.json")
    with asking(settings_of(make_store(tmp_path), require_token=True)) as client:
        assert client.get("/v1/studies", headers={HEADER: "a.b.c"}).status_code == 401


def _certified(folder: Path) -> tuple[Path, Path]:
    """A certificate for loopback that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "cert.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    no_password = serialization.NoEncryption()
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, no_password))
    return certificate, private


@pytest.mark.slow
def test_the_command_serves_over_tls_and_the_client_checks_the_certificate(tmp_path: Path) -> None:
    certificate, private = _certified(tmp_path)
    port = free_port()
    words = ["--store", make_store(tmp_path), "--port", str(port), "--certificate", str(certificate)]
    url = f"https://localhost:{port}"
    trusting = Client(url, certificates=certificate)
    with process_of([*words, "--key", str(private)], trusting):
        assert trusting.studies()[0]["name"] == "train"
        with pytest.raises(ServiceDown, match="CERTIFICATE_VERIFY_FAILED"):
            Client(url).studies()


def test_a_certificate_without_its_key_is_refused(tmp_path: Path) -> None:
    certificate, _ = _certified(tmp_path)
    with pytest.raises(StudyError, match="TLS needs both"):
        ServeSettings(certificate=certificate)
