from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.designs import make_plan
from sparkcast.errors import StoreError
from sparkcast.store import open_store
from sparkcast.store.packing import pack, unpack
from sparkcast.study import DesignChoice, Factor, Observation, Study
from sparkcast.study.series import HostSeries, RunSeries, StageSpan
from sparkcast.workloads.sampler import TOTALS

WHOLE = st.integers(-(2**63), 2**63 - 1)
NAMES = st.text(max_size=20)


@st.composite
def hosts(draw: st.DrawFn) -> HostSeries:
    length = draw(st.integers(0, 30))
    column = st.lists(WHOLE, min_size=length, max_size=length).map(tuple)
    counters = draw(st.dictionaries(NAMES, column, max_size=6))
    sizes = (draw(st.integers(1, 512)), draw(st.integers(0, 2**50)), draw(st.integers(1, 1000)))
    return HostSeries(draw(NAMES), draw(NAMES), *sizes, counters, draw(st.booleans()))


STAGES = st.builds(StageSpan, WHOLE, WHOLE, NAMES, WHOLE, WHOLE)


@given(st.builds(RunSeries, st.lists(hosts(), max_size=3).map(tuple), st.lists(STAGES, max_size=20).map(tuple)))
def test_what_is_packed_comes_back(series: RunSeries) -> None:
    assert unpack(pack(series)) == series


@given(st.binary(max_size=200), st.integers(0, 300))
def test_damaged_bytes_are_an_error_with_advice(junk: bytes, at: int) -> None:
    packed = pack(RunSeries((), (StageSpan(1, 0, "map", 5, 6),)))
    for damaged in (junk, packed[: at % len(packed)], packed[:8] + junk):
        with pytest.raises(StoreError, match="samples of a run"):
            unpack(damaged)


def _an_hour() -> HostSeries:
    """Three thousand six hundred samples of eight cores, with jitter that does not repeat."""
    names = [*TOTALS, *(f"core{core}" for core in range(8))]
    columns = {
        name: tuple(1000 * i + (i * 7919 + place * 104729) ** 2 % 97 for i in range(3600))
        for place, name in enumerate(names)
    }
    return HostSeries("h", "n", 8, 2**34, 100, columns)


def test_an_hour_of_samples_takes_little_room() -> None:
    series = _an_hour()
    text = sum(len(str(value)) + 1 for column in series.counters.values() for value in column)
    assert len(pack(RunSeries((series,)))) < min(text / 5, 120_000)


def test_samples_are_stored_with_their_run_and_older_stores_have_none(tmp_path: Path) -> None:
    study = Study("s", "pi", (Factor("executors", (1, 2)),), design=DesignChoice())
    plan = make_plan(study)
    first, second = plan.trials
    series = RunSeries((HostSeries("h", "n", 1, 1, 100, {"at_ms": (1, 2), "user": (3, 4)}),))
    store = open_store(tmp_path / "s.results", create=True)
    store.register(study, plan)
    for trial, sampled in ((first, series), (second, None)):
        run_id, artifacts = store.begin_run("s", trial)
        observation = Observation(trial.configuration, {"time_s": 1.0}, run_id=run_id, artifacts=artifacts)
        store.finish_run("s", trial, observation, sampled)
    assert [store.series(run.run_id) for run in store.observations("s")] == [series, None]
    store.close()
