import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.study import Configuration
from sparkcast.study.formula import Formula, read_formula, term_label, terms_of
from sparkcast.study.matrix import Coding, model_matrix

FACTORS = ("executors", "batch-size", "net", "C")
IS_NUMBER = {"executors": True, "batch-size": True, "net": False, "C": True}
WORDS = st.sampled_from([*FACTORS, "C(net)", "+", "-", ":", "*", "(", ")", "**2", "1", "open", "'", "[", ".", "~", " "])


@given(text=st.one_of(st.text(max_size=30), st.lists(WORDS, max_size=8).map(" ".join), st.lists(WORDS).map("".join)))
def test_whatever_is_written_only_internal_names_come_out(text: str) -> None:
    try:
        internal = read_formula(text, "time_s", FACTORS, IS_NUMBER).internal
    except StudyError:
        return
    assert set(re.findall(r"[^\W\d]\w*", internal)) <= {
        *(f"{kind}_{i}" for kind in ("levels", "number", "curve") for i in range(len(FACTORS))),
    }
    assert set(re.sub(r"\w", "", internal)) <= set("+-:*(), ")
    assert not re.search(r"[\w)]\s+[\w(]", internal)  # two operands in a row


@pytest.mark.parametrize(
    ("text", "internal"),
    [
        ("executors", "number_0"),
        ("time_s ~ C( executors )", "levels_0"),
        ("executors*batch-size", "number_0 * number_1"),
        ("batch-size - net", "number_1 - levels_2"),
        ("C + C(C)", "number_3 + levels_3"),
        ("(executors + net)**2", "( number_0 + levels_2 ) **2"),
    ],
)
def test_names_become_internal_columns(text: str, internal: str) -> None:
    assert read_formula(text, "time_s", FACTORS, IS_NUMBER).internal == internal


def test_a_term_is_shown_by_the_names_of_its_factors() -> None:
    assert term_label("levels_2:number_1", FACTORS) == "net:batch-size"


def test_the_values_of_whatever_is_written_are_finite_or_a_study_error() -> None:
    coding = Coding.of({"executors": [1, 2, 4], "batch-size": [64, 128], "net": ["a", "b", "c"], "C": [1, 2]})
    runs = [Configuration(zip(coding.factors, values, strict=True)) for values in product(*coding.levels.values())]
    frame = coding.frame(runs)

    @settings(max_examples=300)
    @given(text=st.one_of(st.lists(WORDS, max_size=10).map(" ".join), FORMULAS))
    def check(text: str) -> None:
        try:
            rows = model_matrix(read_formula(text, "time_s", FACTORS, IS_NUMBER), frame)
        except StudyError:
            return
        assert len(rows) == len(runs)

    check()


def written(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = st.sampled_from([" + ", " - ", ":", " * "])
    return st.one_of(
        st.tuples(smaller, signs, smaller).map("".join),
        st.tuples(smaller, st.sampled_from(["", "**2", " ** 3"])).map(lambda part: f"({part[0]}){part[1]}"),
        smaller.map(lambda part: f"+ {part}"),
    )


FORMULAS = st.recursive(st.sampled_from(["executors", "C(executors)", "net", "C", "1"]), written, max_leaves=8)


@settings(max_examples=300)
@given(FORMULAS)
def test_terms_and_their_order_are_those_of_patsy(text: str) -> None:
    from patsy import ModelDesc, PatsyError

    try:
        formula = read_formula(text, "time_s", FACTORS, IS_NUMBER)
    except StudyError:
        return
    try:
        found = ModelDesc.from_formula(formula.internal).rhs_termlist
    except PatsyError:
        with pytest.raises(StudyError):
            terms_of(formula)
        return
    expected = [tuple(factor.name() for factor in term.factors) for term in found if term.factors]
    assert sorted(terms_of(formula)) == sorted(expected)
    categories = [term for term in expected if all(code.startswith("levels") for code in term)]
    assert list(terms_of(formula))[: len(categories)] == sorted(categories, key=len)


MANY = tuple(f"f{i}" for i in range(30))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(" * 240 + "f0" + ")" * 240, "more than 20 nested brackets"),
        ("(" + "+".join(MANY) + ")**9", "more than 1,000 terms"),
        ("*".join(MANY[:12]), "more than 1,000 terms"),
        ("(f0 + 1) * f1", "multiplies by 1"),
        ("f0 + (f1", "cannot be parsed"),
        ("f0 + f1)", "cannot be parsed"),
        ("f0 +", "cannot be parsed"),
        ("- f0", "cannot be parsed"),
        ("f0 * * f1", "cannot be parsed"),
        ("f0 + " * 110, "more than 500"),
    ],
)
def test_formulas_without_end_or_sense_are_refused(text: str, words: str) -> None:
    with pytest.raises(StudyError, match=words) as caught:
        terms_of(read_formula(text, "time_s", MANY, dict.fromkeys(MANY, True)))
    assert caught.value.hint


def test_a_formula_of_more_columns_than_fit_in_memory_is_refused() -> None:
    coding = Coding.of({name: [f"{name}{i}" for i in range(300)] for name in ("a", "b", "c")})
    frame = coding.frame([Configuration((name, f"{name}{i}") for name in "abc") for i in range(300)])
    with pytest.raises(StudyError, match="27,000,000 columns for 300 runs"):
        model_matrix(Formula("a*b*c", "levels_0 * levels_1 * levels_2", ("a", "b", "c")), frame)


def test_many_signs_and_powers_are_read_without_end_of_the_stack() -> None:
    assert terms_of(Formula("", "+ " * 400 + "number_0" + " **2" * 20, ())) == (("number_0",),)
