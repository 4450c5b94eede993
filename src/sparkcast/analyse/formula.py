"""Model formulas in the notation of R, written by strangers.

The libraries that read formulas run them as Python. So a formula is taken apart here, every word of it is either a
factor or refused, and what the library gets to see is text made from internal column names only.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean

# Room for any sensible model; keeps `(a*b*c)**9` chains from a public form small.
_MAX_LENGTH = 500
_NAMES = ("name", "levels")
_OPERAND_STARTS = (*_NAMES, "one", "open")
_OPERAND_ENDS = (*_NAMES, "one", "power", "close")
_ALLOWED = "allowed: names of factors, C(name), + - : * ( ), ** with a power up to 9, and 1"


@dataclass(frozen=True, slots=True)
class Formula:
    """A right-hand side that only uses internal columns: `levels_0` (categories) and `number_0` (a linear trend)."""

    text: str  # as people read it
    internal: str
    names: tuple[str, ...]  # the factors it uses


def default_formula(factors: Sequence[str], names: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Formula:
    """Main effects of `names` and the interactions `pairs`, all as categories: that assumes no shape of the effect."""
    index = {name: i for i, name in enumerate(factors)}
    shown = [f"C({name})" for name in names] + [f"C({a}):C({b})" for a, b in pairs]
    internal = [_levels(index[name]) for name in names] + [f"{_levels(index[a])}:{_levels(index[b])}" for a, b in pairs]
    return Formula(" + ".join(shown), " + ".join(internal), tuple(names))


def read_formula(text: str, response: str, factors: Sequence[str], is_number: Mapping[str, bool]) -> Formula:
    """A user's formula, `executors * C(batch_size)`, with or without `response ~` in front.

    As in R, a bare numeric factor is a linear trend and `C(name)` its levels; a category is always its levels.
    """
    left, tilde, right = (part.strip() for part in text.rpartition("~"))
    if tilde and left != response:
        raise StudyError(f"formula {text!r} has {left!r} on its left, not {response!r}", hint=f"write {right}")
    if len(right) > _MAX_LENGTH:
        raise StudyError(f"the formula has {len(right)} characters, more than {_MAX_LENGTH}", hint="name fewer terms")
    tokens = _tokens(right, factors)
    names = tuple(name for name in factors if any(name in (token["name"], token["levels"]) for token in tokens))
    if not names:
        raise StudyError(f"formula {right!r} names no factor", hint=f"factors: {', '.join(factors)}")
    index = {name: i for i, name in enumerate(factors)}
    return Formula(right, " ".join(_internal(token, index, is_number) for token in tokens), names)


def term_label(internal: str, factors: Sequence[str]) -> str:
    """A term as people read it: `C(levels_0, Sum):number_2` is `executors:jobs`."""
    numbers = re.findall(r"(?:levels|number)_(\d+)", internal)
    return ":".join(factors[int(number)] for number in numbers)


def _levels(index: int) -> str:
    return f"C(levels_{index}, Sum)"


def _internal(token: re.Match[str], index: Mapping[str, int], is_number: Mapping[str, bool]) -> str:
    if token["name"] and is_number[token["name"]]:
        return f"number_{index[token['name']]}"
    name = token["name"] or token["levels"]
    return _levels(index[name]) if name else token[0].strip()


def _tokens(text: str, factors: Sequence[str]) -> list[re.Match[str]]:
    # Longest names first, so that `batch-size` is one factor and not a difference of two.
    known = "|".join(re.escape(name) for name in sorted(factors, key=len, reverse=True))
    pattern = re.compile(
        rf"\s*(?:C\s*\(\s*(?P<levels>{known})\s*\)|(?P<name>(?:{known})(?!\w))|(?P<one>1(?![\w.]))"
        r"|(?P<power>\*\*\s*[1-9](?![\w.]))|(?P<operator>[+\-:*])|(?P<open>\()|(?P<close>\)))\s*"
    )
    tokens: list[re.Match[str]] = []
    position = 0
    while position < len(text):
        token = pattern.match(text, position)
        if token is None:
            raise _refusal(text, position, factors)
        before = tokens[-1] if tokens else None
        if before and before["operator"] == "-" and token["one"]:
            raise StudyError(f"formula {text!r} removes the mean", hint="leave out - 1: shares of variation need it")
        # The formula library would read two operands in a row as Python.
        if before and before.lastgroup in _OPERAND_ENDS and token.lastgroup in _OPERAND_STARTS:
            raise StudyError(f"formula {text!r} lacks an operator before {token[0].strip()!r}", hint=_ALLOWED)
        tokens.append(token)
        position = token.end()
    return tokens


def _refusal(text: str, position: int, factors: Sequence[str]) -> StudyError:
    rest = text[position:].strip()
    word = re.match(r"\w+", rest)
    if word and not word[0].isdigit():
        return StudyError(
            f"formula {text!r} uses {word[0]!r}, which is no factor", hint=did_you_mean(word[0], [*factors])
        )
    return StudyError(f"formula {text!r} is refused at {rest[:20]!r}", hint=_ALLOWED)
