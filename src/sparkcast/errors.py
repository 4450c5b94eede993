"""Every error a user can cause or fix.

    SparkcastError            exit  http
    ├── StudyError               2   422   the question is malformed (study file, CSV, option)
    │   └── StudyChangedError    2   409   the study file no longer matches what was measured
    ├── UnknownNameError         2   404   no such workload, model, engine, design
    ├── StoreError               2   507   results cannot be read or written
    │   └── BusyError            2   409   another process is running this study
    ├── RunError                 3   502   the cluster did not do what was asked
    │   ├── JavaError            3   502   no Java that suits this Spark
    │   └── CapacityError        3   502   the cluster is smaller than the trial
    ├── NotEnoughDataError       4   409   the method needs more runs
    └── InfeasibleError          5   409   no configuration meets the constraints

Only the command line and the web service turn these into exit codes and HTTP statuses.
"""


class Hint(str):
    """A hint that also tells programs which names may have been meant."""

    nearest: tuple[str, ...] = ()

    @classmethod
    def naming(cls, text: str, nearest: tuple[str, ...]) -> "Hint":
        hint = cls(text)
        hint.nearest = nearest
        return hint


class SparkcastError(Exception):
    """Base class. `hint` is the next thing to try; write one whenever you know it.

    `nearest` is the same for programs: names that may have been meant, or what could be had instead.
    """

    exit_code = 1
    http_status = 500

    def __init__(self, problem: str, *, hint: str = "", nearest: tuple[object, ...] = ()) -> None:
        super().__init__(problem, hint)
        self.problem = problem
        self.hint = hint
        self.nearest = nearest or (hint.nearest if isinstance(hint, Hint) else ())

    def __str__(self) -> str:
        return f"{self.problem}\n  hint: {self.hint}" if self.hint else self.problem

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling of exceptions.
        return _rebuild, (type(self), self.problem, self.hint, self.nearest)


def _rebuild(cls: type[SparkcastError], problem: str, hint: str, nearest: tuple[object, ...]) -> SparkcastError:
    return cls(problem, hint=hint, nearest=nearest)


class StudyError(SparkcastError, ValueError):
    exit_code, http_status = 2, 422


class StudyChangedError(StudyError):
    http_status = 409


class UnknownNameError(SparkcastError, LookupError):
    exit_code, http_status = 2, 404


class StoreError(SparkcastError, OSError):
    exit_code, http_status = 2, 507


class BusyError(StoreError):
    http_status = 409


class RunError(SparkcastError, RuntimeError):
    exit_code, http_status = 3, 502


class JavaError(RunError):
    pass


class CapacityError(RunError):
    pass


class NotEnoughDataError(SparkcastError):
    exit_code, http_status = 4, 409


class InfeasibleError(SparkcastError):
    exit_code, http_status = 5, 409
