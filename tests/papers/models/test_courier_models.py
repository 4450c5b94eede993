"""courier, operational-laws and closed-network."""

from itertools import product

import numpy as np
import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.problem import pose
from sparkcast.models import MODELS
from sparkcast.study import Configuration, Dataset, Level, Observation
from sparkcast.validate.score import validate
from sparkcast_papers.models.closed_network import ClosedNetwork, Network
from sparkcast_papers.models.courier import Courier, columns, cpu
from sparkcast_papers.models.operational_laws import Law, OperationalLaws, passes

RECORDS, WORKERS = 60000, 3


def dataset(factors: tuple[str, ...], times: dict[tuple[Level, ...], float], **fixed: Level) -> Dataset:
    return Dataset(
        factors,
        tuple(
            Observation({**dict(zip(factors, key, strict=True)), **fixed}, {"time_s": t}) for key, t in times.items()
        ),
    )


def disk_s(batch: float, processes: float) -> float:
    return 0.0001 * batch + 0.002 * max(1, processes / WORKERS)


def law(cpus: float, batch: float, jobs: float, network: str) -> float:
    cpu_s = 0.045 if network == "lenet5" else 0.03
    return 10 * RECORDS / batch * (cpu_s + disk_s(batch, cpus * jobs))


def runs(factor: float = 1.0) -> Dataset:
    """The factorial of the paper by the law; `factor` is for one of the settings."""
    times: dict[tuple[Level, ...], float] = {
        (c, b, j, n): law(c, b, j, n)
        for c, b, j, n in product((1, 2, 4, 8), (64, 128, 512), (1, 3, 5), ("lenet5", "mlp"))
    }
    times[(1, 128, 1, "lenet5")] *= factor
    return dataset(("cpu", "batch", "njobs", "network"), times, epochs=10, records=RECORDS)


def learned_law(data: Dataset, workers: float = WORKERS) -> Law:
    points = OperationalLaws(workers).learn(pose(data, "time_s")).points
    assert isinstance(points, Law)
    return points


def test_the_law_gives_back_the_times_on_the_cpu_and_at_the_disk_that_made_the_data() -> None:
    data = runs()
    found, x = learned_law(data), pose(data, "time_s").x
    assert found.cpu_s == pytest.approx((0.045, 0.03))
    assert found.disk_time(x) == pytest.approx([disk_s(batch, cpus * jobs) for cpus, batch, jobs, _ in x])
    assert found.unexplained == ()


def test_the_law_holds_at_settings_that_were_never_run() -> None:
    fitted = OperationalLaws(WORKERS).fit(runs(), "time_s")
    at = Configuration({"cpu": 16, "batch": 256, "njobs": 2, "network": "mlp"})
    assert fitted.predict([at]) == [pytest.approx(law(16, 256, 2, "mlp"))]


def test_the_disk_serves_faster_than_it_is_asked() -> None:
    data = runs()
    found, x = learned_law(data), pose(data, "time_s").x
    asked = np.maximum(1, x[:, 0] * x[:, 2] / WORKERS) / found.cpu_time(x)
    assert (found.disk_rate(x) > asked).all()
    assert 1 / (found.disk_rate(x) - asked) == pytest.approx(found.disk_time(x))


def test_runs_faster_than_the_cpu_alone_are_named_and_explode_nothing() -> None:
    found = learned_law(runs(factor=0.2))
    assert len(found.unexplained) == 1
    assert "batch=128" in found.unexplained[0]
    assert "cpu=1" in found.unexplained[0]
    assert min(found.disk_s) >= 0


def test_iterations_are_passes_when_there_is_a_batch_size() -> None:
    data = dataset(("iterations", "batch_size"), {(i, b): i * (1 + b / 50) for i in (10, 20) for b in (16, 64)}, size=9)
    problem = pose(data, "time_s")
    assert passes(problem.domain, problem.x).tolist() == [10, 10, 20, 20]
    without = pose(dataset(("epochs", "batch_size"), {(1, 4): 1.0, (2, 4): 2.0, (1, 8): 1.5}, rows=80), "time_s")
    assert passes(without.domain, without.x).tolist() == [20, 40, 10]


def test_operational_laws_need_something_they_know() -> None:
    data = dataset(("memory",), {(m,): 1.0 / m for m in (1, 2, 4, 8)})
    with pytest.raises(NotEnoughDataError, match=r"cannot model memory(.|\n)*batch size"):
        OperationalLaws().fit(data, "time_s")
    with pytest.raises(StudyError, match="positive"):
        OperationalLaws().fit(dataset(("jobs",), {(j,): 1.0 + j for j in (0, 1, 2, 3)}), "time_s")
    with pytest.raises(StudyError, match="0 is not a valid number of workers"):
        OperationalLaws(workers=0)


def test_processes_are_cpu_times_jobs_and_cpu_is_executors_times_cores() -> None:
    named = pose(dataset(("cpu", "jobs"), {(2, 3): 1.0, (4, 1): 2.0, (1, 1): 3.0}), "time_s")
    assert columns(named.domain, named.x)[:, :2].tolist() == [[6, 2], [4, 4], [1, 1]]
    parts = pose(dataset(("executors",), {(2,): 1.0, (4,): 2.0, (8,): 3.0}, cores=2, jobs=3), "time_s")
    assert cpu(parts.domain, parts.x).tolist() == [4, 8, 16]
    assert columns(parts.domain, parts.x)[:, 0].tolist() == [12, 24, 48]


def test_courier_beats_linear_where_processes_decide() -> None:
    random = np.random.RandomState(7)
    times: dict[tuple[Level, ...], float] = {
        (c, b, j): 9000 / b * (2 + max(0, c * j - 8) / 8) * float(np.exp(0.03 * random.randn()))
        for c, b, j in product((1, 2, 4, 8), (64, 128, 256, 512), (1, 3, 5))
    }
    result = validate(
        dataset(("cpu", "batch", "jobs"), times), "time_s", "kfold:3", ["courier", "linear", "random-forest"]
    )
    errors = {card.model: card.mape for card in result.scorecards}
    assert errors["courier"] < errors["random-forest"] < errors["linear"] < errors["median"]


def test_courier_works_without_any_setting_it_knows() -> None:
    data = dataset(("memory", "codec"), {(m, c): 10.0 / m + len(c) for m in (1, 2, 4) for c in ("lz4", "zstd")})
    assert MODELS.get("courier")().fit(data, "time_s").predict([{"memory": 2, "codec": "lz4"}])[0] > 0


def test_courier_with_few_trees_finds_its_errors_by_refitting() -> None:
    data = dataset(("cpu",), {(c,): 10.0 / c for c in (1, 2, 4, 8)})
    assert Courier(trees=5).learn(pose(data, "time_s")).left_out is None
    assert Courier(trees=5, depth=1, log=False).fit(data, "time_s").predict([{"cpu": 2}])[0] > 0


# ---------------------------------------------------------------- closed-network


def network_time(cpus: float, batch: float, jobs: float, network: str) -> float:
    """By the recursion of mean value analysis, written out for whole numbers of processes on one worker."""
    cpu_s = {"deep": 0.04 + 2e-4 * batch / cpus, "mlp": 0.03 + 5e-5 * batch / cpus}[network]
    disk_s, queued, response = 0.004 + 5e-6 * batch, 0.0, 0.0
    for n in range(1, int(cpus * jobs) + 1):
        response = cpu_s + disk_s * (1 + queued)
        queued = n * disk_s * (1 + queued) / response
    return 600_000 / batch * response


def network_runs() -> Dataset:
    times: dict[tuple[Level, ...], float] = {
        (c, b, j, n): network_time(c, b, j, n)
        for c, b, j, n in product((1, 2, 4), (64, 256, 512), (1, 3, 5), ("deep", "mlp"))
    }
    return dataset(("cpu", "batch", "njobs", "network"), times, epochs=10, records=RECORDS)


def test_a_closed_network_gives_back_the_times_that_made_the_data() -> None:
    fitted = ClosedNetwork().fit(network_runs(), "time_s")
    asked = [Configuration({"cpu": 8, "batch": 128, "njobs": 2, "network": "mlp"})]
    assert fitted.predict(asked) == [pytest.approx(network_time(8, 128, 2, "mlp"), rel=0.02)]


def test_no_load_makes_a_closed_network_explode() -> None:
    """Twenty times the jobs that were measured take at most twenty times as long, and never a negative time."""
    data = network_runs()
    problem = pose(data, "time_s")
    learned = ClosedNetwork().learn(problem).points
    assert isinstance(learned, Network)
    at = [Configuration({"cpu": 4, "batch": 64, "njobs": j, "network": "deep"}) for j in (5, 100)]
    few, many = learned(problem.domain.encode(at))
    assert 0 < few < many <= 20 * few
    assert learned.unexplained == ()
    assert (learned.disk_time(problem.x) > 0).all()


def test_a_closed_network_needs_workers_and_something_that_it_knows() -> None:
    with pytest.raises(StudyError, match="0 workers"):
        ClosedNetwork(workers=0)
