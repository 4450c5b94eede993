from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.observe.series import (
    imbalance,
    machine_metrics,
    means,
    node_imbalance,
    rates,
    stage_uses,
    utilization,
)
from sparkcast.study.series import HostSeries, RunSeries, StageSpan
from sparkcast.workloads.sampler import TOTALS

GROWING = [name for name in (*TOTALS, "core0", "core1") if name not in ("at_ms", "memory_kib")]


def host(at_ms: list[int], *, cores: int = 2, node: str = "n", **counters: list[int]) -> HostSeries:
    still = {name: (0,) * len(at_ms) for name in (*TOTALS, *(f"core{core}" for core in range(cores)))}
    given = {name: tuple(values) for name, values in counters.items()}
    return HostSeries(node, node, cores, 2**30, 100, {**still, "at_ms": tuple(at_ms), **given})


# Two cores for two seconds: the first second all idle but for one core, in the second both compute or wait.
TWO = host(
    [10_000, 11_000, 12_000],
    user=[500, 600, 650],
    system=[0, 0, 50],
    iowait=[7, 7, 107],
    idle=[100, 200, 200],
    memory_kib=[1024, 3072, 3072],
    disk_written_sectors=[0, 0, 4],
    disk_writes=[0, 0, 2],
    network_out_bytes=[50, 150, 150],
    loopback_bytes=[0, 0, 1000],
    core0=[0, 100, 150],
    core1=[0, 0, 50],
)


def test_rates_are_what_the_counters_grew_by() -> None:
    seen = rates(TWO)
    assert list(seen["at_s"]) == [1, 2]
    assert list(seen["user_percent"]) == [50, 25]
    assert list(seen["system_percent"]) == [0, 25]
    assert list(seen["cpu_percent"]) == [50, 50]
    assert list(seen["iowait_percent"]) == [0, 50]
    assert list(seen["memory_bytes"]) == [2048 * 1024, 3072 * 1024]
    assert list(seen["disk_written_bytes_per_s"]) == [0, 2048]
    assert list(seen["disk_writes_per_s"]) == [0, 2]
    assert list(seen["network_out_bytes_per_s"]) == [100, 0]
    assert list(seen["core0_percent"]) == [100, 50]
    assert list(seen["core1_percent"]) == [0, 50]


def test_a_stage_has_the_means_of_its_own_time_also_within_a_sample() -> None:
    stages = (StageSpan(0, 0, "map", 10_500, 11_500), StageSpan(1, 0, "late", 13_000, 14_000))
    first, late = stage_uses(RunSeries((TWO,), stages))
    assert (first.started_s, first.ended_s) == (0.5, 1.5)
    assert first.means["user_percent"] == pytest.approx(37.5)
    assert first.means["iowait_percent"] == pytest.approx(25)
    assert first.means["network_out_bytes_per_s"] == pytest.approx(50)
    assert late.means == {}


def test_a_counter_that_falls_stands_still() -> None:
    falling = host([0, 1000, 2000], iowait=[10, 4, 20], idle=[0, 100, 190])
    assert [round(value, 6) for value in rates(falling)["iowait_percent"]] == [0, 10]


def test_a_machine_without_rest_is_never_busier_than_100_percent() -> None:
    busy = host([0, 977, 2003, 3011], user=[0, 101, 207, 305], system=[0, 89, 187, 293])
    found = [means(busy, start, start + 7.3)["cpu_percent"] for start in np.linspace(0, 3000, 2000)]
    assert max(found) == 100
    assert min(found) == pytest.approx(100)


@pytest.mark.parametrize("moments", [[], [5]])
def test_fewer_than_two_samples_say_nothing(moments: list[int]) -> None:
    short = host(moments, user=[1] * len(moments))
    assert rates(short) == {}
    assert means(short, 0, 10) == {}
    run = RunSeries((short,), (StageSpan(0, 0, "s", 0, 10),))
    assert utilization(run, 0, 1) is None
    assert machine_metrics(run, 0, 1) == {}


@given(
    st.lists(st.tuples(st.integers(1, 5000), st.lists(st.integers(0, 10**12), min_size=18, max_size=18)), min_size=1),
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
)
def test_parts_of_an_interval_grow_by_as_much_as_the_whole(
    steps: list[tuple[int, list[int]]], cuts: list[float]
) -> None:
    at = np.cumsum([1_700_000_000_000, *(step for step, _ in steps)])
    grown = {name: np.cumsum([0, *(more[place] for _, more in steps)]).tolist() for place, name in enumerate(GROWING)}
    seen = host(at.tolist(), memory_kib=[5] * len(at), **grown)
    ends = sorted([float(at[0]), *(at[0] + cut * (at[-1] - at[0]) for cut in cuts), float(at[-1])])
    whole = means(seen, ends[0], ends[-1])
    parts = [(end - start, means(seen, start, end)) for start, end in pairwise(ends)]
    for name in ("disk_reads_per_s", "network_in_bytes_per_s", "memory_bytes"):
        together = sum(length * part[name] for length, part in parts if part)
        assert together == pytest.approx(whole[name] * (ends[-1] - ends[0]), rel=1e-6, abs=1e-3)
    assert all(value >= 0 for _, part in parts for value in part.values())
    assert all(part[name] <= 100 for _, part in parts for name in part if name.endswith("percent"))


def test_a_run_is_summed_up_over_the_machines_that_ran_executors() -> None:
    driver = host([10_000, 12_000], node="driver", idle=[0, 400])
    driver = HostSeries(driver.host, driver.node, 2, 2**30, 100, driver.counters, has_executors=False)
    idle = host([10_000, 12_000], node="idle", cores=4, idle=[0, 800], core2=[0, 0], core3=[0, 0])
    run = RunSeries((driver, TWO, idle))
    seen = utilization(run, 10.0, 12.0)
    assert seen is not None
    assert (seen.cpu_percent, seen.iowait_percent, seen.samples) == (25, 12.5, 2)
    assert seen.disk_bytes_per_s == pytest.approx(512)
    assert seen.network_bytes_per_s == pytest.approx(25)  # between machines
    assert machine_metrics(run, 10.0, 12.0) == pytest.approx(
        {"busy_core_s": 2.0, "iowait_core_s": 1.0, "disk_bytes": 2048, "network_bytes": 100}
    )
    assert node_imbalance(run, 10.0, 12.0) == {"node_imbalance": 1.0}
    alone = RunSeries((TWO,))
    assert machine_metrics(alone, 10.0, 12.0)["network_bytes"] == pytest.approx(1100)  # and over the loopback
    assert node_imbalance(alone, 10.0, 12.0) == {}


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=20))
def test_imbalance_is_between_none_and_all_on_one(amounts: list[float]) -> None:
    assert -1e-9 <= imbalance(amounts) <= len(amounts) - 1 + 1e-9
    assert imbalance([amounts[0]] * len(amounts)) == pytest.approx(0)
