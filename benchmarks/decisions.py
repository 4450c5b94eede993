"""What is kept of what is promised: settings chosen under a deadline or a least accuracy, from a few runs.

    python benchmarks/decisions.py --data DIR [--only scout,trimtuner,...] [--n 8,15,30] [--draws 4] [--questions 6]
        [--policies "sparkcast,best run,gp + 1.64 sd,forest"] [--half 0|1] [--confidence 0.95] [--by-job]
        [--json FILE] [--fits DIR]

From n random configurations of a job each policy (`_policies.py`) learns, and chooses among all configurations of it
(at most 400) for random limits. Three kinds of questions: `deadline`, the fewest resources (cores or machines times
time; the time where nobody counts them) within it; where accuracies were measured, `accurate`, the highest accuracy
within a deadline, and `cheap`, the fewest resources with a least accuracy. Deadlines are drawn between the fastest and
the slowest candidate, evenly in their logarithm; accuracies evenly among those of the better half. The next run of what
was chosen decides (`_tables.py` says which that is). Columns, shares of questions first over the tables of a job,
then over jobs:

- answered: of the questions that some candidate's next run would keep, the share that got an answer;
- kept: of the answers, the share whose next run kept the limits; `run`, `never`: of settings that were run, and that
  never were, whose share of the answers is `never run`;
- promised: the mean of what was promised, to compare with `kept`; `of refusals`: the mean chance stated of the best
  candidate where nothing was promised, and how often its next run kept the limits;
- cost: resources of what was chosen over the fewest possible, and `points`: accuracy below the highest possible, of
  answers that kept the limits; `/best run` and `- best run`: the same compared with the best run, where both answered
  and kept; `better`, `worse`: how often than the best run, by more than 1 % or 0.1 points.

`--half` takes every other job only, to develop on one half and to confirm on the other. `--fits DIR` keeps what the
models learned, so that another way to choose is measured without learning again: with an older checkout through
PYTHONPATH, before and after are compared on the same fits.
"""

import argparse
import json
import os
import pickle
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from _jobs import ALL_SETS, jobs
from _policies import POLICIES, USUAL, Decided, Fits, Wanted, is_kept, worth
from _tables import Full, Table, draw_table, full_jobs, same_work

from sparkcast.arrays import Floats, Ints
from sparkcast.recommend import Limit
from sparkcast.recommend.resources import resources_of
from sparkcast.study import Kind

SETS = ("c3o", "bell", "scout", "courier", "cherrypick", "flora", "trimtuner", "lynceus", "hyperjump")
BEST_RUN = "best run"


@dataclass(frozen=True, slots=True)
class Row:
    """One policy on one question."""

    job: str
    n: int
    draw: int
    question: int
    kind: str
    policy: str
    feasible: bool
    answered: bool
    was_run: bool = False
    kept: bool = False
    chance: float = float("nan")  # what was promised, or of the likeliest candidate where nothing was
    closest_kept: bool = False
    regret: float = float("nan")  # logarithm of resources over the fewest; points of accuracy below the highest
    cpu_s: float = 0.0
    problem: str = ""

    @property
    def place(self) -> tuple[str, int, int, int]:
        return self.job, self.n, self.draw, self.question


# ---------------------------------------------------------------- questions


def questions(table: Table, n: int, random: np.random.Generator) -> Iterator[tuple[str, Wanted]]:
    words = table.full.data.vocabulary
    by_kind = {words.response(name).kind: name for name in table.full.responses}
    time_name, share = by_kind[Kind.TIME], by_kind.get(Kind.SHARE)
    held = held_by(table)
    for i in range(n):
        # With an accuracy all settings are free, also how much of the data to train on.
        rows: Ints = np.arange(len(table.candidates))
        if share is None:
            rows = same_work(table, int(random.integers(len(table.candidates))))
        times = table.real[time_name][rows]
        deadline = Limit(time_name, float(np.exp(random.uniform(np.log(times.min()), np.log(times.max())))))
        if share is None:
            yield "deadline", Wanted((deadline,), "resources", False, rows, held)
        elif i % 2:
            yield "accurate", Wanted((deadline,), share, True, rows, held)
        else:
            least = float(np.quantile(table.real[share][rows], random.uniform(0.5, 1.0)))
            yield "cheap", Wanted((Limit(share, least, is_upper=False),), "resources", False, rows, held)


def held_by(table: Table) -> Floats:
    words, factors = table.learned.vocabulary, table.learned.factors
    found = resources_of(words, factors, ())
    if found is None:
        return np.ones(len(table.candidates))
    return np.array([found.held_by(c, words) for c in table.candidates])


# ---------------------------------------------------------------- measuring


@dataclass(frozen=True, slots=True)
class Task:
    full: Full
    n: int
    number: int
    policies: tuple[str, ...]
    n_questions: int
    seed: int
    fits: Path | None
    confidence: float


def run(task: Task) -> list[Row]:
    place = (task.seed, crc32(task.full.label.encode()), task.n, task.number)
    table = draw_table(task.full, task.n, task.number, np.random.default_rng(place))
    if table is None:
        return []
    asked = list(questions(table, task.n_questions, np.random.default_rng((*place, 1))))
    rows = []
    for policy in task.policies:
        fits = _kept_fits(task, policy)
        for number, (kind, one) in enumerate(asked):
            wanted = replace(one, confidence=task.confidence)
            begun = time.process_time()
            decided = POLICIES[policy](table, wanted, fits)
            row = _row(table, wanted, decided)
            rows.append(replace(row, question=number, kind=kind, policy=policy, cpu_s=time.process_time() - begun))
        _keep_fits(task, policy, fits)
    return rows


def _path(task: Task, policy: str) -> Path | None:
    if task.fits is None or policy not in ("sparkcast", "bayesian"):
        return None
    return task.fits / f"{policy}-{crc32(task.full.label.encode())}-{task.n}-{task.number}-{task.seed}.pickle"


def _kept_fits(task: Task, policy: str) -> Fits:
    path = _path(task, policy)
    return {"fitted": pickle.loads(path.read_bytes())} if path is not None and path.exists() else {}


def _keep_fits(task: Task, policy: str, fits: Fits) -> None:
    path = _path(task, policy)
    if path is not None and not path.exists() and "recommender" in fits:
        path.write_bytes(pickle.dumps(fits["recommender"]._knowledge._fitted))


def _row(table: Table, wanted: Wanted, decided: Decided) -> Row:
    keeps = np.logical_and.reduce([is_kept(one, table.real[one.response]) for one in wanted.limits])
    feasible = wanted.rows[keeps[wanted.rows]]
    row = Row(*table.key, 0, "", "", len(feasible) > 0, decided.row is not None, chance=decided.chance)
    row = replace(row, problem=decided.problem)
    if decided.closest is not None:
        row = replace(row, closest_kept=bool(keeps[decided.closest]))
    if decided.row is None:
        return row
    row = replace(row, was_run=bool(table.was_run[decided.row]), kept=bool(keeps[decided.row]))
    if not row.kept:
        return row
    real = worth(table, wanted, dict(table.real))
    best = float(real[feasible].min())
    own = float(real[decided.row])
    return replace(row, regret=100 * (own - best) if wanted.is_maximum else float(np.log(own / best)))


def run_all(todo: Sequence[Task], workers: int) -> list[Row]:
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
    if workers == 1:
        return [row for task in todo for row in run(task)]
    with ProcessPoolExecutor(workers) as pool:
        return [row for rows in pool.map(run, todo) for row in rows]


# ---------------------------------------------------------------- tables


def show(rows: Sequence[Row], *, by_job: bool) -> None:
    for kind in dict.fromkeys(row.kind for row in rows):
        for n in sorted({row.n for row in rows}):
            some = [row for row in rows if (row.kind, row.n) == (kind, n)]
            if some:
                _show_table(f"{kind}, {n} configurations", some)
            for job in dict.fromkeys(row.job for row in some) if by_job else ():
                _show_table(f"{kind}, {n} configurations, {job}", [row for row in some if row.job == job])


def _show_table(title: str, rows: Sequence[Row]) -> None:
    base = {row.place: row for row in rows if row.policy == BEST_RUN}
    lines = {
        policy: summary([row for row in rows if row.policy == policy], base)
        for policy in dict.fromkeys(row.policy for row in rows)
    }
    names = list(next(iter(lines.values())))
    print(f"\n{title}: {len({row.job for row in rows})} jobs, {len(rows) // len(lines)} questions")
    print(f"{'':14}" + "".join(f"{name:>{max(len(name), 6) + 2}}" for name in names))
    for policy, cells in lines.items():
        print(f"{policy:14}" + "".join(f"{_text(cells[name]):>{max(len(name), 6) + 2}}" for name in names))


def _text(value: float) -> str:
    return "–" if value != value else f"{value:.3f}"


def summary(rows: Sequence[Row], base: dict[tuple[str, int, int, int], Row]) -> dict[str, float]:
    """Over the tables of a job, then over jobs."""
    by_job: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_job[row.job].append(row)
    found = [_of_job(of, base) for of in by_job.values()]
    return {name: _mean([of[name] for of in found]) for name in found[0]}


def _of_job(rows: Sequence[Row], base: dict[tuple[str, int, int, int], Row]) -> dict[str, float]:
    answers = [row for row in rows if row.answered]
    refusals = [row for row in rows if not row.answered and row.chance == row.chance]
    pairs = [(row, base[row.place]) for row in rows if row.kept and row.place in base and base[row.place].kept]
    is_points = rows[0].kind == "accurate"
    gaps = [row.regret - other.regret for row, other in pairs]
    little = 0.1 if is_points else 0.01
    regret = _mean([row.regret for row in answers if row.kept])
    return {
        "answered": _mean([row.answered for row in rows if row.feasible]),
        "kept": _mean([row.kept for row in answers]),
        "run": _mean([row.kept for row in answers if row.was_run]),
        "never": _mean([row.kept for row in answers if not row.was_run]),
        "never run": _mean([not row.was_run for row in answers]),
        "promised": _mean([row.chance for row in answers]),
        "of refusals": _mean([row.chance for row in refusals]),
        "kept then": _mean([row.closest_kept for row in refusals]),
        **(
            {"points": regret, "- best run": _mean(gaps)}
            if is_points
            else {"cost": float(np.exp(regret)), "/best run": float(np.exp(_mean(gaps)))}
        ),
        "better": _mean([gap < -little for gap in gaps]),
        "worse": _mean([gap > little for gap in gaps]),
        "CPU s": _mean([row.cpu_s for row in rows]),
    }


def _mean(values: Sequence[float]) -> float:
    known = [float(value) for value in values if value == value]
    return float(np.mean(known)) if known else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", default=",".join(SETS), help=f"data sets of {', '.join(ALL_SETS)}")
    parser.add_argument("--n", default="8,15,30", help="configurations to learn from")
    parser.add_argument("--draws", type=int, default=4, help="tables of each size")
    parser.add_argument("--questions", type=int, default=6, help="for each table")
    parser.add_argument("--confidence", type=float, default=0.95, help="that is asked of sparkcast")
    parser.add_argument("--policies", default=",".join(USUAL), help=f"of {', '.join(POLICIES)}")
    parser.add_argument("--half", type=int, choices=(0, 1), help="every other job only")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--by-job", action="store_true", help="a table for each job too")
    parser.add_argument("--json", type=Path, help="save every row here")
    parser.add_argument("--fits", type=Path, help="a folder that keeps what the models learned")
    options = parser.parse_args()
    if options.fits:
        options.fits.mkdir(parents=True, exist_ok=True)
    found = full_jobs(jobs(options.data, options.only.split(",")))
    if options.half is not None:
        found = found[options.half :: 2]
    todo = [
        Task(
            full,
            n,
            number,
            tuple(options.policies.split(",")),
            options.questions,
            options.seed,
            options.fits,
            options.confidence,
        )
        for full in found
        for n in map(int, options.n.split(","))
        if n + 4 <= len(full.runs)
        for number in range(options.draws)
    ]
    rows = run_all(todo, options.workers)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows]))
    show(rows, by_job=options.by_job)
    problems: dict[Any, int] = defaultdict(int)
    for row in rows:
        if row.problem:
            problems[row.policy, row.problem[:100]] += 1
    for (policy, problem), count in problems.items():
        print(f"{count} questions that {policy} could not be asked: {problem}")


if __name__ == "__main__":
    main()
