"""Which candidates there are, whatever the runs had."""

from pathlib import Path

import pytest

from tests_support import advice

SHEET = """\
workers,memory,time_s,status
2,{most},100,ok
4,{most},60,ok
8,{most},40,ok
2,{most},102,ok
4,{most},61,ok
8,{most},41,ok
4,{least},,killed
"""


@pytest.mark.parametrize(("least", "most"), [("4 GB", "8 GB"), ("small", "large")])
def test_a_level_that_only_failed_runs_had_does_not_stop_an_answer(tmp_path: Path, least: str, most: str) -> None:
    (tmp_path / "runs.csv").write_text(SHEET.format(least=least, most=most))
    found = advice(tmp_path / "runs.csv", model="ridge", within_s=200, max_failure=0.5)
    kept = {candidate.configuration["memory"] for candidate in found.candidates}
    assert len(kept) == 1
    assert found.chosen.configuration["memory"] in ("8g", "large")
