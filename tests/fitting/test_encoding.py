import pytest

from sparkcast.errors import NotEnoughDataError
from sparkcast.fitting.encoding import domain_of
from sparkcast.study import Configuration
from sparkcast.study.names import usual_vocabulary

WORDS = usual_vocabulary(["storage"], [])
MIXED = domain_of(("storage",), [Configuration({"storage": level}) for level in ("1g", "unlimited", "2g")], WORDS)


def test_a_level_is_found_however_it_is_written() -> None:
    found = MIXED.encode([{"storage": level} for level in ("1024m", "1g", "unlimited", "2 GB")])
    assert found[:, 0].tolist() == [0, 0, 1, 2]


def test_a_level_that_was_never_run_is_named_with_those_that_were() -> None:
    with pytest.raises(NotEnoughDataError, match=r"storage = '4g' was never run(.|\n)*1g, unlimited, 2g"):
        MIXED.encode([{"storage": "4g"}])


def test_words_that_python_takes_for_numbers_are_categories() -> None:
    domain = domain_of(("storage",), [Configuration({"storage": level}) for level in ("nan", "inf")], WORDS)
    assert domain.encode([{"storage": "inf"}]).tolist() == [[1.0]]
