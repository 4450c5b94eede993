"""Answers that a scheduler waits for: looked up in what was learned, with nothing else in between.

What cannot be looked up goes on to the endpoints, whose answers are the same.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from sparkcast.errors import SparkcastError
from sparkcast.plain import to_json
from sparkcast.recommend.brief import choose_briefly
from sparkcast.recommend.question import Question
from sparkcast.recommend.verdict import check_settings
from sparkcast.serve.access import LOCAL, Access
from sparkcast.serve.gate import Asgi, Message, Receive, Scope, Send
from sparkcast.serve.learning import Learned
from sparkcast.serve.problems import JSON
from sparkcast.serve.state import ServiceState
from sparkcast.study import Configuration
from sparkcast.units import parse_seconds
from sparkcast.wire.documents import document_of

_MOST = 16_384  # answers that are kept
_Level = bool | int | float | str


class _FastPredict(msgspec.Struct, forbid_unknown_fields=True):
    study: str
    at: dict[str, _Level]
    response: str | None = None
    level: float = 0.9
    extrapolate: bool = False


class _FastRecommend(msgspec.Struct, forbid_unknown_fields=True):
    study: str
    brief: bool = False
    within: float | str | None = None
    budget: float | None = None
    min_accuracy: float | None = None
    limits: list[str] = []
    confidence: float = 0.95
    maximize: str | None = None
    minimize: str | None = None
    fix: dict[str, _Level] = {}
    most: int = 20


class _FastCheck(msgspec.Struct, forbid_unknown_fields=True):
    study: str
    configuration: dict[str, _Level]
    within: float | str | None = None
    budget: float | None = None
    confidence: float = 0.95
    limits: list[str] = []


class _FastQuestion(NamedTuple):
    study: str
    answer: Callable[[Learned], object | None]
    deadline_s: float | None = None  # that a job is submitted with


_DOCUMENTS = {"/v1/predict": "predict", "/v1/recommend": "recommend brief", "/v1/check": "check settings"}


class FastPath:
    """In front of the endpoints, behind the gate."""

    def __init__(self, app: Asgi, state: ServiceState, access: Access) -> None:
        self._app, self._state, self._access = app, state, access
        self._kept: OrderedDict[tuple[str, bytes, str, float, bool], bytes] = OrderedDict()
        self._predict = msgspec.json.Decoder(_FastPredict)
        self._recommend = msgspec.json.Decoder(_FastRecommend)
        self._check = msgspec.json.Decoder(_FastCheck)
        self._answering: dict[str, Callable[[bytes], _FastQuestion | None]] = {
            "/v1/predict": self._predicting,
            "/v1/recommend": self._recommending,
            "/v1/check": self._checking,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answering = self._answering.get(scope["path"]) if scope["type"] == "http" else None
        if answering is None or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        messages = [await receive()]
        while messages[-1].get("more_body"):
            messages.append(await receive())
        body = messages[0].get("body", b"") if len(messages) == 1 else b"".join(m.get("body", b"") for m in messages)
        answer = self._answer(scope, body) if messages[-1]["type"] == "http.request" else None
        if answer is None:
            await self._app(scope, _again(messages, receive), send)
            return
        headers = [(b"content-type", JSON.encode()), (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    def _answer(self, scope: Scope, body: bytes) -> bytes | None:
        """None for what must go the long way, errors among it."""
        path = scope["path"]
        try:
            asked = self._answering[path](body)
            if asked is None:
                return None
            study = asked.study
            learned = self._state.ready(study)
            owner, who = self._access.owner_of(study), scope.get("state", {}).get("principal", LOCAL)
            if learned is None or learned.is_replayed or not who.sees(owner):
                return None
            if asked.deadline_s is not None:
                self._state.deadlines[study] = asked.deadline_s
            basis = self._state.basis(learned)
            key = (path, body, learned.digest, learned.learned_at, basis.is_current)
            scope.setdefault("state", {})["about"] = study
            scope["endpoint_name"] = path
            if (known := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return known
            result = asked.answer(learned)
            if result is None:
                return None
            answer = to_json(document_of(_DOCUMENTS[path], result, {"basis": basis}))
        except (msgspec.MsgspecError, SparkcastError, ValueError, TypeError):
            return None
        self._kept[key] = answer
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return answer

    def _predicting(self, body: bytes) -> _FastQuestion | None:
        asked = self._predict.decode(body)
        if asked.extrapolate or not 0 < asked.level < 1:
            return None

        def answer(learned: Learned) -> object | None:
            name = learned.data.dataset.vocabulary.time if asked.response is None else asked.response
            tabled = learned.tabled.get(name or "")
            return None if tabled is None else tabled.at(asked.at, asked.level)

        return _FastQuestion(asked.study, answer)

    def _recommending(self, body: bytes) -> _FastQuestion | None:
        asked = self._recommend.decode(body)
        if not asked.brief:
            return None
        question = Question(
            limits=asked.limits,
            confidence=asked.confidence,
            maximize=asked.maximize,
            minimize=asked.minimize,
            fix=asked.fix,
            within_s=_seconds(asked.within),
            budget=asked.budget,
            min_accuracy=asked.min_accuracy,
        )
        return _FastQuestion(asked.study, lambda learned: choose_briefly(learned.advisor.recommender, question))

    def _checking(self, body: bytes) -> _FastQuestion | None:
        asked = self._check.decode(body)
        question = Question(
            limits=asked.limits, confidence=asked.confidence, within_s=_seconds(asked.within), budget=asked.budget
        )

        def answer(learned: Learned) -> object | None:
            recommender = learned.advisor.recommender
            if recommender.row_of(recommender.whole_view(), Configuration(asked.configuration)) is None:
                return None  # the models must be asked
            return check_settings(recommender, asked.configuration, question)

        return _FastQuestion(asked.study, answer, question.within_s)


def _seconds(given: float | str | None) -> float | None:
    return parse_seconds(given) if isinstance(given, str) else given


def _again(messages: list[Message], receive: Receive) -> Receive:
    """What was received, once more, and then what comes."""
    waiting = iter(messages)

    async def receiving() -> Message:
        found = next(waiting, None)
        return await receive() if found is None else found

    return receiving
