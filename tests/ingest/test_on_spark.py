"""Logs read by a real cluster: the same rows as this machine's."""

from pathlib import Path

import pytest

from eventlogs_support import write_log
from sparkcast import api


@pytest.mark.slow
def test_a_cluster_and_this_machine_make_the_same_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # executors run elsewhere, and find relative paths all the same
    logs = Path("logs")
    logs.mkdir()
    for number in range(1, 5):
        write_log(logs / f"app-{number}", f"app-{number}", command=f"job.py --rows {10 * number}", n_executors=number)
    write_log(logs / "going-on", "app-9", has_ended=False)
    (logs / "damaged").write_bytes((logs / "app-1").read_bytes()[:-300] + b"\x00\xff")
    (logs / "readme.txt").write_bytes(b"not a log\n")
    found = {}
    for engine in (None, "spark"):
        into = tmp_path / str(engine) / "runs.csv"
        into.parent.mkdir()
        found[engine] = api.ingest("logs", into, settings=[r"rows=--rows (\d+)"], engine=engine, processes=1)
    assert found["spark"].logs == found[None].logs
    assert sorted({log.status.value for log in found["spark"].logs}) == ["ok", "partial", "skipped"]
    for name in ("runs.csv", "runs.ingested.json"):
        assert (tmp_path / "spark" / name).read_bytes() == (tmp_path / "None" / name).read_bytes()
