import math

import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models.ernest import Ernest
from sparkcast.study import Configuration, Dataset, Level, Observation


def law(size: float, machines: float) -> float:
    return 5 + 100 * size / machines + 2 * math.log(machines) + 0.1 * machines


def dataset(factors: tuple[str, ...], times: dict[tuple[Level, ...], float]) -> Dataset:
    return Dataset(
        factors,
        tuple(Observation(dict(zip(factors, key, strict=True)), {"time_s": t}) for key, t in times.items()),
    )


@pytest.mark.parametrize(
    ("factors", "at"),
    [
        (("sampling_rate", "executors"), {"sampling_rate": 1.0, "executors": 64}),
        (("sampling_rate", "instances"), {"sampling_rate": 1.0, "instances": 64}),
        (("size", "cores"), {"size": 1.0, "cores": 64}),
    ],
)
def test_ernest_recovers_its_own_law_far_outside_the_measured_range(
    factors: tuple[str, ...], at: Configuration
) -> None:
    data = dataset(factors, {(s, m): law(s, m) for s in (0.125, 0.25, 0.5) for m in (1, 2, 4, 8)})
    assert Ernest().fit(data, "time_s").predict([at]) == [pytest.approx(law(1.0, 64), rel=1e-6)]


def test_machines_are_executors_times_cores() -> None:
    data = dataset(("executors", "cores"), {(e, c): law(1, e * c) for e in (1, 2, 4) for c in (1, 2, 4)})
    assert Ernest().fit(data, "time_s").predict([{"executors": 8, "cores": 4}]) == [pytest.approx(law(1, 32), rel=1e-6)]


def test_settings_that_were_fixed_in_the_study_need_not_be_given() -> None:
    observations = tuple(
        Observation({"executors": e, "cores": 4}, {"time_s": law(1, 4 * e)}) for e in (1, 2, 3, 4, 6, 8)
    )
    fitted = Ernest().fit(Dataset(("executors",), observations), "time_s")
    assert fitted.predict([{"executors": 5}]) == fitted.predict([{"executors": 5, "cores": 4}])
    assert fitted.predict([{"executors": 5}]) == [pytest.approx(law(1, 20), rel=1e-6)]


def test_every_combination_of_other_factors_has_its_own_law() -> None:
    data = dataset(("executors", "batch_size"), {(e, b): law(1, e) * b / 64 for e in (1, 2, 4, 8) for b in (64, 128)})
    fitted = Ernest().fit(data, "time_s")
    assert fitted.predict([{"executors": 16, "batch_size": 128}]) == [pytest.approx(2 * law(1, 16), rel=1e-6)]
    with pytest.raises(NotEnoughDataError, match=r"no law for batch_size=96(.|\n)*another model"):
        fitted.predict([{"executors": 16, "batch_size": 96}])


def test_too_few_runs_for_a_combination_of_other_factors_are_refused_by_name() -> None:
    data = dataset(("executors", "batch_size"), {(e, b): law(1, e) for e in (1, 2) for b in (64, 128)})
    with pytest.raises(NotEnoughDataError, match=r"model batch_size(.|\n)*=64 has only 2 (.|\n)*at least 3"):
        Ernest().fit(data, "time_s")


def test_ernest_needs_machines_or_sizes() -> None:
    data = dataset(("batch_size",), {(b,): b / 3 for b in (1, 2, 4, 8)})
    with pytest.raises(NotEnoughDataError, match=r"machines or data size(.|\n)*`roles={NAME: 'machines'}"):
        Ernest().fit(data, "time_s")


def test_ernest_predicts_times_only() -> None:
    data = Dataset(("executors",), tuple(Observation({"executors": e}, {"accuracy": 0.9}) for e in (1, 2, 3, 4)))
    with pytest.raises(StudyError, match="accuracy is not a time"):
        Ernest().fit(data, "accuracy")


def test_machines_must_be_positive_numbers() -> None:
    with pytest.raises(StudyError, match="positive numbers"):
        Ernest().fit(dataset(("executors",), {(e,): 3.0 + e for e in (0, 1, 2, 3)}), "time_s")
    fitted = Ernest().fit(dataset(("executors",), {(e,): law(1, e) for e in (1, 2, 3, 4)}), "time_s")
    with pytest.raises(StudyError, match="positive numbers"):
        fitted.predict([{"executors": 0}])
