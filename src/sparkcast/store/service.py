"""What a service keeps in the store beside runs: tokens, posts that were acknowledged, long work, who was told what."""

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from sparkcast.display import Displayed
from sparkcast.errors import BusyError, UnknownNameError
from sparkcast.registry import did_you_mean
from sparkcast.store import schema
from sparkcast.store.database import Database, repeated
from sparkcast.store.rows import keep_run
from sparkcast.study import Observation

SCOPES = ("read", "write", "admin")  # each includes those before it
_OPEN = ("queued", "running")
_MOST_ANSWERS = 10_000  # that were shared

_metadata = sa.MetaData()
tokens = sa.Table(
    "service_tokens",
    _metadata,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("hash", sa.String, nullable=False, unique=True),  # of the token, which nobody keeps
    sa.Column("team", sa.String, nullable=False),  # "" for all teams
    sa.Column("scope", sa.String, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("expires_at", sa.Float),
    sa.Column("revoked_at", sa.Float),
    sa.Column("per_minute", sa.Integer),  # requests; None: as the service says
)
owners = sa.Table(
    "service_owners",
    _metadata,
    sa.Column("study", sa.String, primary_key=True),
    sa.Column("team", sa.String, nullable=False),
)
posts = sa.Table(
    "service_posts",
    _metadata,
    sa.Column("key", sa.String, primary_key=True),  # of the team and what it called the post
    sa.Column("body_hash", sa.String, nullable=False),
    sa.Column("answer", sa.JSON, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
)
work = sa.Table(
    "service_work",
    _metadata,
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("question", sa.JSON, nullable=False),
    sa.Column("team", sa.String, nullable=False),
    sa.Column("state", sa.String, nullable=False),  # queued, running, done, failed, cancelled
    sa.Column("progress", sa.JSON, nullable=False),
    sa.Column("answer", sa.JSON),  # the document, also of a failure
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("ended_at", sa.Float),
)
given = sa.Table(
    "service_answers",
    _metadata,
    sa.Column("key", sa.String, primary_key=True),  # in the address under which an answer was shared
    sa.Column("study", sa.String, nullable=False),
    sa.Column("document", sa.JSON, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
)
audit = sa.Table(
    "service_audit",
    _metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("who", sa.String, nullable=False),  # the name of a token, or where nobody needs one "local"
    sa.Column("team", sa.String, nullable=False),
    sa.Column("what", sa.String, nullable=False),  # method and path
    sa.Column("about", sa.String, nullable=False),  # the study or job
    sa.Column("status", sa.Integer, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Token:
    """Who may ask what. The secret itself is shown once, when it is made."""

    name: str
    team: str  # "" for all
    scope: str
    created_at: float
    expires_at: float | None = None
    revoked_at: float | None = None
    per_minute: int | None = None

    def is_valid(self, now: float) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def allows(self, scope: str) -> bool:
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


@dataclass(frozen=True, slots=True)
class TokenAnswer(Displayed):
    """What became of a token; or all of them."""

    tokens: tuple[Token, ...]
    secret: str = ""  # of a new one: shown this once


@dataclass(frozen=True, slots=True)
class WorkRow:
    """Long work: what was asked, how far it is, and how it ended."""

    id: str
    kind: str
    question: Mapping[str, Any]
    team: str
    state: str
    progress: Mapping[str, Any]
    answer: Mapping[str, Any] | None
    created_at: float
    ended_at: float | None = None

    @property
    def is_open(self) -> bool:
        return self.state in _OPEN


@dataclass(frozen=True, slots=True)
class AuditEntry:
    at: float
    who: str
    team: str
    what: str
    about: str
    status: int


def hash_of(token: str) -> str:
    """Of a secret with 256 random bits, which no list of words finds: a slow hash would add nothing."""
    return sha256(token.encode()).hexdigest()


class ServiceRows:
    """The tables of a service in the database of a store, or in a file of their own."""

    def __init__(self, url: str | sa.URL) -> None:
        self._database = Database(url)
        self._transaction = self._database.transaction
        with self._transaction() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7229738244)"))
            _metadata.create_all(connection)

    def close(self) -> None:
        self._database.close()

    def answers(self) -> None:
        """Raise StoreError where the database does not answer."""
        with self._transaction() as connection:
            connection.execute(sa.text("SELECT 1"))

    # ------------------------------------------------------------ tokens

    def add_token(
        self, name: str, scope: str, *, team: str = "", expires_at: float | None = None, per_minute: int | None = None
    ) -> str:
        """Make a token; returns its secret, which is not kept. Raises BusyError for a name that is taken."""
        secret = f"sct_{secrets.token_urlsafe(32)}"
        row = {"name": name, "hash": hash_of(secret), "team": team, "scope": scope, "created_at": time.time()}
        with self._transaction() as connection:
            if connection.execute(sa.select(tokens.c.name).where(tokens.c.name == name)).first() is not None:
                raise BusyError(f"there is a token {name!r}", hint="choose another name; revoked ones keep theirs")
            connection.execute(tokens.insert().values(**row, expires_at=expires_at, per_minute=per_minute))
        return secret

    def tokens(self) -> tuple[Token, ...]:
        return tuple(token for _, token in self._tokens())

    def tokens_by_hash(self) -> dict[str, Token]:
        return dict(self._tokens())

    def _tokens(self) -> list[tuple[str, Token]]:
        with self._transaction() as connection:
            rows = connection.execute(sa.select(tokens).order_by(tokens.c.created_at)).mappings().all()
        return [(row["hash"], Token(**{k: v for k, v in row.items() if k != "hash"})) for row in rows]

    def revoke_token(self, name: str) -> None:
        with self._transaction() as connection:
            known = tuple(connection.execute(sa.select(tokens.c.name)).scalars())
            if name not in known:
                raise UnknownNameError(f"no token is named {name!r}", hint=did_you_mean(name, known))
            update = tokens.update().where(tokens.c.name == name, tokens.c.revoked_at.is_(None))
            connection.execute(update.values(revoked_at=time.time()))

    # ------------------------------------------------------------ whose a study is

    def owners(self) -> dict[str, str]:
        """The team of each study that belongs to one."""
        with self._transaction() as connection:
            return {row.study: row.team for row in connection.execute(sa.select(owners))}

    def give(self, study: str, team: str) -> None:
        """Make a study a team's; "" makes it everybody's."""
        with self._transaction() as connection:
            connection.execute(owners.delete().where(owners.c.study == study))
            if team:
                connection.execute(owners.insert().values(study=study, team=team))

    # ------------------------------------------------------------ observations from outside

    @repeated
    def append(
        self,
        study: str,
        definition: Mapping[str, Any],
        runs: Sequence[Observation],
        *,
        key: str,
        body_hash: str,
        answer: Mapping[str, Any],
        team: str = "",
    ) -> tuple[Mapping[str, Any], bool]:
        """Keep runs and the answer to whoever posted them, all or nothing.

        Returns the answer, and whether these runs are new: the same post again gets the first answer, and keeps
        nothing. Raises BusyError where the key stands for another post.
        """
        with self._transaction() as connection:
            known = connection.execute(sa.select(posts).where(posts.c.key == key)).first()
            if known is not None:
                if known.body_hash != body_hash:
                    raise BusyError(
                        "this idempotency key was used for another body", hint="use a new key for each new post"
                    )
                return known.answer, False
            values = {"body_hash": body_hash, "answer": dict(answer), "created_at": time.time()}
            connection.execute(posts.insert().values(key=key, **values))
            if (
                connection.execute(sa.select(schema.studies.c.name).where(schema.studies.c.name == study)).first()
                is None
            ):
                row = {"name": study, "definition": dict(definition), "created_at": time.time()}
                connection.execute(schema.studies.insert().values(row))
                if team:
                    connection.execute(owners.insert().values(study=study, team=team))
            for run in runs:
                self._require_free(connection, study, run.run_id)
                keep_run(connection, study, run)
        return answer, True

    def _require_free(self, connection: Connection, study: str, run_id: str) -> None:
        kept = schema.observations.c
        same = sa.select(kept.trial_id).where(kept.study == study, kept.run_id == run_id)
        found = connection.execute(same).first()
        if found is not None:
            raise BusyError(
                f"study {study!r} has a run {run_id!r} already", hint="leave out `run_id`, or post under a new one"
            )

    def revision(self, study: str) -> str:
        """Differs when runs of a study came in or were replaced; the same text says little: it may miss a change."""
        kept = schema.observations.c
        counted = sa.select(
            sa.func.count(), sa.func.sum(sa.cast(kept.is_final, sa.Integer)), sa.func.max(kept.started_at)
        )
        with self._transaction() as connection:
            return json.dumps([*connection.execute(counted.where(kept.study == study)).one()])

    def revisions(self) -> dict[str, str]:
        """The same of all studies, by one question."""
        kept = schema.observations.c
        counted = sa.select(
            kept.study, sa.func.count(), sa.func.sum(sa.cast(kept.is_final, sa.Integer)), sa.func.max(kept.started_at)
        )
        with self._transaction() as connection:
            return {study: json.dumps(found) for study, *found in connection.execute(counted.group_by(kept.study))}

    # ------------------------------------------------------------ long work

    def add_work(self, kind: str, question: Mapping[str, Any], team: str) -> WorkRow:
        row = WorkRow(secrets.token_hex(8), kind, question, team, "queued", {}, None, time.time())
        with self._transaction() as connection:
            values = {"question": dict(question), "progress": {}, "created_at": row.created_at}
            connection.execute(work.insert().values(id=row.id, kind=kind, team=team, state="queued", **values))
        return row

    def work(self, work_id: str) -> WorkRow:
        with self._transaction() as connection:
            found = connection.execute(sa.select(work).where(work.c.id == work_id)).mappings().first()
        if found is None:
            raise UnknownNameError(f"no work has the id {work_id!r}", hint="finished work is kept for a week")
        return WorkRow(**found)

    def open_work(self) -> tuple[WorkRow, ...]:
        """What is queued, or was left running by a service that ended."""
        query = sa.select(work).where(work.c.state.in_(_OPEN)).order_by(work.c.created_at)
        with self._transaction() as connection:
            return tuple(WorkRow(**row) for row in connection.execute(query).mappings())

    def note_work(self, work_id: str, progress: Mapping[str, Any]) -> None:
        """It runs, and is so far."""
        match = (work.c.id == work_id) & work.c.state.in_(_OPEN)
        with self._transaction() as connection:
            connection.execute(work.update().where(match).values(state="running", progress=dict(progress)))

    def end_work(self, work_id: str, state: str, answer: Mapping[str, Any] | None = None) -> bool:
        """Whether it was open until now: what was cancelled stays so."""
        match = (work.c.id == work_id) & work.c.state.in_(_OPEN)
        with self._transaction() as connection:
            update = work.update().where(match).values(state=state, answer=answer, ended_at=time.time())
            return bool(connection.execute(update).rowcount)

    def forget_work(self, older_than: float) -> None:
        with self._transaction() as connection:
            connection.execute(work.delete().where(work.c.ended_at < older_than))

    # ------------------------------------------------------------ answers that were shared

    def keep_answer(self, key: str, study: str, document: Mapping[str, Any]) -> None:
        """An answer as it was given; that of a key which is known stays. Of very many the oldest are forgotten."""
        with self._transaction() as connection:
            if connection.execute(sa.select(given.c.key).where(given.c.key == key)).first() is not None:
                return
            now = time.time()
            connection.execute(given.insert().values(key=key, study=study, document=dict(document), created_at=now))
            latest = sa.select(given.c.created_at).order_by(given.c.created_at.desc()).offset(_MOST_ANSWERS).limit(1)
            if (oldest := connection.execute(latest).scalar()) is not None:
                connection.execute(given.delete().where(given.c.created_at <= oldest))

    def kept_answer(self, key: str) -> tuple[str, Mapping[str, Any]]:
        """The study that it is about, and the answer."""
        with self._transaction() as connection:
            found = connection.execute(sa.select(given).where(given.c.key == key)).first()
        if found is None:
            raise UnknownNameError(f"no answer was kept as {key!r}", hint="copy the link again from the page")
        return found.study, found.document

    # ------------------------------------------------------------ who was told what

    def note_audit(self, entries: Sequence[AuditEntry]) -> None:
        if not entries:
            return
        names = ("at", "who", "team", "what", "about", "status")
        with self._transaction() as connection:
            connection.execute(audit.insert(), [{name: getattr(one, name) for name in names} for one in entries])

    def audited(self, *, last: int = 100) -> tuple[AuditEntry, ...]:
        """The latest first."""
        query = sa.select(audit).order_by(audit.c.id.desc()).limit(last)
        with self._transaction() as connection:
            rows = connection.execute(query).mappings().all()
        return tuple(AuditEntry(**{k: v for k, v in row.items() if k != "id"}) for row in rows)


def service_url(store: str) -> str | sa.URL:
    """Where the tables of a service of this store are."""
    from pathlib import Path

    if "://" in store:
        return store
    path = Path(store)
    file = path / "store.sqlite" if path.is_dir() else path
    return sa.URL.create("sqlite", database=str(file))
