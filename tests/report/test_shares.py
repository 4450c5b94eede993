"""Bars of the parts of a run: one scale for both, the grown part joined."""

import re

from sparkcast.report.shares import TimeBar, look_of, swatch, time_bars
from sparkcast.study.application import Part

BEFORE = TimeBar("before", {"driver only": 10.0, "CPU": 60.0, "shuffle write": 10.0})
SINCE = TimeBar("since", {"driver only": 10.0, "CPU": 60.0, "shuffle write": 30.0})


def widths(drawn: str, look: str) -> list[float]:
    return [float(found) for found in re.findall(rf'class="{look}"[^>]*? width="([\d.]+)"', drawn)]


def test_two_bars_have_one_scale() -> None:
    drawn = str(time_bars([BEFORE, SINCE], grown="shuffle write", more="+20 s"))
    before, since = widths(drawn, "p-work")
    assert before == since
    smaller, larger = widths(drawn, "p-shuffle-write")
    assert 2.9 < (larger + 1.2) / (smaller + 1.2) < 3.1
    assert "+20 s" in drawn
    assert drawn.count("m-joined") == 1


def test_names_from_outside_are_escaped() -> None:
    assert "<script>" not in str(time_bars([TimeBar("<script>", {"CPU": 1.0})], more="<script>"))


def test_a_part_that_takes_no_time_is_not_drawn_and_nothing_at_all_is_no_error() -> None:
    assert "p-trouble" not in str(time_bars([TimeBar("one", {"CPU": 5.0, "idle slots": 0.0})]))
    assert "<rect" not in str(time_bars([TimeBar("none", {})]))


def test_every_part_has_a_color_and_none_is_blue() -> None:
    looks = {look_of(part) for part in Part}
    assert "p-driver" in looks
    assert all("pred" not in look for look in looks)
    assert look_of("starting the driver") == "p-driver"
    assert 'class="p-work"' in swatch("CPU")
