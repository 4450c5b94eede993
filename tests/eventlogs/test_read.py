import json
import stat
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eventlogs_support import CODECS, START, application, as_lines, real_lines, task_end
from sparkcast.eventlogs import LogLimits, LogRead, LogStatus, read_log
from sparkcast.facts.span import job_span_ms

LINES = as_lines(application())


def _read(tmp_path: Path, lines: list[bytes], **limits: Any) -> LogRead:
    path = tmp_path / "app-1"
    path.write_bytes(b"".join(lines))
    return read_log(path, LogLimits(**limits))


def _same(one: LogRead, other: LogRead) -> bool:
    parts = "application environment resource_profiles executors jobs stages sql_executions".split()
    return all(getattr(one, part) == getattr(other, part) for part in parts) and one.frame("tasks").equals(
        other.frame("tasks")
    )


def test_every_part_of_an_application_is_there(tmp_path: Path) -> None:
    log = _read(tmp_path, LINES)
    assert (log.status, log.reason) == (LogStatus.OK, "")
    app = log.application
    assert (app.app_id, app.attempt_id, app.name, app.user, app.spark_version) == ("app-1", "2", "job", "me", "3.5.1")
    assert app.duration_s == 2.1
    assert app.key == "app-1/2"
    assert job_span_ms(log) == (START + 900, START + 2010)
    assert log.environment.command_line == "job.py --rows 10"
    (profile,) = log.resource_profiles
    assert (profile.executor_cores, profile.memory_mib, profile.task_cpus) == (4, 2048, 1.0)
    (executor,) = log.executors
    assert (executor.cores, executor.added_ms, executor.removed_ms) == (4, START + 500, START + 2030)
    assert executor.peak_heap_bytes == 1002
    (job,) = log.jobs
    assert (job.succeeded, job.stage_ids, job.name, job.description) == (True, (0,), "count at job.py:1", "first")
    assert job.properties == {"spark.sparkcast.rows": "10"}
    (stage,) = log.stages
    assert (stage.n_tasks, stage.completed_ms, stage.rdds[0].scope) == (3, START + 2000, "Exchange")
    assert stage.accumulators == {"data sent to Python workers": 123.0}
    (sql,) = log.sql_executions
    assert (sql.description, sql.modified_configs) == ("count it", {"spark.sql.shuffle.partitions": "8"})
    assert (sql.job_ids, sql.ended_ms) == ((0,), START + 2020)
    (node,) = sql.plan
    assert (node.name, node.text, node.value("data size")) == ("BroadcastExchange", "BroadcastExchange", 4096.0)


def test_tasks_are_columns_in_spark_units(tmp_path: Path) -> None:
    tasks = _read(tmp_path, LINES).tasks
    assert len(tasks) == 3
    assert tasks["run_ms"].tolist() == [100, 100, 100]
    assert tasks["run_ms"].dtype == np.int64
    assert tasks.seconds("cpu_ns").tolist() == pytest.approx([0.09, 0.09, 0.09])
    assert tasks.total("remote_read_bytes") == 30
    assert tasks.text("executor").tolist() == ["1", "1", "1"]
    assert tasks.flags("is_failed").any() == False  # noqa: E712 - a numpy truth value
    assert tasks.where(tasks["task_id"] > 0)["index"].tolist() == [1, 2]
    assert tasks.frame()["host"].tolist() == ["worker"] * 3


def test_a_real_log_agrees_with_plain_json(tmp_path: Path) -> None:
    log = _read(tmp_path, real_lines())
    ends = [json.loads(line) for line in real_lines() if b"SparkListenerTaskEnd" in line]
    assert log.tasks.total("cpu_ns") == sum(end["Task Metrics"]["Executor CPU Time"] for end in ends)
    assert log.tasks["launch_ms"].tolist() == [end["Task Info"]["Launch Time"] for end in ends]
    assert log.tasks.text("host").tolist() == [end["Task Info"]["Host"] for end in ends]


@pytest.mark.parametrize("codec", CODECS)
def test_compressed_logs_say_the_same(codec: str, tmp_path: Path) -> None:
    path = tmp_path / f"app-1.{codec}"
    path.write_bytes(CODECS[codec](b"".join(LINES)))
    log = read_log(path)
    assert log.status is LogStatus.OK
    assert _same(log, _read(tmp_path, LINES))


def test_the_order_of_keys_and_of_lines_does_not_matter(tmp_path: Path) -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(inner) for key, inner in reversed(value.items())}
        return value

    expected = _read(tmp_path, LINES)
    assert _same(_read(tmp_path, as_lines([turned(event) for event in application()])), expected)
    backwards = _read(tmp_path, LINES[::-1])
    assert backwards.status is LogStatus.OK
    assert asdict(backwards.application) == asdict(expected.application)
    assert backwards.jobs[0].succeeded
    assert (backwards.executors[0].cores, backwards.stages) == (4, expected.stages)


def test_a_log_in_progress_is_partial(tmp_path: Path) -> None:
    log = _read(tmp_path, LINES[:-1])
    assert log.status is LogStatus.PARTIAL
    assert "has not ended" in log.reason
    assert log.application.duration_s is None
    assert log.application.last_event_ms == START + 2030


def test_a_log_that_begins_in_the_middle_is_partial(tmp_path: Path) -> None:
    log = _read(tmp_path, LINES[8:])
    assert log.status is LogStatus.PARTIAL
    assert "start of the application is missing" in log.reason
    assert len(log.tasks) == 3


def test_bad_lines_are_counted_and_cost_nothing_else(tmp_path: Path) -> None:
    bad = [b"\xff\xfe\n", b"{\n", b"[]\n", b'{"Event":7}\n', b'{"Event":"SparkListenerTaskEnd","Stage ID":\n']
    log = _read(tmp_path, [line for pair in zip(bad, LINES, strict=False) for line in pair] + LINES[len(bad) :])
    assert (log.counts.bad_lines, log.status) == (len(bad), LogStatus.PARTIAL)
    assert "5 of" in log.reason
    assert len(log.tasks) == 3


def test_events_that_nobody_knows_are_passed_over(tmp_path: Path) -> None:
    connect = {"Event": "org.apache.spark.sql.connect.service.SparkListenerConnectOperationStarted", "jobTag": "x"}
    log = _read(tmp_path, as_lines([connect, {"Event": "SparkListenerSomethingNew"}]) + LINES)
    assert log.status is LogStatus.OK
    assert log.counts.unknown_events == 2
    assert log.events["SparkListenerConnectOperationStarted"] == 1


@pytest.mark.parametrize("value", [None, "many", [], {}, 1.5, 10**40, True])
def test_one_field_of_a_wrong_type_costs_that_field_alone(value: object, tmp_path: Path) -> None:
    odd = task_end(7, run_ms=50)
    odd["Task Metrics"]["JVM GC Time"] = value
    odd["Task Info"]["Host"] = value
    log = _read(tmp_path, [*LINES[:-1], *as_lines([odd]), LINES[-1]])
    assert log.tasks["run_ms"].tolist() == [100, 100, 100, 50]
    assert log.status is LogStatus.OK


def test_numbers_in_quotes_not_a_number_and_broken_text_are_mended(tmp_path: Path) -> None:
    (line,) = as_lines([task_end(7)])
    line = line.replace(b'"JVM GC Time":3', b'"JVM GC Time":NaN').replace(b'"worker"', b'"wor\xffker"')
    line = line.replace(b'"Executor Run Time":100', b'"Executor Run Time":"77"')
    log = _read(tmp_path, [line])
    assert log.tasks["run_ms"].tolist() == [77]
    assert log.tasks.text("host").tolist() == ["wor�ker"]
    assert log.counts.mended_lines == 1


def test_numbers_too_large_for_64_bits_are_held_at_the_limit(tmp_path: Path) -> None:
    log = _read(tmp_path, as_lines([task_end(number, run_ms=10**25) for number in range(3)]))
    assert log.tasks.total("run_ms") == 3 * (2**63 - 1)


def test_a_name_that_is_too_long_is_cut_and_read_on(tmp_path: Path) -> None:
    events = [task_end(number) for number in range(3)]
    for event in events:
        event["Task Info"]["Host"] = "h" * 900
    log = _read(tmp_path, as_lines(events))
    assert log.tasks.text("host").tolist() == ["h" * 500] * 3


def test_the_same_task_told_twice_counts_once(tmp_path: Path) -> None:
    log = _read(tmp_path, [*LINES[:-1], *LINES[8:10], LINES[-1]])
    assert len(log.tasks) == 3
    assert log.counts.duplicate_tasks == 2


def test_a_repeated_task_end_is_dropped_wherever_it_stands_and_the_others_keep_their_order(tmp_path: Path) -> None:
    ends = [task_end(number) for number in (7, 3, 5, 7, 3)]
    log = _read(tmp_path, as_lines(ends))
    assert log.tasks["task_id"].tolist() == [7, 3, 5]
    assert log.counts.duplicate_tasks == 2


def test_two_ends_of_one_task_at_different_times_both_count(tmp_path: Path) -> None:
    ends = [task_end(1), task_end(1), task_end(2)]
    ends[1]["Task Info"]["Finish Time"] += 5
    log = _read(tmp_path, as_lines(ends))
    assert log.tasks["task_id"].tolist() == [1, 1, 2]
    assert log.counts.duplicate_tasks == 0


def test_tasks_without_an_id_are_not_taken_for_one(tmp_path: Path) -> None:
    log = _read(tmp_path, as_lines([task_end(-1), task_end(-1)]))
    assert (len(log.tasks), log.counts.duplicate_tasks) == (2, 0)


def test_failed_tasks_say_why(tmp_path: Path) -> None:
    python = {
        "Reason": "ExceptionFailure",
        "Class Name": "PythonException",
        "Description": "Traceback\n x\nValueError: no\n",
    }
    killed = {"Reason": "TaskKilled", "Kill Reason": "another attempt succeeded"}
    log = _read(tmp_path, as_lines([task_end(0, reason=python), task_end(1, reason=killed)]))
    assert log.tasks.text("end_detail").tolist() == ["ValueError: no", "another attempt succeeded"]
    assert log.tasks.text("end_reason").tolist() == ["ExceptionFailure", "TaskKilled"]


def test_spark_2_4_without_executor_metrics_and_profiles_is_read(tmp_path: Path) -> None:
    events = [event for event in application() if "ResourceProfile" not in event["Event"]]
    for event in events:
        event.pop("Task Executor Metrics", None)
        event.get("Executor Info", {}).pop("Resource Profile Id", None)
    log = _read(tmp_path, as_lines(events))
    assert log.status is LogStatus.OK
    assert log.executors[0].peak_heap_bytes == 0


def test_an_executor_id_that_comes_back_is_another_executor(tmp_path: Path) -> None:
    added: dict[str, Any] = {
        "Event": "SparkListenerExecutorAdded",
        "Executor ID": "1",
        "Executor Info": {"Total Cores": 2},
    }
    removed: dict[str, Any] = {"Event": "SparkListenerExecutorRemoved", "Executor ID": "1"}
    events = [
        added | {"Timestamp": 10},
        removed | {"Timestamp": 20},
        added | {"Timestamp": 30},
        removed | {"Timestamp": 40},
    ]
    log = _read(tmp_path, as_lines(events))
    assert [(one.added_ms, one.removed_ms) for one in log.executors] == [(10, 20), (30, 40)]


def test_what_is_no_log_is_skipped(tmp_path: Path) -> None:
    assert _read(tmp_path, []).reason == "empty"
    assert _read(tmp_path, [b"a,b\n1,2\n"]).status is LogStatus.SKIPPED
    assert _read(tmp_path, [b"a,b\n"] * 5000).reason.endswith("not an event log")
    (tmp_path / "folder").mkdir()
    assert read_log(tmp_path / "folder").reason == "the folder contains no event log"


def test_a_huge_file_of_something_else_is_given_up_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparkcast.eventlogs.read._BYTES_TO_SEE_AN_EVENT", 2**22)
    log = _read(tmp_path, [b"x" * 2**24])
    assert (log.status, log.counts.log_bytes < 2**23) == (LogStatus.SKIPPED, True)
    assert log.reason.endswith("not an event log")


def test_a_file_that_cannot_be_opened_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "app-1"
    path.write_bytes(LINES[0])

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    assert stat.S_ISREG(path.stat().st_mode)
    monkeypatch.setattr(Path, "open", refuse)
    log = read_log(path)
    assert (log.status, log.reason) == (LogStatus.FAILED, "app-1: Permission denied")


def test_a_damaged_part_of_a_rolling_log_does_not_stop_the_rest(tmp_path: Path) -> None:
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    (folder / "events_1_app-1.lz4").write_bytes(CODECS["lz4"](b"".join(LINES[:9])))
    (folder / "events_2_app-1.lz4").write_bytes(b"LZ4Block damaged")
    (folder / "events_3_app-1.lz4").write_bytes(CODECS["lz4"](b"".join(LINES[9:])))
    log = read_log(folder)
    assert (log.status, len(log.tasks)) == (LogStatus.PARTIAL, 3)
    assert "events_2_app-1.lz4" in log.reason


def test_a_line_longer_than_the_limit_is_dropped_alone(tmp_path: Path) -> None:
    long = b'{"Event":"SparkListenerJobStart","x":"' + b"y" * 5_000_000 + b'"}\n'
    log = _read(tmp_path, [*LINES[:5], long, *LINES[5:]], max_line_bytes=1_000_000)
    assert (log.counts.bad_lines, len(log.tasks), len(log.jobs)) == (1, 3, 1)


def test_a_decompression_bomb_is_stopped_and_what_came_before_kept(tmp_path: Path) -> None:
    import zstandard

    path = tmp_path / "app-1.zstd"
    path.write_bytes(zstandard.ZstdCompressor().compress(b"".join(LINES) + b"\0" * 2**26))
    log = read_log(path)
    assert (log.status, len(log.tasks)) == (LogStatus.PARTIAL, 3)
    assert "decompression bomb" in log.reason
    assert log.counts.log_bytes < 2**24
    assert read_log(path, LogLimits(max_log_bytes=1000)).counts.log_bytes <= 2**20


def test_two_applications_in_one_file_are_told(tmp_path: Path) -> None:
    start = {"Event": "SparkListenerApplicationStart", "App ID": "app-2", "Timestamp": START}
    assert "2 applications in one log" in _read(tmp_path, [*LINES, *as_lines([start])]).reason


def test_a_million_numbers_stay_narrow(tmp_path: Path) -> None:
    log = _read(tmp_path, as_lines([task_end(number) for number in range(20_000)]))
    assert len(log.tasks) == 20_000
    assert sum(column.itemsize for column in log.tasks.numbers.values()) < 110  # 8 bytes each would be 312
    assert log.tasks["task_id"].tolist() == list(range(20_000))


def test_of_the_plans_of_a_query_the_first_and_the_last_are_kept_as_trees(tmp_path: Path) -> None:
    def plan(name: str, *children: dict[str, Any]) -> dict[str, Any]:
        metrics = [{"name": "sort time", "accumulatorId": 79, "metricType": "timing"}] if name == "Sort" else []
        return {"nodeName": name, "simpleString": f"{name} [k#1L]", "children": [*children], "metrics": metrics}

    sql = "org.apache.spark.sql.execution.ui.SparkListenerSQL"
    start = {"Event": f"{sql}ExecutionStart", "executionId": 5, "sparkPlanInfo": plan("Join", plan("A"), plan("B"))}
    updates = [
        {"Event": f"{sql}AdaptiveExecutionUpdate", "executionId": 5, "sparkPlanInfo": told}
        for told in (plan("Between"), plan("Join", plan("Sort", plan("A")), plan("B")))
    ]
    done = {"Stage ID": 0, "Accumulables": [{"ID": 79, "Name": "sort time", "Value": "70"}]}
    lines = as_lines([start, *updates, {"Event": "SparkListenerStageCompleted", "Stage Info": done}])
    ended = as_lines([{"Event": f"{sql}ExecutionEnd", "executionId": 5, "time": 1}])
    for more in ([], ended, [*ended, *lines, *ended]):
        log = _read(tmp_path, [*LINES, *lines, *more])
        query = next(one for one in log.sql_executions if one.execution_id == 5)
        assert [node.name for node in query.first_plan] == ["Join", "A", "B"]
        assert [(node.name, node.parent) for node in query.plan] == [("Join", -1), ("Sort", 0), ("A", 1), ("B", 0)]
        assert query.plan[1].text == "Sort [k#1L]"
        assert query.plan[1].value("sort time") == 70
        assert next(stage for stage in log.stages if not stage.n_tasks).accumulated == {79: 70.0}
