from math import inf, nan

import pytest

from sparkcast.report import axis_title
from sparkcast.report.labels import ordered, show_value
from sparkcast.study.names import usual_vocabulary

WORDS = usual_vocabulary(
    ["memory", "optimizer"],
    ["time_s", "accuracy", "network_bytes_per_s", "cpu_percent", "shuffle_read_bytes", "spilled_bytes", "cost"],
)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("time_s", "time (s)"),
        ("accuracy", "accuracy (share correct)"),
        ("memory", "memory (bytes)"),
        ("network_bytes_per_s", "network (bytes/s)"),
        ("cpu_percent", "cpu (%)"),
        ("shuffle_read_bytes", "shuffle read (bytes)"),
        ("optimizer", "optimizer"),
    ],
)
def test_an_axis_title_says_the_unit(name: str, title: str) -> None:
    assert axis_title(WORDS.word(name)) == title


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("time_s", 93.0, "1 min 33 s"),
        ("time_s", -4.0, "−4.00 s"),
        ("time_s", inf, "no bound"),
        ("time_s", nan, "unknown"),
        ("time_s", None, "–"),
        ("spilled_bytes", 1500.0, "1.5 KiB"),
        ("cost", 0.01234567, "0.01235"),
    ],
)
def test_a_value_is_shown_with_its_unit(name: str, value: float | None, shown: str) -> None:
    assert show_value(WORDS.word(name), value) == shown


def test_sizes_are_ordered_by_size_and_categories_as_they_come() -> None:
    assert ordered(["4g", "512m", "1g"]) == ["512m", "1g", "4g"]
    assert ordered(["vgg", "lenet5", "vgg"]) == ["vgg", "lenet5"]
