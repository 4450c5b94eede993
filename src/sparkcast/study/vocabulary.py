"""What the names in a study or a table mean: settings with their roles, responses with their kinds.

Names themselves mean nothing to models, prices, limits and figures. A workload declares what its names mean, a study
file (`roles:`) or `--role` may; only for what nobody declared is there a table of usual names
(`sparkcast.study.names`), which is consulted once, where data come in.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study.application import OTHER_SPANS
from sparkcast.study.response import Kind, Response
from sparkcast.study.setting import Role, Setting


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Of several settings with one role, and of several responses of one kind, the first is meant.

    >>> words = Vocabulary((Setting("hosts", role=Role.MACHINES),), (Response("auc", kind=Kind.SHARE),))
    >>> words.role("hosts"), words.first(Role.MACHINES), words.quality
    (<Role.MACHINES: 'machines'>, 'hosts', 'auc')
    """

    settings: tuple[Setting, ...] = ()
    responses: tuple[Response, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*(s.name for s in self.settings), *(r.name for r in self.responses)))

    # ------------------------------------------------------------ settings

    def setting(self, name: str) -> Setting:
        """What is known of a setting; one that nobody declared has no meaning beyond its levels."""
        return next((setting for setting in self.settings if setting.name == name), None) or Setting(name)

    def role(self, name: str) -> Role:
        return self.setting(name).role

    def first(self, *roles: Role, among: Iterable[str] | None = None) -> str | None:
        """The setting with one of these roles; only among these names, when they are given."""
        allowed = None if among is None else set(among)
        named = (s.name for s in self.settings if s.role in roles and (allowed is None or s.name in allowed))
        return next(named, None)

    # ------------------------------------------------------------ responses

    def response(self, name: str) -> Response:
        return next((response for response in self.responses if response.name == name), None) or Response(name)

    def of_kind(self, kind: Kind, among: Iterable[str] | None = None) -> str | None:
        """The response of this kind; only among these names, when they are given."""
        allowed = None if among is None else set(among)
        named = (r.name for r in self.responses if r.kind is kind and (allowed is None or r.name in allowed))
        return next(named, None)

    def word(self, name: str) -> Setting | Response:
        """The response or the setting of this name."""
        return next((response for response in self.responses if response.name == name), None) or self.setting(name)

    @property
    def time(self) -> str | None:
        """The response that is the time of a run."""
        return self.of_kind(Kind.TIME)

    def time_beside(self, name: str, among: Iterable[str]) -> str | None:
        """Beside a time of a Spark application, the other that people think of: all of its life, or its Spark jobs."""
        other, known = OTHER_SPANS.get(self.response(name).span), set(among)
        return next((r.name for r in self.responses if r.name in known and r.span == other), None) if other else None

    @property
    def money(self) -> str | None:
        return self.of_kind(Kind.MONEY)

    @property
    def quality(self) -> str | None:
        """The response that says how good a result is: a share of which more is better."""
        return next((r.name for r in self.responses if r.kind is Kind.SHARE and r.better == "more"), None)

    def required_time(self) -> str:
        if self.time is None:
            raise NotEnoughDataError(
                "none of the responses is a time",
                hint="declare it with `roles={NAME: 'time'}`, or roles: {NAME: time} in the study",
            )
        return self.time

    # ------------------------------------------------------------ putting together

    def declaring(self, other: "Vocabulary") -> "Vocabulary":
        """With what `other` declares in front, in place of what this one says of the same names."""
        settings = {setting.name for setting in other.settings}
        responses = {response.name for response in other.responses}
        return Vocabulary(
            (*other.settings, *(s for s in self.settings if s.name not in settings)),
            (*other.responses, *(r for r in self.responses if r.name not in responses)),
        )

    def meaning_by_time(self, name: str | None) -> "Vocabulary":
        """With this response as the time of a run, whatever other times there are."""
        return self if name is None else self.declaring(Vocabulary(responses=(self.response(name),)))

    def only(self, names: Iterable[str]) -> "Vocabulary":
        kept = set(names)
        return Vocabulary(
            tuple(s for s in self.settings if s.name in kept), tuple(r for r in self.responses if r.name in kept)
        )

    def assigning(self, roles: Mapping[str, str]) -> "Vocabulary":
        """With these meanings as people write them: {"hosts": "machines", "auc": "share", "minutes": "time:min"}."""
        settings, responses = [], []
        yielded = {response.name for response in self.responses}
        for name, text in roles.items():
            meaning, _, unit = (part.strip() for part in text.partition(":"))
            if meaning in _KINDS or (meaning == Kind.OTHER and name in yielded):
                responses.append(replace(self.response(name), kind=Kind(meaning), better=None, unit=unit))
            elif meaning in _ROLES:
                settings.append(replace(self.setting(name), role=Role(meaning), unit=unit))
            else:
                raise StudyError(
                    f"{name} cannot have the role {text!r}: there is no such role",
                    hint=did_you_mean(meaning, (*_ROLES, *_KINDS)),
                )
        others = self.only(self.names - set(roles))
        return others.declaring(Vocabulary(tuple(settings), tuple(responses)))

    def in_currency(self, name: str, currency: str) -> "Vocabulary":
        """With the currency of an amount of money for which none was declared."""
        known = (*self.responses, *([] if name in self.names else [Response(name, kind=Kind.MONEY)]))
        is_open = {r.name for r in known if r.name == name and r.kind is Kind.MONEY and not r.unit}
        return replace(self, responses=tuple(replace(r, unit=currency) if r.name in is_open else r for r in known))

    def as_plain(self) -> dict[str, Any]:
        """As plain data, to be written down."""
        return {
            "settings": [
                {
                    "name": s.name,
                    "role": s.role.value,
                    "unit": s.unit,
                    **({"argument": s.argument} if s.argument else {}),
                }
                for s in self.settings
            ],
            "responses": [
                {
                    "name": r.name,
                    "kind": r.kind.value,
                    "better": r.better,
                    "unit": r.unit,
                    **({"span": r.span} if r.span else {}),
                }
                for r in self.responses
            ],
        }


_ROLES = tuple(role.value for role in Role)
_KINDS = tuple(kind.value for kind in Kind if kind is not Kind.OTHER)
