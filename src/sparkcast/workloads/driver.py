"""The file that spark-submit runs: one workload, once.

    spark-submit [options] driver.py JOB.json REPORT.jsonl

JOB.json holds `workload` (a name), `settings` (complete), `data_dir`, and `options` where the study has some for its
workload. REPORT.jsonl gets one JSON object a line, each with `kind` and `at` (seconds since the Unix epoch):

    driver                          this process is up
    loading                         Spark is up, the data are being made ready
    started                         start-up is over, the measured work begins
    epoch                           one point of the curve: number, time_s, values (responses reached by its end)
    note                            text: something to know of a run that goes well
    result                          responses
    failed                          error, message, cause (the end of the traceback)

It exits with 0 after `result` and with 1 after `failed`.
"""

import json
import math
import os
import re
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self


def _make_importable() -> None:
    """Let `import sparkcast` work in a script, and take the script's own folder, with its short names, off the path."""
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != here]
    if find_spec("sparkcast") is None:
        sys.path.append(str(here.parents[1]))


if __name__ == "__main__":
    _make_importable()

from sparkcast.errors import RunError  # noqa: E402
from sparkcast.study import Configuration  # noqa: E402
from sparkcast.workloads import WORKLOADS  # noqa: E402
from sparkcast.workloads.nodes import watch_nodes  # noqa: E402

_CAUSE_LINES = 40
_MESSAGE_CHARACTERS = 2000
_JAVA_FRAME = re.compile(r"\s+at \S+\(.*\)|\s+\.\.\. \d+ more")
# What a Python process of an executor died of, in the error that the driver gets.
_IN_EXECUTOR = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)+(\S.*)")
# 52 is how Spark's processes exit when Java's heap is full.
_OUT_OF_MEMORY = re.compile(r"OutOfMemoryError|MemoryError|Java heap space|GC overhead limit|exited with code 52")


class Report:
    """JSON lines, each complete on disk as soon as it is written: the reader may come at any time."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, kind: str, **fields: Any) -> None:
        self._file.write(json.dumps({"kind": kind, "at": time.time(), **fields}) + "\n")
        self._file.flush()


def ship_workloads() -> None:
    """Let tasks bring their code with them: executors need Python, but neither sparkcast nor a workload's package."""
    from pyspark import cloudpickle

    for package in WORKLOADS.by_package():
        cloudpickle.register_pickle_by_value(import_module(package))


class DriverJob:
    """The `Job` of a workload that runs inside a Spark driver."""

    def __init__(
        self, settings: Configuration, data_dir: Path, report: Report, options: Mapping[str, Any] | None = None
    ) -> None:
        self.settings = settings
        self.options = options or {}
        self.data_dir = data_dir
        self.has_result = False
        self._report = report
        self._context: Any = None
        self._samplers = ExitStack()

    def spark_context(self) -> Any:
        if self._context is None:
            from pyspark import SparkContext

            ship_workloads()
            self._context = SparkContext.getOrCreate()
            self._watch_nodes()
        return self._context

    def _watch_nodes(self) -> None:
        try:
            self._samplers.enter_context(watch_nodes(self._context))
        except Exception as error:  # executors without Python: the job itself may not need it
            failure = describe(error)
            self.note(
                f"the nodes of the cluster were not sampled: {(failure['message'] or failure['error']).splitlines()[0]}"
            )

    def loading(self) -> None:
        self._report.write("loading")

    def started(self) -> None:
        self._report.write("started")

    def epoch(self, number: int, time_s: float, **responses: float | None) -> None:
        self._report.write("epoch", number=number, time_s=time_s, values=_finite(responses))

    def note(self, text: str) -> None:
        self._report.write("note", text=text)

    def result(self, **responses: float) -> None:
        if self.has_result:
            raise RuntimeError("result() was called twice")
        self.has_result = True
        self._report.write("result", responses=_finite(responses))

    def stop(self) -> None:
        self._samplers.close()
        if self._context is not None:
            self._context.stop()


def _finite(numbers: Mapping[str, float | None]) -> dict[str, float]:
    """Only what was measured: a loss that diverged is NaN, which JSON has no word for."""
    return {name: float(n) for name, n in numbers.items() if n is not None and math.isfinite(n)}


def describe(error: BaseException) -> dict[str, str]:
    """The fields of `failed`: what it was, and the end of its traceback.

    Java's stack frames are left out; lines about memory are kept wherever they stood.
    """
    # Formatted once: an error of Java asks its JVM for the text, and the JVM may be about to go.
    text = "".join(traceback.format_exception(error))
    name = type(error).__name__
    _, has_message, message = text.rpartition(f"{name}: ")
    if "PythonException" in text and (causes := _IN_EXECUTOR.findall(text.rpartition("PythonException:")[2])):
        message = causes[-1]
    lines = [line for line in text.splitlines() if line.strip() and not _JAVA_FRAME.fullmatch(line)]
    memory = [line for line in lines[:-_CAUSE_LINES] if _OUT_OF_MEMORY.search(line)]
    return {
        "error": name,
        "message": message.strip()[:_MESSAGE_CHARACTERS] if has_message else "",
        "cause": "\n".join([*memory[:2], *lines[-_CAUSE_LINES:]]),
    }


def run_job(order: Path, report: Report) -> int:
    """Run the workload that the JSON file `order` names; returns the exit code."""
    job: DriverJob | None = None
    code = 0
    try:
        wanted = json.loads(order.read_text(encoding="utf-8"))
        workload = WORKLOADS.get(wanted["workload"])()
        job = DriverJob(Configuration(wanted["settings"]), Path(wanted["data_dir"]), report, wanted.get("options"))
        workload.run(job)
        if not job.has_result:
            raise RunError(f"workload {wanted['workload']!r} finished without a result")
    except Exception as error:
        failure = describe(error)
        report.write("failed", **failure)
        print(failure["cause"], file=sys.stderr)
        code = 1
    if job is not None:
        try:
            job.stop()
        except Exception:  # the JVM is gone already: what there was to say is in the report
            traceback.print_exc()
    return code


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 2:
        print("usage: spark-submit [options] driver.py JOB.json REPORT.jsonl", file=sys.stderr)
        return 2
    with Report(Path(arguments[1])) as report:
        report.write("driver", pid=os.getpid())
        return run_job(Path(arguments[0]), report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
