import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Dataset, Observation
from sparkcast.study.derive import derive_responses, hourly, parse_price, parse_response
from sparkcast.study.names import usual_vocabulary

CONFIGURATION = Configuration((("executors", 2), ("vm_type", "m4.large"), ("memory", 10**400)))
WORDS = st.sampled_from(
    "executors vm_type time_s = , 'a' 1 0 1e308 inf hour core_hour + * / ** < ( ) max( log( if else".split()
)


@settings(max_examples=300)
@given(st.one_of(st.lists(WORDS, max_size=8).map(" ".join), st.lists(WORDS, max_size=8).map("hour = ".join)))
def test_whatever_is_written_as_a_price_gives_money_or_a_study_error(text: str) -> None:
    try:
        price = parse_price(text)
        money = hourly(CONFIGURATION, price, usual_vocabulary(tuple(CONFIGURATION), ()))
    except StudyError:
        return
    assert 0 <= money < float("inf")


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=8).map(" ".join), st.sampled_from([0.0, 3.5, float("nan"), float("inf")]))
def test_whatever_is_written_as_a_response_gives_numbers_or_a_study_error(text: str, time_s: float) -> None:
    data = Dataset(("executors",), (Observation({"executors": 2}, {"time_s": time_s, "executors": 2.0}),))
    try:
        found = derive_responses(data, [parse_response(f"made = {text}")]).observations[0].responses
    except StudyError:
        return
    assert "made" not in found or isinstance(found["made"], float)


def test_a_response_that_is_a_text_is_refused() -> None:
    data = Dataset(("executors",), (Observation({"executors": 2}, {"time_s": 1.0}),))
    with pytest.raises(StudyError, match="response 'made' = \"max\\('a', 'b'\\)\" is the string 'b'"):
        derive_responses(data, [parse_response("made = max('a', 'b')")])
