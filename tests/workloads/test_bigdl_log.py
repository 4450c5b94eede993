import math

import pytest

from sparkcast.study import Epoch
from sparkcast.workloads.bigdl_log import EpochCollector, Trained, Validated, parse_line

ITERATION = (
    "26/11/15 21:50:53 INFO DistriOptimizer$: [Epoch 2 128/2000][Iteration 17][Wall Clock 5.388549985s] Trained 128.0 "
    "records in 0.157571782 seconds. Throughput is 812.3282 records/second. Loss is 1.471257. Sequential6ae02ee4's "
    "hyper parameters: Current learning rate is 0.2. Current dampening is 1.7976931348623157E308."
)
ACCURACY = (
    "[Epoch 1 2048/2000][Iteration 16][Wall Clock 5.203859633s] "
    "Top1Accuracy is Accuracy(correct: 746, count: 1000, accuracy: 0.746)"
)
OTHERS = (
    "26/11/15 21:50:52 INFO DistriOptimizer$: [Epoch 1 2048/2000][Iteration 16][Wall Clock 5.203859633s] "
    "Epoch finished. Wall clock time is 5230.978203 ms",
    "[Epoch 1 2048/2000][Iteration 16][Wall Clock 5.2s] validate model throughput is 3808.0808 records/second",
    "[Epoch 1 2048/2000][Iteration 16][Wall Clock 5.203859633s] Validate model...",
    "26/11/15 21:50:47 INFO DistriOptimizer$: config  {",
    "\tcomputeThresholdbatchSize: 100",
    "",
)

SUMMARY = """1794946831540
========== Metrics Summary ==========
get weights average : 0.002 s
get weights for each node : 0.001 0.003
computing time average : 0.05 s
computing time for each node : 0.04 0.06
aggregate gradient time : 5.0E-4 s
put gradient : 0.001 s
aggregrateGradientParition average executor : 0.003 s
compute weight average : 1.0E-7 s
send weights average : 1.0E-4 s
====================================="""


def test_an_iteration_is_read_from_a_whole_log_line() -> None:
    assert parse_line(ITERATION) == Trained(2, 17, 5.388549985, 128.0, 0.157571782, 1.471257)


def test_an_accuracy_is_read_from_the_bare_message() -> None:
    assert parse_line(ACCURACY) == Validated(1, 16, 5.203859633, 0.746)


@pytest.mark.parametrize("line", [ITERATION, ACCURACY])
def test_older_logs_put_a_space_before_the_unit(line: str) -> None:
    assert parse_line(line.replace("s]", " s]")) == parse_line(line)


def test_older_logs_have_iterations_without_a_loss_and_whole_records() -> None:
    line = "[Epoch 3 64/60000][Iteration 9][Wall Clock 7 s] Trained 64 records in 0.5 seconds. "
    assert parse_line(f"{line}Throughput is 128 records/second.") == Trained(3, 9, 7.0, 64.0, 0.5, None)


def test_a_diverged_loss_is_not_a_number() -> None:
    event = parse_line(ITERATION.replace("1.471257", "NaN"))
    assert isinstance(event, Trained)
    assert event.loss is not None
    assert math.isnan(event.loss)


@pytest.mark.parametrize("line", OTHERS)
def test_other_lines_say_nothing(line: str) -> None:
    assert parse_line(line) is None


def test_a_curve_has_one_point_per_validation_with_the_means_of_its_iterations() -> None:
    curve = EpochCollector()
    for i, loss in enumerate((2.0, 1.0), start=1):
        assert curve.add(Trained(1, i, 0.0, 100.0, 0.5, loss), 0.0) is None
    first = curve.add(Validated(1, 2, 1.0, 0.6), 3.25)
    curve.add(Trained(2, 3, 0.0, 100.0, 0.25, 0.5), 4.0)
    second = curve.add(Validated(2, 3, 1.25, 0.8), 5.0)
    assert first is not None
    assert second is not None
    assert first == Epoch(1, 3.25, {"accuracy": 0.6, "loss": 1.5, "throughput": 200.0})
    assert (second.values["loss"], second.values["throughput"]) == (0.5, 400.0)
    assert (curve.records, curve.training_s) == (300.0, 1.25)


def test_what_iterations_spent_where_adds_up_over_executors_and_validation() -> None:
    curve = EpochCollector()
    for line in SUMMARY.splitlines() * 2:
        curve.add_metric(line)
    curve.add(Trained(1, 2, 0.0, 100.0, 0.5, 1.0), 3.0)
    curve.add(Validated(1, 2, 1.0, 0.6), 3.25)
    assert curve.compute_s == pytest.approx(2 * 0.05 + 0.25)
    assert curve.sync_s == pytest.approx(2 * (0.002 + 0.0005 + 0.001 + 0.003 + 1e-4))
