"""Mistake 4: the sign and the unit in the paper's operational laws, and a rate of the disk that knows no bounds."""

from dataclasses import dataclass

from sparkcast.arrays import Floats
from sparkcast.models.base import Problem, pose
from sparkcast.replications import CorrectedFigure, Mistake
from sparkcast.study import Dataset
from sparkcast_papers.courier2021 import _printed
from sparkcast_papers.courier2021._laws import (
    CPU_S,
    EPOCHS,
    RECORDS,
    WORKERS,
    disk_rate,
    laws,
    laws_as_printed,
    spare_rate,
)
from sparkcast_papers.courier2021._splits import AUTHORS_SEED, SEEDS, ask, by_settings, settings, times
from sparkcast_papers.models.operational_laws import Law, OperationalLaws

_EXPLODED = 100  # times the median


@dataclass(frozen=True, slots=True)
class Answers:
    """What a law said in many splits."""

    no_rate: float  # % for which the disk is slower than its requests come
    negative: float  # % with a negative time
    largest: float  # ratio of predicted and measured time


def wrong_laws(runs: Dataset | None) -> Mistake:
    """`runs` are replicate 1; without them the paper's own numbers have to do."""
    per_batch = [batch / rate for batch, rate in _printed.THROUGHPUT.items()]
    per_record_s = CPU_S * EPOCHS * RECORDS
    truth = (
        "1 / (lambda - mu) is negative wherever the disk keeps up; the inversion next to it has the right "
        "sign. 0.045 s is per batch: Table 5's throughputs give {min(per_batch):.3f} to {max(per_batch):.3f} s "
        "per batch, and at "
        f"0.045 s per record one job would take {per_record_s / 3600:.1f} hours."
    )
    cpu = f"s on the CPU for {EPOCHS} epochs in batches of 64, per record and per batch"
    figures = [CorrectedFigure(cpu, per_record_s, per_record_s / 64)]
    if runs is not None:
        law, problem = _constrained(runs)
        truth += _told(runs, law)
        figures += _by_inversion(runs, law.disk_rate(problem.x), max(per_batch))
        figures += _in_many_splits(runs)
    return Mistake(4, "T = N (S + 1 / (lambda - mu)), S = 0.045 s per record, mu by inversion.", truth, tuple(figures))


def _constrained(runs: Dataset) -> tuple[Law, Problem]:
    problem = pose(runs, "time_s")
    law = OperationalLaws(workers=WORKERS).learn(problem).points
    assert isinstance(law, Law)
    return law, problem


def _told(runs: Dataset, law: Law) -> str:
    pairs = zip(runs.observations, disk_rate(runs), strict=True)
    impossible = [str(run.configuration) for run, rate in pairs if rate < 0]
    named = f" ({'; '.join(impossible)})" if impossible else ""
    return (
        f" In {len(impossible)} runs{named} the CPU alone would take longer than the whole run, and mu is "
        "negative. The "
        "model operational-laws estimates the time on the CPU for each network, and a disk time that cannot be "
        "negative; it lists the runs it cannot explain, here {len(law.unexplained)}."
    )


def _by_inversion(runs: Dataset, constrained: Floats, longest_s: float) -> list[CorrectedFigure]:
    split, inverted = by_settings(runs, AUTHORS_SEED), disk_rate(runs)
    signs = (ask(technique, split).mse for technique in (laws_as_printed, laws))
    both = (inverted, constrained)
    return [
        CorrectedFigure("MSE on the authors' split, sign as printed and corrected", *signs),
        CorrectedFigure("runs with a negative mu, by inversion and constrained", *(_negative(rates) for rates in both)),
        CorrectedFigure(
            f"the same by inversion with S = {longest_s:.4f} s, Table 5 at 512",
            _negative(disk_rate(runs, longest_s)),
            None,
        ),
        CorrectedFigure(f"runs with |mu| above {_EXPLODED} times the median", *(_exploded(rates) for rates in both)),
        CorrectedFigure("largest |mu|, in medians of mu", *(_largest(rates) for rates in both)),
    ]


def _negative(rates: Floats) -> int:
    return int((rates < 0).sum())


def _exploded(rates: Floats) -> int:
    import numpy as np

    return int((np.abs(rates) > _EXPLODED * np.median(rates)).sum())


def _largest(rates: Floats) -> float:
    import numpy as np

    return float(np.abs(rates).max() / np.median(rates))


def _in_many_splits(runs: Dataset) -> list[CorrectedFigure]:
    paper, ours = _answers(runs)
    words = f"in {len(SEEDS)} splits, by inversion and constrained"
    return [
        CorrectedFigure(f"% of predictions with mu below lambda {words}", paper.no_rate, ours.no_rate),
        CorrectedFigure(f"% of predictions that are negative {words}", paper.negative, ours.negative),
        CorrectedFigure(f"largest ratio of predicted and measured time {words}", paper.largest, ours.largest),
    ]


def _answers(runs: Dataset) -> tuple[Answers, Answers]:
    """The paper's law and ours, asked the same."""
    import numpy as np

    found: list[tuple[Floats, ...]] = []
    for seed in SEEDS:
        split = by_settings(runs, seed)
        at, actual = settings(split.test), times(split.test)
        law, problem = _constrained(split.train)
        x = problem.domain.encode(at)
        predicted = laws(split.train, at)
        found.append((spare_rate(split.train, at), predicted / actual, law.disk_time(x), law(x) / actual))
    spare, ratio, disk_s, own_ratio = (np.concatenate(each) for each in zip(*found, strict=True))
    return _summary(spare, ratio), _summary(disk_s, own_ratio)


def _summary(spare: Floats, ratio: Floats) -> Answers:
    return Answers(100 * float((spare < 0).mean()), 100 * float((ratio < 0).mean()), float(ratio.max()))
