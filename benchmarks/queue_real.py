"""Real jobs that share a real cluster, beside what sparkcast predicts of them.

    python benchmarks/queue_real.py                       # run and judge; about 15 minutes on 2 quiet cores
    python benchmarks/queue_real.py --small               # a few jobs only, to see that it works
    python benchmarks/queue_real.py --read raw.json       # judge an earlier run again
    python benchmarks/queue_real.py --read raw.json --other-streams 6   # the same rates with arrivals of another seed

What is run, on the embedded standalone cluster of this machine, with `pi` (a real Spark application of a few seconds,
most of which is start-up, as of most short jobs):

1. 1, 2 and 3 jobs at once, several times each. Predictions are calibrated on 1 and on 3 at once; 2 is predicted.
2. Two Poisson streams at different rates: mean and 90th percentile of the response time (submission to end).
   The arrivals are those of the study's seed, so they are known before anything runs.
3. Staggered: one to three jobs run when another arrives. The end of each is predicted at that moment, and whether it
   meets deadlines of 1.2 to 3 times the time alone.

Bar: the mean response time is predicted within 15 %.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, median, pstdev, quantiles

from sparkcast import api
from sparkcast.errors import InfeasibleError
from sparkcast.queues import admission, staggered
from sparkcast.queues.admission import AdmittedJob, Decision, Slowed
from sparkcast.queues.arrivals import Given, poisson
from sparkcast.queues.calibration import Timed, calibrate
from sparkcast.queues.general import MG1Sharing
from sparkcast.queues.launching import Launched, Phases, SharedMachine, launched
from sparkcast.queues.markovian import MMc
from sparkcast.queues.simulate import Cluster, simulate
from sparkcast.queues.slowdown import Slowdown, measured_slowdown
from sparkcast.queues.times import EmpiricalTimes, Spread
from sparkcast.queues.workload import JobClass, JobMix
from sparkcast.runs.session import Progress
from sparkcast.study import JobRun, Observation

BAR = 15.0  # percent of the mean
CALIBRATED_ON = 3  # jobs at once
LOADS = (0.45, 0.7)  # of the throughput of three jobs at once
SAMPLES = 1_500_000
# When jobs arrive, in times of a job alone; the last of each is the one whose arrival is looked at.
SITUATIONS = (
    *((0, 0.3), (0, 0.6), (0, 0.8), (0, 0.1)),
    *((0, 0.2, 0.5), (0, 0.4, 0.8), (0, 0.3, 1.0), (0, 0.1, 0.7)),
    *((0, 0.2, 0.4, 0.7), (0, 0.3, 0.6, 1.0), (0, 0.5, 0.9, 1.2), (0, 0.1, 0.2, 0.3)),
)
DEADLINES = (1.2, 1.6, 2.2, 3.0)  # times alone
MOST_BUSY = 0.3  # cores that may be busy with other work

STUDY = """\
study: {name}
workload: pi
settings: {{samples: {samples}, partitions: 1{settings}}}
design: {{replicates: {replicates}, seed: 11}}
limits: {{trial: 20m}}
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """One job: seconds since its run began."""

    arrived_s: float
    registered_s: float
    started_s: float
    ended_s: float

    @property
    def response_s(self) -> float:
        return self.ended_s - self.arrived_s


@dataclass(frozen=True, slots=True)
class Raw:
    """All that was measured: enough to judge it again."""

    cores: int
    at_once: dict[str, list[list[Seen]]]  # by number of jobs: runs
    streams: dict[str, list[Seen]]  # by arrival rate per hour
    staggered: list[list[Seen]]  # situations
    took_s: float
    busy_cores: float | None = None  # with other work, before it began


# ---------------------------------------------------------------- running


def run(folder: Path, replicates: int, n_jobs: int, situations: Sequence[Sequence[float]]) -> Raw:
    begun, busy = time.monotonic(), busy_cores()
    at_once = measure(folder, "at-once", f", jobs: [1, 2, {CALIBRATED_ON}]", replicates)
    by_number: dict[str, list[list[Seen]]] = {}
    for one in at_once:
        by_number.setdefault(str(one.configuration["jobs"]), []).append(seen(one))
    cores = next(one.sharing.cores for one in at_once if one.sharing is not None) or 1
    alone_s = mean_response(by_number["1"])
    throughput = CALIBRATED_ON / fmean(max(job.ended_s for job in jobs) for jobs in by_number[str(CALIBRATED_ON)])
    rates = [round(3600 * throughput * load, 1) for load in LOADS]
    streams = measure_streams(folder, rates, n_jobs, seed=5)
    times, groups = staggered_arrivals(situations, alone_s, throughput)
    one_by_one = measure(folder, "staggered", "", 1, f"arrivals: {{at: [{', '.join(f'{t:.1f}s' for t in times)}]}}\n")
    jobs = seen(one_by_one[0])
    return Raw(
        cores,
        by_number,
        streams,
        [jobs[first:end] for first, end in groups],
        time.monotonic() - begun,
        busy,
    )


def busy_cores() -> float:
    """How many cores other work keeps busy, over five seconds. (A load average still counts what has just ended.)"""
    import psutil

    return (psutil.cpu_count() or 1) * psutil.cpu_percent(interval=5) / 100


def measure_streams(folder: Path, rates: Sequence[float], n_jobs: int, seed: int) -> dict[str, list[Seen]]:
    """By arrival rate per hour."""
    given = f"arrivals: {{rate: [{', '.join(f'{rate}/h' for rate in rates)}], jobs: {n_jobs}, seed: {seed}}}\n"
    name = f"streams-{seed}"
    return {str(one.configuration["arrivals_per_hour"]): seen(one) for one in measure(folder, name, "", 1, given)}


def measure(folder: Path, name: str, settings: str, replicates: int, more: str = "") -> tuple[Observation, ...]:
    path = folder / f"{name}.yaml"
    path.write_text(STUDY.format(name=name, samples=SAMPLES, settings=settings, replicates=replicates) + more)
    told = [""]

    def tell(progress: Progress) -> None:
        if progress.text != told[0]:
            told[0] = progress.text
            print(f"  {name}: {progress.text}", flush=True)

    result = api.run(path, resume=True, on_progress=tell)
    failed = [one for one in result.new if not one.ok]
    if failed:
        raise SystemExit(f"{name}: {failed[0].outcome}: {failed[0].cause}")
    return api.load_data(path).dataset.observations


def seen(run: Observation) -> list[Seen]:
    """Its jobs; of one job alone, what the event log says."""
    if run.jobs:
        return [_seen(job) for job in run.jobs]
    assert run.tasks is not None
    assert run.started_at is not None
    assert run.tasks.registered_s is not None
    assert run.tasks.first_executor_s is not None
    begun = run.started_at
    return [Seen(0.0, run.tasks.registered_s - begun, run.tasks.first_executor_s - begun, run.responses["response_s"])]


def _seen(job: JobRun) -> Seen:
    assert job.registered_s is not None
    assert job.started_s is not None
    return Seen(job.arrived_s, job.registered_s, job.started_s, job.ended_s)


def staggered_arrivals(
    situations: Sequence[Sequence[float]], alone_s: float, throughput: float
) -> tuple[list[float], list[tuple[int, int]]]:
    """One stream of all situations, so far apart that each finds the cluster empty; and which jobs are of which."""
    times: list[float] = []
    groups: list[tuple[int, int]] = []
    now = 0.0
    for offsets in situations:
        groups.append((len(times), len(times) + len(offsets)))
        times += [now + offset * alone_s for offset in offsets]
        now = times[-1] + 1.3 * max(alone_s, len(offsets) / throughput) + 2
    return times, groups


def mean_response(runs: Sequence[Sequence[Seen]]) -> float:
    return fmean(job.response_s for jobs in runs for job in jobs)


# ---------------------------------------------------------------- what is known before


@dataclass(frozen=True, slots=True)
class Known:
    """From runs of one job, and of three at once: nothing else."""

    alone: tuple[float, ...]  # response times
    phases: Phases
    machine: SharedMachine
    slowdown: Slowdown  # by jobs in the system, whatever they do there

    @property
    def cores(self) -> int:
        return self.machine.cores

    @property
    def alone_s(self) -> float:
        return fmean(self.alone)

    @property
    def scv(self) -> float:
        return (pstdev(self.alone) / self.alone_s) ** 2

    def responses(self, arrivals: Sequence[float]) -> list[float]:
        fates = launched([Launched(at, self.phases) for at in arrivals], self.machine)
        return [fate.ended_s - at for fate, at in zip(fates, arrivals, strict=True)]


def known_from(raw: Raw) -> Known:
    alone = [jobs[0] for jobs in raw.at_once["1"]]
    together = raw.at_once[str(CALIBRATED_ON)]
    found = calibrate([timed(job) for job in alone], [[timed(job) for job in jobs] for jobs in together], raw.cores)
    [phases] = found.phases.values()
    slowdown = measured_slowdown({1: phases.alone_s, CALIBRATED_ON: mean_response(together)})
    return Known(tuple(job.response_s for job in alone), phases, found.machine, slowdown)


def timed(job: Seen) -> Timed:
    return Timed(job.arrived_s, job.registered_s, job.ended_s)


# ---------------------------------------------------------------- judging


def error(predicted: float, measured: float) -> str:
    return f"{100 * (predicted / measured - 1):+.1f} %"


def judge(raw: Raw) -> None:
    known = known_from(raw)
    many = {n: len(runs) for n, runs in raw.at_once.items()}
    print(f"\nmeasured in {raw.took_s / 60:.1f} minutes")
    if raw.busy_cores is not None and raw.busy_cores > MOST_BUSY:
        print(f"OTHER WORK KEPT {raw.busy_cores:.1f} CORES BUSY: these numbers tell how that went, not how good it is")
    launch_s, scv = known.phases.launch_s, known.scv
    print(f"alone: {known.alone_s:.2f} s ({len(known.alone)} runs, scv {scv:.4f}), {launch_s:.2f} s of it until the")
    print(f"driver is registered; {raw.cores} cores carry {known.machine.carried:.2f} jobs unslowed")
    judge_at_once(raw, known, many)
    misses = [miss for rate, jobs in raw.streams.items() for miss in judge_stream(float(rate) / 3600, jobs, known)]
    judge_situations(raw.staggered, known)
    verdict = "met" if max(misses) <= BAR else "MISSED"
    print(f"\nbar: mean response time of streams within {BAR:.0f} %: {verdict}, the largest error {max(misses):.1f} %")


def judge_others(raw: Raw, folder: Path, seed: int, out: Path) -> None:
    """Streams that nobody had seen when the model was chosen, by what was calibrated before."""
    known, busy = known_from(raw), busy_cores()
    n_jobs = len(next(iter(raw.streams.values())))
    others = measure_streams(folder, [float(rate) for rate in raw.streams], n_jobs, seed)
    out.write_text(json.dumps(asdict(replace(raw, streams=others, busy_cores=busy)), indent=1))
    print(f"raw results: {out}\n\n{busy:.1f} cores were busy with other work before")
    misses = [miss for rate, jobs in others.items() for miss in judge_stream(float(rate) / 3600, jobs, known)]
    print(f"\nthe largest error of a mean: {max(misses):.1f} %")


def judge_at_once(raw: Raw, known: Known, many: dict[str, int]) -> None:
    print("\njobs at once: mean response time, s")
    print(f"  {'jobs':>4} {'runs':>4} {'measured':>9} {'predicted':>10} {'error':>8}")
    for n, runs in sorted(raw.at_once.items()):
        predicted, measured = fmean(known.responses([0.0] * int(n))), mean_response(runs)
        note = "  calibrated on it" if int(n) in (1, CALIBRATED_ON) else ""
        print(f"  {n:>4} {many[n]:>4} {measured:9.2f} {predicted:10.2f} {error(predicted, measured):>8}{note}")


def judge_stream(rate: float, jobs: Sequence[Seen], known: Known) -> list[float]:
    """The error of our prediction of the mean, in percent."""
    arrivals = [job.arrived_s for job in jobs]
    measured, p90 = fmean(job.response_s for job in jobs), percentile([job.response_s for job in jobs])
    print(f"\nPoisson stream of {len(jobs)} jobs at {3600 * rate:.0f}/h: response time, s")
    print(f"  {'':44} {'mean':>7} {'error':>8} {'p90':>7} {'error':>8}")
    print(f"  {'measured':44} {measured:7.2f} {'':>8} {p90:7.2f}")
    ours = known.responses(arrivals)
    predictions: dict[str, Callable[[], tuple[float, float]]] = {
        "sparkcast: launch, line for cores, run": lambda: (fmean(ours), percentile(ours)),
        "sparkcast: the same, in the long run": lambda: long_run(rate, known),
        "sparkcast: all at once, measured slowdown": lambda: on_these(arrivals, known, "fair", known.slowdown),
        f"{known.cores} servers, first come first served": lambda: on_these(arrivals, known, "fifo"),
        "1 server, processor sharing": lambda: on_these(arrivals, known, "fair"),
        f"M/M/{known.cores} (formula, in the long run)": lambda: m_m_c(rate, known),
        "M/G/1-PS (formula, in the long run)": lambda: m_g_1_ps(rate, known),
    }
    for name, predict in predictions.items():
        try:
            mean, high = predict()
        except InfeasibleError:
            print(f"  {name:44} grows without bound")
            continue
        print(f"  {name:44} {mean:7.2f} {error(mean, measured):>8} {high:7.2f} {error(high, p90):>8}")
    return [abs(100 * (fmean(ours) / measured - 1))]


def percentile(values: Sequence[float], percent: int = 90) -> float:
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def on_these(
    arrivals: Sequence[float], known: Known, way: str, slowdown: Slowdown | None = None
) -> tuple[float, float]:
    """Simulated with the arrivals that came."""
    work = JobMix(Given(tuple(arrivals)), (JobClass("job", EmpiricalTimes(known.alone)),))
    cluster = Cluster(1, "fair", slowdown) if way == "fair" else Cluster(known.cores)
    runs = [cluster.serve(work, len(arrivals), seed=(0, n)).response_s.tolist() for n in range(50)]
    return fmean(fmean(one) for one in runs), fmean(percentile(one) for one in runs)


def long_run(rate: float, known: Known) -> tuple[float, float]:
    """Of the rate alone: what `sparkcast queue STUDY --arrival-rate` says, which does not know when jobs come."""
    work = JobMix(poisson(rate), (JobClass("job", EmpiricalTimes(known.alone), phases=known.phases),))
    cluster = Cluster(known.cores, "launching", machine=known.machine)
    found = simulate(work, cluster, n_jobs=20_000, replications=5, shares=(0.9,))
    return found.mean_response_s.value, found.response_percentiles[0.9].value


def m_m_c(rate: float, known: Known) -> tuple[float, float]:
    queue = MMc(rate, known.alone_s, known.cores)
    return queue.measures().mean_response_s, queue.response_quantile(0.9)


def m_g_1_ps(rate: float, known: Known) -> tuple[float, float]:
    mean = MG1Sharing(rate, known.alone_s).measures().mean_response_s
    work = JobMix(poisson(rate), (JobClass("job", Spread(known.alone_s, known.scv)),))
    found = simulate(work, Cluster(1, "fair"), n_jobs=20_000, replications=5, shares=(0.9,))
    return mean, found.response_percentiles[0.9].value


def judge_situations(situations: Sequence[Sequence[Seen]], known: Known) -> None:
    ways: dict[str, Callable[[Sequence[Seen], float], list[float]]] = {
        "sparkcast queue admit": lambda jobs, now: by_launching(jobs, now, known),
        "the same without launch and line": lambda jobs, now: by_sharing(jobs, now, known),
        "as if alone": lambda jobs, now: [max(known.alone_s, now - job.arrived_s) for job in jobs],
    }
    errors: dict[str, list[float]] = {name: [] for name in ways}
    right: dict[str, int] = dict.fromkeys(ways, 0)
    asked = looked_at = n_jobs = 0
    for group in situations:
        now = group[-1].arrived_s
        present = [job for job in group if job.ended_s > now]
        if len(present) < 2:
            continue  # all had ended before the last came: there is nothing to predict
        looked_at, n_jobs = looked_at + 1, n_jobs + len(present)
        limits = [(i, d * known.alone_s) for i in range(len(present)) for d in DEADLINES]
        limits = [(i, limit) for i, limit in limits if limit > now - present[i].arrived_s]
        asked += len(limits)
        for name, predict in ways.items():
            predicted = predict(present, now)
            errors[name] += [abs(p / job.response_s - 1) for p, job in zip(predicted, present, strict=True)]
            right[name] += sum((predicted[i] <= limit) == (present[i].response_s <= limit) for i, limit in limits)
    print(f"\nstaggered: {looked_at} situations, {n_jobs} jobs, {asked} deadlines; predicted when the last job arrives")
    print(f"  {'':34} {'mean error':>10} {'median':>8} {'largest':>8}   deadlines called right")
    for name, found in errors.items():
        if found:
            told = f"{100 * fmean(found):8.1f} % {100 * median(found):6.1f} % {100 * max(found):6.1f} %"
            print(f"  {name:34} {told}   {right[name]} of {asked}")


def by_sharing(jobs: Sequence[Seen], now: float, known: Known) -> list[float]:
    """As if all ran at once from the beginning: what is known when only numbers of jobs were varied."""
    times = Slowed(known.alone_s, known.slowdown, known.scv)
    *running, _ = [AdmittedJob(f"job {i}", times, now - job.arrived_s) for i, job in enumerate(jobs)]
    return ends_now(admission.decide(running, AdmittedJob("new", times)))


def by_launching(jobs: Sequence[Seen], now: float, known: Known) -> list[float]:
    """The function behind `sparkcast queue admit`. What is known at `now` is when each arrived, and that it runs."""
    *running, _ = [AdmittedJob(f"job {i}", known.phases, now - job.arrived_s) for i, job in enumerate(jobs)]
    return ends_now(staggered.decide(running, AdmittedJob("new", known.phases), known.machine))


def ends_now(decision: Decision) -> list[float]:
    """Response times of the jobs that run and of the one that arrives, if it is started now."""
    now_option = next(option for option in decision.options if option.start_after == 0)
    return [end.ends_s for end in now_option.ends]


# ---------------------------------------------------------------- raw results


def read(path: Path) -> Raw:
    plain = json.loads(path.read_text())

    def jobs(rows: list[dict[str, float]]) -> list[Seen]:
        return [Seen(**row) for row in rows]

    plain["at_once"] = {n: [jobs(rows) for rows in runs] for n, runs in plain["at_once"].items()}
    plain["streams"] = {rate: jobs(rows) for rate, rows in plain["streams"].items()}
    plain["staggered"] = [jobs(rows) for rows in plain["staggered"]]
    return Raw(**plain)


def main() -> None:
    parser = argparse.ArgumentParser(description="Real jobs on a shared cluster, beside what is predicted of them.")
    parser.add_argument("--read", type=Path, help="judge these results instead of running")
    parser.add_argument(
        "--other-streams", type=int, metavar="SEED", help="with --read: measure other arrivals, and judge"
    )
    parser.add_argument("--out", type=Path, default=Path("queue-real.json"), help="where raw results go")
    parser.add_argument("--work", type=Path, help="a folder for studies and logs; the same one continues")
    parser.add_argument("--small", action="store_true", help="few jobs, to see that it works")
    options = parser.parse_args()
    if options.read is not None and options.other_streams is None:
        judge(read(options.read))
        return
    print(__doc__)
    with tempfile.TemporaryDirectory() as made:
        folder = options.work or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        if options.read is not None:
            judge_others(read(options.read), folder, options.other_streams, options.out)
            return
        size = (1, 4, SITUATIONS[:1] + SITUATIONS[4:5]) if options.small else (5, 24, SITUATIONS)
        raw = run(folder, *size)
    options.out.write_text(json.dumps(asdict(raw), indent=1))
    print(f"raw results: {options.out}")
    judge(raw)


if __name__ == "__main__":
    main()
