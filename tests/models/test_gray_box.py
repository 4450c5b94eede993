"""The gray box: laws of what runs showed inside, and the memory limit that they give away."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from sparkcast.api import TableOptions, load_data
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.fitting.problem import pose
from sparkcast.models.gray_box import GrayBox, SumOfLaws
from sparkcast.study import Configuration, Dataset, Observation
from sparkcast.study.observation import TaskTotals

KNEE = 2.0  # data per core that fit into memory
SIZES, CORES = (8, 16, 24, 32), (4, 6, 8, 10, 12, 16, 20, 24, 32)


def stages(size: float, cores: float) -> dict[str, float]:
    """A load stage that only needs data per core, and iterations that are fast as long as the cache holds."""
    load = size / cores
    return {"load_s": 3 + 20 * load, "iterate_s": 0.2 + 0.5 * load + 60 * max(0.0, load - KNEE)}


def observed(size: int, cores: int, *, noise: float = 0.0, replicate: int = 1) -> Observation:
    rng = random.Random(f"{size} {cores} {replicate}")
    metrics = {name: value * (1 + rng.uniform(-noise, noise)) for name, value in stages(size, cores).items()}
    time_s = 5 + sum(metrics.values()) + 0.1 * cores
    return Observation({"data_size": size, "cores": cores}, {"time_s": time_s, **metrics}, replicate=replicate)


def dataset(sizes: Sequence[int], cores: Sequence[int], *, noise: float = 0.0) -> Dataset:
    runs = tuple(observed(s, c, noise=noise, replicate=r) for s in sizes for c in cores for r in (1, 2))
    return Dataset(("data_size", "cores"), runs)


def mape(model: GrayBox, train: Dataset, test: Dataset) -> float:
    fitted = model.fit(train, "time_s")
    points = fitted.predict([run.configuration for run in test.observations])
    return 100 * fmean(
        abs(point / run.responses["time_s"] - 1) for point, run in zip(points, test.observations, strict=True)
    )


@pytest.mark.parametrize("left_out", SIZES)
def test_a_size_never_run_is_predicted_across_the_memory_limit(left_out: int) -> None:
    train = dataset([size for size in SIZES if size != left_out], CORES, noise=0.01)
    assert mape(GrayBox(), train, dataset([left_out], CORES)) < 5


def test_stage_times_place_a_knee_that_the_response_alone_leaves_open() -> None:
    # Two of six configurations lie beyond the knee, and none near it.
    train, test = dataset([32], [4, 6, 20, 24, 28, 32], noise=0.01), dataset([32], [8, 10, 12, 14, 16, 18])
    without = replace(train, observations=tuple(_with_only(run, "load_s") for run in train.observations))
    assert mape(GrayBox(), train, test) < mape(GrayBox(), without, test) / 1.5


def _with_only(run: Observation, metric: str) -> Observation:
    return replace(run, responses={name: run.responses[name] for name in ("time_s", metric)})


def test_means_in_the_place_of_metrics_lose_to_laws() -> None:
    train, test = dataset(SIZES, CORES[::2], noise=0.01), dataset(SIZES, CORES[1::2])
    assert mape(GrayBox("predict"), train, test) < mape(GrayBox("mean", trees=10), train, test) / 3


def test_a_forest_asked_with_means_is_not_told_the_metrics_of_the_asked_run() -> None:
    train = dataset(SIZES, CORES, noise=0.01)
    fitted = GrayBox("mean", trees=5).fit(train, "time_s")
    assert fitted.predict([{"data_size": 16, "cores": 8}])[0] > 0


def test_data_that_never_reach_the_limit_get_the_plain_law() -> None:
    train = dataset([8, 16], [16, 20, 24, 32, 40])
    assert mape(GrayBox(), train, dataset([12], [16, 24, 32])) < 0.5


@pytest.mark.parametrize("factor", [1.0, 1e6])
def test_the_unit_of_the_data_size_does_not_matter(factor: float) -> None:
    data = dataset(SIZES, CORES, noise=0.01)
    scaled = _mapped(data, lambda c: c | {"data_size": float(c["data_size"]) * factor})
    [point] = GrayBox().fit(scaled, "time_s").predict([{"data_size": 20.0 * factor, "cores": 14}])
    assert point == pytest.approx(GrayBox().fit(data, "time_s").predict([{"data_size": 20, "cores": 14}])[0], rel=1e-4)


def _mapped(data: Dataset, change: Callable[[Configuration], Configuration]) -> Dataset:
    runs = tuple(replace(run, configuration=change(run.configuration)) for run in data.observations)
    return Dataset(data.factors, runs)


def test_other_settings_scale_the_laws() -> None:
    def run(executors: int, batch: int, net: str) -> Observation:
        work = {"lenet5": 1.0, "vgg": 4.0}[net] * (1 + 64 / batch) * 30 / executors
        return Observation(
            {"executors": executors, "batch_size": batch, "net": net}, {"time_s": 4 + work, "stage_s": work}
        )

    grid = [(e, b, n) for e in (1, 2, 4, 8) for b in (32, 128, 512) for n in ("lenet5", "vgg")]
    data = Dataset(("executors", "batch_size", "net"), tuple(run(*at) for at in grid))
    [point] = GrayBox().fit(data, "time_s").predict([{"executors": 3, "batch_size": 256, "net": "vgg"}])
    assert point == pytest.approx(run(3, 256, "vgg").responses["time_s"], rel=0.2)


def test_metrics_that_are_zero_or_never_change_are_left_aside() -> None:
    data = dataset(SIZES, CORES)
    dull = {"spilled_bytes": 0.0, "n_tasks": 200.0}
    more = replace(
        data, observations=tuple(replace(run, responses={**run.responses, **dull}) for run in data.observations)
    )
    at = [{"data_size": 20, "cores": 14}]
    assert GrayBox().fit(more, "time_s").predict(at) == GrayBox().fit(data, "time_s").predict(at)


def test_totals_of_an_event_log_are_metrics() -> None:
    def run(executors: int) -> Observation:
        totals = TaskTotals(3, 5, 80, 0, executors, 0, 90.0, 80.0, 1.5, 2.0, 1000 * executors, 900, 0)
        return Observation({"executors": executors}, {"time_s": 5 + 90 / executors}, tasks=totals)

    data = Dataset(("executors",), tuple(run(e) for e in (1, 2, 3, 4, 6, 8)))
    assert GrayBox().fit(data, "time_s").predict([{"executors": 5}])[0] == pytest.approx(23, rel=0.05)


def test_runs_that_show_nothing_beside_the_response_are_refused() -> None:
    data = Dataset(("cores",), tuple(Observation({"cores": c}, {"time_s": 9 / c}) for c in (1, 2, 4, 8)))
    for model in (GrayBox(), GrayBox("mean")):
        with pytest.raises(NotEnoughDataError, match=r"have none(.|\n)*`factors=`"):
            model.fit(data, "time_s")


def test_an_unknown_replacement_is_refused() -> None:
    wrong: Any = "median"
    with pytest.raises(StudyError, match=r"'median'(.|\n)*'predict' or 'mean'"):
        GrayBox(wrong)


def test_a_setting_that_cannot_be_is_refused() -> None:
    fitted = GrayBox().fit(dataset(SIZES, CORES), "time_s")
    with pytest.raises(StudyError, match="positive cores, not 0"):
        fitted.predict([{"data_size": 8, "cores": 0}])


def test_no_term_of_a_law_is_negative() -> None:
    points = GrayBox().learn(pose(dataset(SIZES, CORES, noise=0.02), "time_s")).points
    assert isinstance(points, SumOfLaws)
    assert (points.coefficients >= 0).all()


def test_columns_of_a_table_that_are_no_factors_are_metrics_of_the_runs(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    lines = ["data_size,cores,time_s,run,load_s,iterate_s,note,shuffle_bytes"]
    for number, run in enumerate(dataset(SIZES, CORES).observations):
        settings, seen = run.configuration, run.responses
        values = (seen["time_s"], f"application_{number}", seen["load_s"], seen["iterate_s"], "" if number else "x", "")
        lines.append(",".join(map(str, (*settings.values(), *values))))
    path.write_text("\n".join(lines) + "\n")
    data = load_data(path, table=TableOptions(("data_size", "cores"), "time_s")).dataset
    assert data.responses == ("time_s",)
    assert tuple(data.observations[0].responses) == ("time_s", "load_s", "iterate_s")
    assert pose(data, "time_s").metric_names == ("load_s", "iterate_s")
    assert GrayBox().fit(data, "time_s").predict([{"data_size": 20, "cores": 14}])[0] > 0


def test_without_named_factors_what_looks_measured_is_a_metric(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("executors,stage_s,timeout_s,time_s\n1,5,60,9\n2,3,60,6\n4,2,90,4\n")
    data = load_data(path).dataset
    assert (data.factors, data.responses) == (("executors", "timeout_s"), ("time_s",))
    assert tuple(data.observations[0].responses) == ("time_s", "stage_s")
