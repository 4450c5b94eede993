"""What a service is started with."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sparkcast.errors import StudyError
from sparkcast.study import Price


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What is served, to whom, and how much a request may bring."""

    sources: tuple[str, ...] = ()  # studies, tables and stores, besides those of `store`
    store: str | None = None  # folder, file or URL; None: that of the first study, else the team's
    host: str = "127.0.0.1"
    port: int = 8080
    certificate: Path | None = None  # of TLS, with its key
    key: Path | None = None
    model: str = "auto"
    max_body_bytes: int = 64 * 2**20  # of an upload, compressed
    max_log_bytes: int = 2**30  # of an upload, decompressed
    max_json_bytes: int = 2**20  # of any other request
    requests_per_minute: int = 6000  # of one token
    refresh_s: float = 2.0  # how often the store is asked for new runs
    workers: int = 1  # processes for long work; 0: in this process
    require_token: bool = False  # also on loopback
    jwt_keys: Path | None = None  # JWKS of an identity provider
    jwt_issuer: str = ""
    jwt_audience: str = "sparkcast"
    jwt_header: str = ""  # in which a proxy passes the JWT of who asks, besides `Authorization`
    price: Price | None = None  # of core-hours, for the pages about recurring jobs
    deadlines: Mapping[str, float] = field(default_factory=dict)  # seconds that a run may take, by job
    allowed_hosts: tuple[str, ...] = ()  # names under which it is reached, besides `host` and those of loopback

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise StudyError(f"port {self.port} does not exist", hint="choose one between 1024 and 65535")
        if (self.certificate is None) != (self.key is None):
            raise StudyError("TLS needs both a certificate and its key", hint="give `certificate=` and `key=`")
        if self.jwt_keys is not None and not self.jwt_issuer:
            raise StudyError(
                "JWTs are accepted of one issuer only", hint="name it: `jwt_issuer=https://idp.example.org`"
            )
        if self.jwt_header and self.jwt_keys is None:
            raise StudyError(
                "a header of a proxy is believed only when its JWT is verified", hint="give `jwt_keys=` too"
            )

    @property
    def needs_token(self) -> bool:
        """Whether nobody is answered without a token."""
        return self.require_token or not self.is_local

    @property
    def is_local(self) -> bool:
        """Whether only this machine can ask."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
