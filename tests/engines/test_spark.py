"""The engine for clusters of somebody else, with a master that is only a socket."""

import socket
from collections.abc import Iterator

import pytest

from sparkcast.engines import spark
from sparkcast.engines.spark import SparkCluster
from sparkcast.errors import RunError, StudyError
from sparkcast.study import SparkOptions


@pytest.fixture
def master() -> Iterator[socket.socket]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening


def _engine(*masters: socket.socket) -> SparkCluster:
    addresses = [f"127.0.0.1:{master.getsockname()[1]}" for master in masters]
    return SparkCluster(SparkOptions(f"spark://{','.join(addresses)}"))


def test_a_master_that_listens_is_no_trouble(master: socket.socket) -> None:
    assert _engine(master).health_problem() == ""


def test_a_master_that_is_gone_is_trouble_and_nothing_is_started_on_it(master: socket.socket) -> None:
    engine = _engine(master)
    master.close()
    assert "cannot be reached" in engine.health_problem()
    with pytest.raises(RunError, match="cannot be reached"):
        engine.__enter__()


def test_a_standby_master_is_enough(master: socket.socket) -> None:
    with socket.socket() as gone:
        gone.bind(("127.0.0.1", 0))
        engine = _engine(gone, master)
    assert engine.health_problem() == ""


def test_a_master_that_comes_back_is_waited_for(monkeypatch: pytest.MonkeyPatch, master: socket.socket) -> None:
    troubles, slept = ["refused", "refused", ""], list[float]()
    engine = _engine(master)
    monkeypatch.setattr(SparkCluster, "health_problem", lambda self: troubles.pop(0))
    monkeypatch.setattr("time.sleep", slept.append)
    engine.restart()
    assert (troubles, slept) == ([], [0.0, 5.0, 10.0])


def test_a_master_that_stays_away_ends_the_session(monkeypatch: pytest.MonkeyPatch, master: socket.socket) -> None:
    engine = _engine(master)
    master.close()
    monkeypatch.setattr(spark, "_RETURN_PAUSES_S", (0.0, 0.0, 0.0))
    with pytest.raises(RunError, match="cannot be reached") as caught:
        engine.restart()
    assert "resume=True" in caught.value.hint


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(StudyError, match="is not a master URL"):
        SparkCluster(SparkOptions("spark://nowhere")).health_problem()
