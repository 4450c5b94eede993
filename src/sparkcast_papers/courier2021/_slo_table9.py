"""Table 9 held against the error that the paper itself reports."""

from dataclasses import dataclass
from math import sqrt

from sparkcast.replications import Row, Section, show
from sparkcast_papers.courier2021 import _printed


@dataclass(frozen=True, slots=True)
class Line:
    """A job, and what Courier chose and predicted for it."""

    cpu: int
    njobs: int
    slo_s: int
    batch: int
    accuracy: str
    time_s: str


TABLE_9 = (
    Line(1, 5, 422, 128, "0.9386", "280.19"),
    Line(2, 1, 412, 128, "0.9444", "299.59"),
    Line(4, 1, 254, 128, "0.9388", "240.56"),
    Line(4, 2, 342, 128, "0.9475", "280.23"),
    Line(8, 3, 166, 512, "0.8927", "112.70"),
)
_RUNS_EACH = 3


def chance_in_time(line: Line) -> float:
    """That one run meets its SLO, if errors are normal with the MSE of Section 5.3, and alike for all jobs.

    >>> round(chance_in_time(TABLE_9[2]), 2)
    0.76
    """
    from scipy.stats import norm

    return float(norm.cdf((line.slo_s - float(line.time_s)) / sqrt(float(_printed.EVALUATION_COURIER))))


def allowed_by_own_error() -> Section:
    chances = [chance_in_time(line) for line in TABLE_9]
    rows: list[Row] = [
        show(f"cpu {line.cpu}, njobs {line.njobs}, within {line.slo_s} s", "probability that a run is on time", chance)
        for line, chance in zip(TABLE_9, chances, strict=True)
    ]
    product = 1.0
    for chance in chances:
        product *= chance**_RUNS_EACH
    n = _RUNS_EACH * len(TABLE_9)
    rows += [
        show("all jobs", f"expected runs on time, of {n}", _RUNS_EACH * sum(chances)),
        show("all jobs", f"probability that all {n} are", product),
    ]
    notes = (
        f"an MSE of {_printed.EVALUATION_COURIER} is a typical error of {sqrt(float(_printed.EVALUATION_COURIER)):.0f} "
        "s, assumed normal and the same for every job; the margin of one job is smaller. A predicted time "
        "below the SLO is not a guarantee (mistake 7)",
    )
    return Section("Table 9: what to expect given the paper's own error", "Table 9 and Section 5.3", tuple(rows), notes)
