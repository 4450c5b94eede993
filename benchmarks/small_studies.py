"""How far a handful of runs can be trusted: every model on small studies of every job that was measured in public.

    python benchmarks/small_studies.py --data DIR [--only c3o,bell,...] [--n 6,8,10,15,20]
        [--draws 20] [--optimal-draws 4] [--beyond-draws 4] [--models auto,ridge] [--seed 0] [--by-job] [--json FILE]
        [--compare FILE] [--left-out]

DIR holds a folder for each data set. A data set is one file in `data_sets/`, a model to compare with is one file in
`peers/` or any that is registered: a new file is found by its place, and named by `--only` or `--models`.

From n configurations of a job, drawn at random or chosen as an `optimal` design, all with their repeats, each model
learns; all other configurations are the test, inside or outside the box of what was measured. Of `beyond` designs it
learns what lies up to some level of a number, and is asked about what lies above. Columns, first over the draws of
a job and then over jobs:

- MAPE: mean absolute percentage error of single runs, geometric mean over jobs; `/auto`: on the draws that both
  answered, over auto's. `refused`: share of draws in which the model had no answer. `CPU s`: a fit with its first
  predictions. An error counts as at most ten times what was measured.
- 90 %: share of runs in the 90 % interval, mean over jobs, and the lowest job; width: high minus low in percent of the
  measured, median over configurations and then over jobs.
- CRPS: continuous ranked probability score from 20 quantiles, over auto's on the same draws.
- own runs: of the configurations that were learned from, the share whose run is in their 90 % interval; off by 1.5 x:
  those whose median is further than that from their run.
- kept: the share of runs within the p-quantile of their configuration, p = 0.8, 0.9, 0.95.
- met: of the deadlines for which some configuration was promised with p, the share that the cheapest of these met;
  answered: the share of deadlines with such a promise; cost: of those met, over the cheapest that would have.

`--json` saves every row; `--compare` reads such a file, of an older checkout run through PYTHONPATH, and prints auto's
MAPE over the MAPE there. `--left-out` adds a row: auto with the prior that the other data sets named in `--only` give
(`_left_out.py`), since these jobs made the one in use. At the end: the bars, met or missed.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import peers
from _draws import DESIGNS, draw, sizes_for
from _jobs import ALL_SETS, CLUSTERS, Job, jobs
from _left_out import Numbers, in_use, learned, without
from _promises import PROMISED, questions
from _scores import Row, measure
from _summaries import Summary, geometric_mean, ratio, summary

from sparkcast.models import MODELS

USUAL = [*"auto ridge lasso gaussian-process random-forest mlp nnls scaling ernest median".split(), *peers.BASELINES]
OURS = "auto"
LEFT_OUT = "auto, left out"  # its prior never saw the data set
BOUND_OLDER = {6: 0.85, 8: 0.85, 10: 0.85, 15: 0.90, 20: 0.90}  # of auto's MAPE before
TRIAL_WIDTHS = {6: 38, 8: 33, 10: 29, 15: 34, 20: 27}  # median, inside, of the trial of one Bayesian model on such jobs
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Task:
    """One small study, for all models."""

    job: Job
    design: str
    n: int
    number: int
    models: tuple[str, ...]
    seed: int
    same_work: bool
    prior: Numbers | None = None  # what the other data sets say of jobs


# ---------------------------------------------------------------- measuring


def tasks(found: Sequence[Job], options: argparse.Namespace) -> list[Task]:
    """In random order, so that the time left can be told from those that are done."""
    sizes, models = [int(n) for n in options.n.split(",")], tuple(options.models.split(","))
    said = learned(found) if options.left_out else []
    priors = {name: without(name, said) for name in {job.data_set for job in found}} if said else {}
    designs = {"random": options.draws, "optimal": options.optimal_draws, "beyond": options.beyond_draws}
    listed = [
        Task(job, design, n, number, models, options.seed, options.same_work, priors.get(job.data_set))
        for job in found
        for n in sizes_for(job, sizes)
        for design, draws in designs.items()
        for number in range(draws)
    ]
    return [listed[i] for i in np.random.default_rng(options.seed).permutation(len(listed))]


def run(task: Task) -> list[Row]:
    """The same for the same seed, whatever else is run."""
    place = (task.seed, crc32(task.job.label.encode()), crc32(task.design.encode()), task.n, task.number)
    drawn = draw(task.job, task.design, task.n, np.random.default_rng(place))
    if drawn is None:
        return []
    asked = questions(task.job, drawn, np.random.default_rng((*place, 1)), same_work=task.same_work)
    place_of = (task.job.label, task.design, task.n, task.number, drawn.fingerprint)
    rows = [Row(*place_of, model, *measure(model, task.job, drawn, asked)) for model in task.models]
    if task.prior is not None:
        with in_use(task.prior):
            rows.append(Row(*place_of, LEFT_OUT, *measure(OURS, task.job, drawn, asked)))
    return rows


def run_all(todo: Sequence[Task], workers: int) -> list[Row]:
    """New processes read the number of threads before they load the libraries that have them."""
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    rows: list[Row] = []
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for future in _with_progress(as_completed([pool.submit(run, task) for task in todo]), len(todo)):
            rows += future.result()
    return sorted(rows, key=lambda row: row.key)  # models stay in the order in which they were named


def _with_progress(done: Iterable[Future[list[Row]]], total: int) -> Iterator[Future[list[Row]]]:
    begun, shown = time.monotonic(), 0.0
    for count, item in enumerate(done, start=1):
        yield item
        now = time.monotonic()
        if now - shown > (1 if sys.stderr.isatty() else 30) or count == total:
            left = (now - begun) / count * (total - count)
            end = "\r" if sys.stderr.isatty() and count < total else "\n"
            print(f"{count} of {total} studies, about {left / 60:.0f} min left ", end=end, file=sys.stderr, flush=True)
            shown = now


# ---------------------------------------------------------------- tables


def select(rows: Sequence[Row], **wanted: object) -> list[Row]:
    return [row for row in rows if all(getattr(row, name) == value for name, value in wanted.items())]


def show(rows: Sequence[Row], *, by_job: bool) -> None:
    for design in DESIGNS:
        for n in sorted({row.n for row in rows}):
            of_size = select(rows, design=design, n=n)
            if of_size:
                show_table(f"{n} configurations, {design} design, {len(_different(of_size, 'job'))} jobs", of_size)
            for job in _different(of_size, "job") if by_job else ():
                show_table(f"{job}, {n} configurations, {design} design", select(of_size, job=job))


def show_table(title: str, rows: Sequence[Row]) -> None:
    ours = select(rows, model=OURS)
    lines = {model: _cells(select(rows, model=model), ours) for model in _different(rows, "model")}
    headers = [header.split("\n") for header in next(iter(lines.values()))]
    widths = [max(len(top), len(bottom), 6) + 1 for top, bottom in headers]
    print(f"\n{title}\n")
    for row in (0, 1):
        print(f"{'':17}" + "".join(f"{header[row]:>{width}}" for header, width in zip(headers, widths, strict=True)))
    for model, cells in lines.items():
        print(f"{model:17}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells.values(), widths, strict=True)))


def _cells(rows: Sequence[Row], ours: Sequence[Row]) -> dict[str, str]:
    """What is said of one model, by the two lines of the header."""
    found = summary(rows)
    mape, crps = (geometric_mean(ratio(rows, ours, name).values()) for name in ("mape", "crps"))
    return {
        "\nrefused": f"{found.refused:.0%}",
        "\nCPU s": _text(found.median("cpu_s")),
        "MAPE %\nall": _text(found.geometric("mape"), 1),
        "\ninside": _text(found.geometric("mape inside"), 1),
        "\noutside": _text(found.geometric("mape outside"), 1),
        "\n/auto": _text(mape),
        "90 %\ninside": _text(found.mean("coverage inside")),
        "lowest\ninside": _text(found.extreme("coverage inside")[0]),
        "\nall": _text(found.mean("coverage")),
        "width %\ninside": _text(found.median("width inside"), 0),
        "width %\nall": _text(found.median("width"), 0),
        "CRPS\n/auto": _text(crps),
        "own runs\nin 90 %": _text(found.mean("own coverage")),
        "off by\n1.5 x": f"{found.mean('own missed'):.1%}",
        **{f"kept\n{p}": _text(found.mean(f"kept {p}")) for p in PROMISED},
        **{f"met\n{p}": _text(found.mean(f"met {p}")) for p in PROMISED},
        **{f"answered\n{p}": _text(found.mean(f"answered {p}")) for p in PROMISED},
        **{f"cost\n{p}": _text(found.mean(f"cost {p}")) for p in PROMISED[-1:]},
    }


def _text(value: float, digits: int = 2) -> str:
    return "–" if value != value else f"{value:.{digits}f}"


def _different(rows: Sequence[Row], name: str) -> list[str]:
    return list(dict.fromkeys(getattr(row, name) for row in rows))


def show_failures(rows: Sequence[Row]) -> None:
    """Errors that are no refusals: one line for each kind."""
    broken = select(rows, is_broken=True)
    for model, refusal in dict.fromkeys((row.model, row.refusal) for row in broken):
        alike = select(broken, model=model, refusal=refusal)
        print(f"BROKEN {model} in {len(alike)} studies, e.g. {alike[0].key}: {refusal}")


# ---------------------------------------------------------------- bars


def show_comparison(rows: Sequence[Row], older: Sequence[Row]) -> dict[int, float]:
    """Auto's MAPE over its MAPE in another run of this benchmark, by size, of random designs."""
    print(f"\n{OURS} here and in the other run, on the studies that both have")
    found = {}
    for n in sorted({row.n for row in rows}):
        ours = select(rows, model=OURS, n=n, design="random")
        theirs = select(older, model=OURS, n=n, design="random")
        shared = {row.key for row in ours} & {row.key for row in theirs}
        if not shared:
            continue
        here, there = (summary([row for row in of if row.key in shared]) for of in (ours, theirs))
        names = ("mape", "mape inside", "crps")
        mape, inside, crps = (geometric_mean(ratio(ours, theirs, name).values()) for name in names)
        found[n] = mape
        print(
            f"  n = {n:<3} {len(shared):5} studies of {len(here.jobs):2} jobs: "
            f"MAPE x {mape:.3f}, inside x {inside:.3f}, CRPS x {crps:.3f}; "
            f"in 90 % inside {here.mean('coverage inside'):.3f}, was {there.mean('coverage inside'):.3f}; "
            f"all {here.mean('coverage'):.3f}, was {there.mean('coverage'):.3f}"
        )
    return found


def show_bars(rows: Sequence[Row], to_older: dict[int, float]) -> None:
    """Of random designs."""
    print(f"\nbars of {OURS}")
    for n in sorted({row.n for row in rows}):
        of_size = select(rows, n=n, design="random")
        ours = select(of_size, model=OURS)
        peers = {
            model: select(of_size, model=model)
            for model in _different(of_size, "model")
            if model not in (OURS, LEFT_OUT)
        }
        if summary(ours).jobs:
            print(f"  {n} configurations")
            _show_older_bar(n, to_older)
            _show_peer_bars(ours, peers)
            _show_promise_bars(n, summary(ours))


def _bar(what: str, value: str, bound: str, is_met: bool) -> None:
    print(f"    {what:46} {value:44} bound {bound:14} {'met' if is_met else 'MISSED'}")


def _show_older_bar(n: int, to_older: dict[int, float]) -> None:
    if n in to_older and n in BOUND_OLDER:
        is_met = to_older[n] <= BOUND_OLDER[n]
        _bar("MAPE over that of the other run", f"{to_older[n]:.3f}", f"{BOUND_OLDER[n]:.2f}", is_met)


def _show_peer_bars(ours: Sequence[Row], peers: dict[str, list[Row]]) -> None:
    for name in ("mape", "crps"):
        ratios = {peer: geometric_mean(ratio(ours, of, name).values()) for peer, of in peers.items()}
        known = {peer: value for peer, value in ratios.items() if value == value}
        if known:
            best = max(known, key=lambda peer: known[peer])
            _bar(
                f"{name.upper()} over that of the best single model", f"{known[best]:.3f} {best}", "1", known[best] < 1
            )
    by_peer = {peer: ratio(ours, of, "mape", least=0.5) for peer, of in peers.items()}
    found = [(value, job, peer) for peer, of in by_peer.items() for job, value in of.items()]
    if found:
        value, job, peer = max(found)
        _bar("MAPE over the best single model's, worst job", f"{value:.2f} {peer}, {job}", "1.2", value <= 1.2)


def _show_promise_bars(n: int, found: Summary) -> None:
    covered, (lowest, job) = found.mean("coverage inside"), found.extreme("coverage inside")
    _bar(
        "in the 90 % interval, inside",
        f"{covered:.3f} (all {found.mean('coverage'):.3f})",
        *_between(covered, 0.87, 0.94),
    )
    _bar("the same, lowest job", f"{lowest:.2f} {job}", "0.80", lowest >= 0.80)
    if n in TRIAL_WIDTHS:
        width = found.median("width inside")
        _bar("median width %, inside", f"{width:.0f}", f"{TRIAL_WIDTHS[n]}", width <= TRIAL_WIDTHS[n])
    met, kept = found.mean("met 0.95"), found.mean("kept 0.95")
    _bar("deadlines promised at 0.95, met", f"{met:.3f} (any configuration {kept:.3f})", *_between(met, 0.93, 0.98))


def _between(value: float, low: float, high: float) -> tuple[str, bool]:
    return f"{low:.2f} to {high:.2f}", low <= value <= high


# ---------------------------------------------------------------- command line


def save(rows: Sequence[Row], path: Path) -> None:
    """Five digits tell all, and keep tens of thousands of rows small."""
    path.write_text(
        json.dumps(
            [
                asdict(row) | {"measures": {name: float(f"{value:.5g}") for name, value in row.measures.items()}}
                for row in rows
            ]
        )
    )


def load(path: Path) -> list[Row]:
    return [Row(**row) for row in json.loads(path.read_text())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", default=",".join(CLUSTERS), help=f"data sets of {', '.join(ALL_SETS)}")
    parser.add_argument("--n", default="6,8,10,15,20", help="configurations to learn from")
    parser.add_argument("--draws", type=int, default=20, help="random designs of each size")
    parser.add_argument("--optimal-draws", type=int, default=4, help="optimal designs of each size")
    parser.add_argument("--beyond-draws", type=int, default=4, help="designs of each size that end below what is asked")
    parser.add_argument("--models", default=",".join(USUAL), help="any registered ones")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument(
        "--same-work", action="store_true", help="deadlines for one size of data and one set of parameters"
    )
    parser.add_argument("--left-out", action="store_true", help="auto with the prior of the other data sets, too")
    parser.add_argument("--by-job", action="store_true", help="a table for each job too")
    parser.add_argument("--json", type=Path, help="save every row here")
    parser.add_argument("--compare", type=Path, help="rows that another run saved")
    options = parser.parse_args()
    if unknown := set(options.only.split(",")) - set(ALL_SETS):
        parser.error(f"no data set named {', '.join(sorted(unknown))}: there are {', '.join(ALL_SETS)}")
    for model in options.models.split(","):
        MODELS.get(model)  # says what is near when there is none of this name
    older = load(options.compare) if options.compare else []
    rows = run_all(tasks(jobs(options.data, options.only.split(",")), options), options.workers)
    if options.json:
        save(rows, options.json)
    show(rows, by_job=options.by_job)
    to_older = show_comparison(rows, older) if older else {}
    show_bars(rows, to_older)
    show_failures(rows)


if __name__ == "__main__":
    main()
