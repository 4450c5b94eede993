"""Pictures of measured streams."""

import pytest

from sparkcast.report.document import build_content
from sparkcast.report.figures import stream_figures
from sparkcast.study import Configuration, Dataset, JobRun, Observation, Outcome, Sharing
from tests_support import assert_is_picture

JOBS = tuple(
    JobRun(n, Configuration({"executors": 1}), arrived, arrived + 1, arrived + 2, ended, {})
    for n, (arrived, ended) in enumerate(((0.0, 10.0), (5.0, 20.0)), start=1)
)
RESPONSES = {"time_s": 3.0, "response_s": 12.5, "response_p90_s": 14.5}
SHARING = Sharing("first come first served", 2)
STREAM = Observation({"arrivals_per_hour": 60}, RESPONSES, jobs=JOBS, sharing=SHARING)
DATA = Dataset(("arrivals_per_hour",), (STREAM,))


def test_a_stream_is_drawn_with_who_was_there_and_who_ran() -> None:
    [picture] = stream_figures(DATA)
    assert_is_picture(picture)
    assert {"second": 5.0, "kind": "in the system", "count": 2} in picture.rows
    assert {"second": 5.0, "kind": "running", "count": 1} in picture.rows
    assert "first come first served; 2 cores" in picture.caption
    assert picture.rows[-1]["count"] == 0


@pytest.mark.parametrize(
    "run",
    [
        Observation({"arrivals_per_hour": 60}, {"time_s": 3.0}),
        Observation({"arrivals_per_hour": 60}, {}, Outcome.LOST, jobs=JOBS),
        Observation({"arrivals_per_hour": 60}, RESPONSES, jobs=(JOBS[0], JOBS[0])),
    ],
)
def test_what_is_no_stream_is_not_drawn(run: Observation) -> None:
    assert stream_figures(Dataset(("arrivals_per_hour",), (run,))) == []


def test_a_report_tells_how_the_cluster_was_shared() -> None:
    content = build_content(DATA, created="today", version="1")
    assert ("Shared by", "first come first served, 2 cores; within an application: FIFO") in content.facts
    assert "stream-1" in [figure.name for figure in content.figures]
