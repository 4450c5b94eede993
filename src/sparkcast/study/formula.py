"""Model formulas in the notation of R, written by strangers.

The libraries that read formulas run them as Python, and expand `(a + b + ...)**9` until the memory is full. So a
formula is taken apart here: every word of it is either a factor or refused.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean

if TYPE_CHECKING:
    from sparkcast.study.matrix import Coding

# Room for any sensible model.
_MAX_LENGTH = 500
_MAX_DEPTH = 20  # of brackets
_MAX_TERMS = 1000
_NAMES = ("name", "levels", "square", "shaped", "inverse")
_OPERAND_STARTS = (*_NAMES, "one", "open")
_OPERAND_ENDS = (*_NAMES, "one", "power", "close")
_ALLOWED = (
    "allowed: factor names, C(name), log(name), sqrt(name), I(1/name), I(name**2), + - : * ( ), ** with a power up to "
    "9, and 1"
)


@dataclass(frozen=True, slots=True)
class Formula:
    """A right-hand side that only uses internal columns: `levels_0` (categories), `number_0` (a linear trend),
    `curve_0` (what bends it), and `log_0`, `sqrt_0` and `inverse_0` (a trend in another shape)."""

    text: str  # as people read it
    internal: str
    names: tuple[str, ...]  # the factors it uses


def make_formula(
    coding: "Coding",
    names: Sequence[str],
    pairs: Sequence[tuple[str, str]] = (),
    *,
    bends: Sequence[str] | None = None,
) -> Formula:
    """Main effects of `names`, the interactions `pairs`, and the squares of `bends`.

    A number is a trend and a category is its levels. `bends` are by default all numbers of three levels or more.
    """
    index = {name: i for i, name in enumerate(coding.factors)}
    bent = [name for name in names if name in coding.bendable] if bends is None else list(bends)
    column = {name: f"number_{i}" if coding.is_number(name) else _levels(i) for name, i in index.items()}
    shown = [*names, *(f"I({name}**2)" for name in bent), *(f"{a}:{b}" for a, b in pairs)]
    internal = [column[name] for name in names] + [f"curve_{index[name]}" for name in bent]
    internal += [f"{column[a]}:{column[b]}" for a, b in pairs]
    used = {*names, *bent, *(name for pair in pairs for name in pair)}
    return Formula(" + ".join(shown), " + ".join(internal), tuple(name for name in coding.factors if name in used))


def read_formula(text: str, response: str, factors: Sequence[str], is_number: Mapping[str, bool]) -> Formula:
    """A user's formula, `executors * C(batch_size)`, with or without `response ~` in front.

    As in R, a bare numeric factor is a linear trend, `C(name)` its levels and `I(name**2)` its bend; `log(name)`,
    `sqrt(name)` and `I(1/name)` are trends in another shape; a category is always its levels.
    """
    left, tilde, right = (part.strip() for part in text.rpartition("~"))
    if tilde and left != response:
        problem = f"formula {text!r} has {left!r} on its left, not {response!r}"
        raise StudyError(problem, hint=f"write {right or factors[0]}")
    if len(right) > _MAX_LENGTH:
        raise StudyError(f"the formula has {len(right)} characters, more than {_MAX_LENGTH}", hint="use fewer terms")
    tokens = _tokens(right, factors)
    names = tuple(name for name in factors if any(name in _factors_of(token) for token in tokens))
    if not names:
        raise StudyError(f"formula {right!r} contains no factor", hint=f"factors: {', '.join(factors)}")
    index = {name: i for i, name in enumerate(factors)}
    return Formula(right, " ".join(_internal(token, index, is_number) for token in tokens), names)


def term_label(internal: str, factors: Sequence[str]) -> str:
    """A term as people read it.

    >>> term_label("levels_0:number_1", ["executors", "jobs"]), term_label("curve_1", ["executors", "jobs"])
    ('executors:jobs', 'jobs^2')
    >>> term_label("log_0:inverse_1", ["rows", "executors"])
    'log(rows):1/executors'
    """
    written = {"curve": "{}^2", "log": "log({})", "sqrt": "sqrt({})", "inverse": "1/{}"}
    found = re.findall(r"(levels|number|curve|log|sqrt|inverse)_(\d+)", internal)
    return ":".join(written.get(kind, "{}").format(factors[int(index)]) for kind, index in found)


def _levels(index: int) -> str:
    return f"levels_{index}"


def _factors_of(token: re.Match[str]) -> tuple[str | None, ...]:
    return token["name"], token["levels"], token["square"], token["shaped"], token["inverse"]


def _internal(token: re.Match[str], index: Mapping[str, int], is_number: Mapping[str, bool]) -> str:
    if token["name"] and is_number[token["name"]]:
        return f"number_{index[token['name']]}"
    if token["square"]:
        if not is_number[token["square"]]:
            raise StudyError(f"{token['square']} is not numeric, so it has no square", hint=f"write {token['square']}")
        return f"curve_{index[token['square']]}"
    if shaped := token["shaped"] or token["inverse"]:
        if not is_number[shaped]:
            raise StudyError(f"{shaped} is not numeric, so it has no {token[0].strip()}", hint=f"write {shaped}")
        return f"{token['shape'] or 'inverse'}_{index[shaped]}"
    name = token["name"] or token["levels"]
    return _levels(index[name]) if name else token[0].strip()


def _tokens(text: str, factors: Sequence[str]) -> list[re.Match[str]]:
    # Longest names first, so that `batch-size` is one factor and not a difference of two.
    known = "|".join(re.escape(name) for name in sorted(factors, key=len, reverse=True))
    pattern = re.compile(
        rf"\s*(?:C\s*\(\s*(?P<levels>{known})\s*\)|I\s*\(\s*(?P<square>{known})\s*\*\*\s*2\s*\)"
        rf"|(?P<shape>log|sqrt)\s*\(\s*(?P<shaped>{known})\s*\)|I\s*\(\s*1\s*/\s*(?P<inverse>{known})\s*\)"
        rf"|(?P<name>(?:{known})(?!\w))|(?P<one>1(?![\w.]))"
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
            raise StudyError(
                f"formula {text!r} removes the intercept", hint="leave out - 1: shares of variation need the intercept"
            )
        if before and before.lastgroup in _OPERAND_ENDS and token.lastgroup in _OPERAND_STARTS:
            raise StudyError(f"formula {text!r} is missing an operator before {token[0].strip()!r}", hint=_ALLOWED)
        tokens.append(token)
        position = token.end()
    return tokens


def _refusal(text: str, position: int, factors: Sequence[str]) -> StudyError:
    rest = text[position:].strip()
    shape = re.match(r"(log2|log10|log|ln|sqrt|I)\s*\(", rest)
    if shape:
        return StudyError(f"formula {text!r} is rejected at {rest[:20]!r}", hint=_ALLOWED)
    word = re.match(r"\w+", rest)
    if word and not word[0].isdigit():
        return StudyError(
            f"formula {text!r} uses {word[0]!r}, which is not a factor", hint=did_you_mean(word[0], [*factors])
        )
    return StudyError(f"formula {text!r} is rejected at {rest[:20]!r}", hint=_ALLOWED)


# ---------------------------------------------------------------- terms

Term = tuple[str, ...]  # the columns that it multiplies
_Terms = Mapping[frozenset[str], Term]  # in their order, each once; the empty term is the mean
_BINDING = {"+": 1, "-": 1, "*": 2, ":": 3}


def terms_of(formula: Formula) -> tuple[Term, ...]:
    """The terms of a formula, expanded, each as its columns: `a*b` has a, b and a:b.

    The order, which decides a sequential analysis, is that of patsy and so of statsmodels: as written for numbers,
    main effects first among categories.

    >>> terms_of(Formula("", "(levels_0 + number_1) ** 2 - number_1", ()))
    (('levels_0',), ('levels_0', 'number_1'))
    """
    terms = [term for term in _Expansion(formula).whole().values() if term]
    numeric = [frozenset(code for code in term if not code.startswith("levels")) for term in terms]
    buckets = list(dict.fromkeys([frozenset(), *numeric]))
    place = {term: (buckets.index(bucket), len(term)) for term, bucket in zip(terms, numeric, strict=True)}
    return tuple(sorted(terms, key=lambda term: place[term]))


class _Expansion:
    """Reads the internal text of a formula from left to right."""

    def __init__(self, formula: Formula) -> None:
        self._text = formula.text
        self._waiting = re.findall(r"\w+|\*\*\s*\d|\S", formula.internal)[::-1]

    def whole(self) -> _Terms:
        terms = self._sum(1, 0)
        return terms if not self._waiting else self._refuse()

    def _sum(self, least: int, depth: int) -> _Terms:
        """Operands, and the operators between them that bind at least so strongly."""
        left = self._operand(depth)
        while (binding := _BINDING.get(self._next(), 0)) >= least:
            sign, right = self._take(), self._sum(binding + 1, depth)
            if sign == "-":
                left = {key: term for key, term in left.items() if key not in right}
            elif sign == "+":
                left = self._different((*left.values(), *right.values()))
            else:
                products = self._products(left, right)
                first = () if sign == ":" else (*left.values(), *right.values())
                left = self._different((*first, *products.values()))
        return left

    def _operand(self, depth: int) -> _Terms:
        word = self._take()
        if word == "+":  # a sign, which means nothing
            while self._next() == "+":
                self._take()
            return self._sum(2, depth)
        if word == "(":
            if depth == _MAX_DEPTH:
                self._refuse(f"has more than {_MAX_DEPTH} nested brackets", "remove some of them")
            terms = self._sum(1, depth + 1)
            if self._take() != ")":
                self._refuse()
        elif word == "1" or word[:1].isalpha():
            terms = self._different([() if word == "1" else (word,)])
        else:
            self._refuse()
        while self._next().startswith("**"):
            terms = self._power(terms, int(self._take()[-1]))
        return terms

    def _power(self, terms: _Terms, power: int) -> _Terms:
        found = products = terms
        for _ in range(1, min(power, max(2, len(terms)))):
            products = self._products(terms, products)
            found = self._different((*found.values(), *products.values()))
        return found

    def _products(self, left: _Terms, right: _Terms) -> _Terms:
        if frozenset() in left or frozenset() in right:
            self._refuse("multiplies by 1, which stands for the intercept", "leave out 1")
        return self._different((*a, *b) for a in left.values() for b in right.values())

    def _different(self, terms: Iterable[Term]) -> _Terms:
        found: dict[frozenset[str], Term] = {}
        for term in terms:
            found.setdefault(frozenset(term), tuple(dict.fromkeys(term)))
            if len(found) > _MAX_TERMS:
                self._refuse(f"has more than {_MAX_TERMS:,} terms", "use fewer factors, or a lower power")
        return found

    def _next(self) -> str:
        return self._waiting[-1] if self._waiting else ""

    def _take(self) -> str:
        return self._waiting.pop() if self._waiting else ""

    def _refuse(
        self, reason: str = "cannot be parsed", hint: str = "write it like: executors * C(batch_size)"
    ) -> NoReturn:
        raise StudyError(f"formula {self._text!r} {reason}", hint=hint)
