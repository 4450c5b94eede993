"""The driver's side of training with PyTorch, without PyTorch: when it waits, when it gives up, and what it raises."""

import threading

import pytest

from sparkcast_papers.workloads import _training_reports
from sparkcast_papers.workloads._training_reports import _what_was_raised, until_told


class Context:
    def __init__(self) -> None:
        self.cancelled = 0

    def cancelAllJobs(self) -> None:
        self.cancelled += 1


def test_a_training_that_ends_by_itself_is_waited_for() -> None:
    context, has_result = Context(), threading.Event()
    until_told(context, has_result, has_result.set)
    assert context.cancelled == 0


def test_a_failure_before_the_result_is_raised() -> None:
    def fail() -> None:
        raise RuntimeError("no executors")

    with pytest.raises(RuntimeError, match="no executors"):
        until_told(Context(), threading.Event(), fail)


def test_processes_that_do_not_end_after_the_result_are_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_training_reports, "_LEAVE_S", 0.2)
    context, has_result, end = Context(), threading.Event(), threading.Event()

    def hang() -> None:
        has_result.set()
        end.wait(30)

    until_told(context, has_result, hang)
    assert context.cancelled == 1
    end.set()


def test_a_process_that_dies_after_the_result_does_not_undo_it() -> None:
    context, has_result = Context(), threading.Event()

    def die() -> None:
        has_result.set()
        raise RuntimeError("Signal 6 (SIGABRT)")

    until_told(context, has_result, die)
    assert context.cancelled == 0


@pytest.mark.parametrize(
    ("traceback", "raised"),
    [
        ('Traceback (most recent call last):\n  File "a.py", line 1\n    x()\nValueError: no\n', "ValueError: no"),
        (
            "Traceback (most recent call last):\n    y()\nRuntimeError: peer left\n\nAt:\n  b.py(3): f\n",
            "RuntimeError: peer left",
        ),
        (
            "Traceback:\n    x\nKeyError: 'a'\n\nDuring handling:\n\nTraceback:\n    z\nmodule.OwnError\n",
            "module.OwnError",
        ),
        ("", "it said nothing"),
    ],
)
def test_the_exception_is_found_in_a_traceback(traceback: str, raised: str) -> None:
    assert _what_was_raised(traceback) == raised
