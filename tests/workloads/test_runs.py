"""The driver through spark-submit, with real Spark on this machine."""

from pathlib import Path

import pytest

from driver_support import responses, submit
from sparkcast.workloads import WORKLOADS

pytestmark = pytest.mark.slow


def test_pi_comes_close_to_pi(tmp_path: Path) -> None:
    report = submit(tmp_path, "pi", {"samples": 100_000, "pause_s": 0.3})
    assert [line["kind"] for line in report] == ["driver", "started", "result"]
    measured = responses(report)
    declared = {response.name for response in WORKLOADS.get("pi")().responses}
    assert set(measured) == declared - {"time_s"}  # which sparkcast measures itself
    assert measured["error"] < 0.05
    assert measured["work_s"] > 0.3
