"""Other work on the machine of a run: measured, judged by what the run could have used, and said."""

import subprocess
import sys
from pathlib import Path

import pytest

from observe_support import START_S, events, leave
from sparkcast.analysis.anova import analyze
from sparkcast.observe.host import HostSampler, family_cpu_s
from sparkcast.observe.run import Run, observe
from sparkcast.observe.series import utilization
from sparkcast.study import Configuration, Dataset, Observation, Trial, Utilization
from sparkcast.study.series import HostSeries, RunSeries

TICKS = 100
ONE_CORE = {"Host": "a", "Total Cores": 1}


def machine(cores: int, busy_cores: float, *, seconds: int = 12, steal: float = 0.0) -> HostSeries:
    """A machine that has so many cores busy from the start of a run on."""
    ticks = [seconds * TICKS * part for part in (busy_cores, 0.0, 0.0, steal, cores - busy_cores - steal)]
    counters = dict(zip(("user", "system", "iowait", "steal", "idle"), ([0, round(t)] for t in ticks), strict=True))
    others = ("memory_kib", "disk_reads", "disk_read_sectors", "disk_writes", "disk_written_sectors")
    network = ("network_in_bytes", "network_in_packets", "network_out_bytes", "network_out_packets")
    rest = {name: [0, 0] for name in (*others, *network, "loopback_bytes", "loopback_packets")}
    at = {"at_ms": [round(1000 * START_S), round(1000 * (START_S + seconds))]}
    series = {name: tuple(values) for name, values in {**at, **counters, **rest}.items()}
    return HostSeries("a", "a", cores, 2**30, TICKS, series)


def used(host: HostSeries, own_cpu_s: float | None, wanted: float) -> Utilization:
    found = utilization(RunSeries((host,)), START_S, START_S + 12, own_cpu_s=own_cpu_s, wanted_cores=wanted)
    assert found is not None
    return found


def test_work_that_is_not_the_runs_own_is_that_of_others() -> None:
    found = used(machine(64, 60.0), 11.0, 4.0)
    assert found.other_cores == pytest.approx(60 - 11 / 12)
    assert (found.cores, found.is_crowded) == (64, False)  # four cores were free, and it could use no more
    found = used(machine(64, 63.0), 11.0, 4.0)
    assert found.crowding == pytest.approx((63 - 11 / 12 + 4 - 64) / 4)
    assert found.is_crowded


@pytest.mark.parametrize(
    ("own_cores", "busy", "wanted", "is_crowded"),
    [
        (1.9, 2.0, 2.0, False),  # all of it is the run's own: its driver, its daemons, the garbage collector
        (0.2, 0.3, 2.0, False),  # nobody did much
        (1.5, 1.8, 2.0, False),  # the kernel works for everybody
        (0.5, 2.0, 2.0, True),
        (0.5, 1.4, 1.0, False),  # it could use one core only, and one was free
    ],
)
def test_a_machine_is_crowded_when_others_took_what_the_run_could_have_used(
    own_cores: float, busy: float, wanted: float, *, is_crowded: bool
) -> None:
    assert used(machine(2, busy), own_cores * 12, wanted).is_crowded is is_crowded


def test_what_a_hypervisor_gave_to_others_counts() -> None:
    assert used(machine(2, 1.0, steal=0.8), 12.0, 2.0).other_cores == pytest.approx(0.8)


def test_where_nobody_counted_its_own_time_a_run_may_have_used_all_it_held() -> None:
    assert used(machine(8, 3.0), None, 4.0).other_cores == 0
    assert used(machine(8, 7.5), None, 4.0).other_cores == pytest.approx(3.5)
    assert used(machine(8, 7.5), None, 0.0).other_cores is None


def test_a_run_says_that_others_used_its_machine(tmp_path: Path) -> None:
    job = leave(tmp_path, {"work_s": 4.0}, events(executor=ONE_CORE))
    run = Run(Trial(Configuration({})), (job,), START_S, START_S + 12, (machine(2, 2.0),), None, own_cpu_s=3.0)
    seen = observe(run)
    assert seen.observation.utilization is not None
    assert seen.observation.utilization.is_crowded
    [note] = seen.notes
    assert note.startswith("other work kept 1.8 of 2 cores busy meanwhile")


def test_the_time_of_processes_that_have_ended_is_the_familys(monkeypatch: pytest.MonkeyPatch) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux counts the dead")
    spend = "import os\nwhile sum(os.times()[:2]) < 0.5: pass"
    with HostSampler(period_s=60) as sampler:
        subprocess.run(
            [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {spend!r}])"],
            check=True,
        )
    assert sampler.own_cpu_s is not None
    assert sampler.own_cpu_s >= 0.45
    monkeypatch.setattr(sys, "platform", "darwin")
    assert family_cpu_s() is None


def test_analyze_says_which_runs_shared_their_machine_and_offers_the_cpu_time() -> None:
    free, taken = (Utilization(50, 0, 0, 0, 0, 3, cores=2, wanted_cores=2.0, other_cores=n) for n in (0.1, 1.6))
    runs = tuple(
        Observation(
            {"executors": 1 + n % 2},
            {"time_s": 10.0 + n % 3 + n % 2, "cpu_s": 5.0 + n % 2},
            replicate=1 + n // 2,
            position=n + 1,
            utilization=taken if n in (2, 5) else free,
        )
        for n in range(8)
    )
    data = Dataset(("executors",), runs, responses=("time_s", "cpu_s"))
    sentence = "other work took up to 1.6 of 2 cores during 2 of 8 runs (trials 3, 6); `response='cpu_s'` is steadier"
    assert sentence in analyze(data, "time_s").warnings
    assert not any("other work" in warning for warning in analyze(data, "cpu_s").warnings)
