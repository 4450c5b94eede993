"""Figures of a shared cluster: their data, and that they can be drawn."""

import pytest

from sparkcast import api
from sparkcast.queues.answer import QueueAnswer
from sparkcast.report.figures.queues import busy_rows, day_rows, fan_rows, queue_figures, response_rows
from tests_support import assert_is_picture


@pytest.fixture(scope="module")
def answer() -> QueueAnswer:
    load = api.Load(0.1, service_time_s=30, scv=0.5)
    return api.queue(load=load, servers=4, goal=api.Goal(200), effort=api.Effort(1000, 2, with_figures=True))


def test_every_figure_is_a_picture(answer: QueueAnswer) -> None:
    figures = queue_figures(answer)
    assert [one.name for one in figures] == ["queue-response", "queue-percentiles", "queue-utilization", "queue-day"]
    for one in figures:
        assert_is_picture(one)


def test_an_answer_without_simulated_rates_has_no_figure() -> None:
    found = api.queue(load=api.Load(0.1, service_time_s=30), servers=4, effort=api.Effort(1000, 2))
    assert queue_figures(found) == []


def test_rows_are_what_was_simulated(answer: QueueAnswer) -> None:
    response = response_rows(answer.curve, 0.95)
    assert [row["rate"] for row in response] == [3600 * point.rate for point in answer.curve]
    assert all(row["low"] <= row["value"] <= row["high"] for row in response)  # type: ignore[operator]
    fan = fan_rows(answer.curve)
    assert {row["percentile"] for row in fan} == {"50%", "75%", "90%", "95%", "99%"}
    busy = [row["busy"] for row in busy_rows(answer.curve)]
    assert busy == sorted(busy)  # type: ignore[type-var]
    day = day_rows(answer.day)
    assert len(day) == 2 * 288
    assert max(row["hour"] for row in day) < 24  # type: ignore[type-var, operator]


def test_the_deadline_stands_in_the_caption_and_the_drawing(answer: QueueAnswer) -> None:
    figure = queue_figures(answer)[0]
    assert "the deadline of 3 min 20 s" in figure.caption
    assert "deadline 3 min 20 s" in str(figure.spec)
