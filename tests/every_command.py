"""Every command of sparkcast with data to ask about, for tests that look at all of them."""

import importlib
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eventlogs_support import REAL_LOG
from history_support import a_history, a_run, in_progress, write_store
from sparkcast import api, demo
from sparkcast.observe import speed
from sparkcast.report import CheckRun
from sparkcast.runs.campaign import CampaignResult
from sparkcast.serve.tokens import change_tokens
from sparkcast.store import open_store
from sparkcast.study import (
    ClusterSpeed,
    Configuration,
    JobRun,
    NodeSpeed,
    Observation,
    Outcome,
    Plan,
    Sharing,
    SparkOptions,
    Study,
    Trial,
)
from sparkcast.study.streams import stream_responses

TABLE = "executors,batch_size,network,time_s,accuracy\n" + "".join(
    f"{executors},{batch_size},{network},{slow * (12 + 160 / executors * (1 + 64 / batch_size)) * noise:.2f},"
    f"{0.95 - batch_size / 5000 + (noise - 1) / 5:.4f}\n"
    for executors in (1, 2, 4, 8)
    for batch_size in (64, 128, 256)
    for network, slow in (("lenet5", 1.0), ("vgg", 2.2))
    for noise in (0.97, 1.02)
)
STUDY = """\
study: a-study-with-a-rather-long-name
workload: pi
settings: {executors: [1, 2], samples: [1000, 2000, 3000, 4000]}
design: {kind: full, replicates: 2}
limits: {total: 30m, trial: 5m}
price: {core_hour: 0.05}
"""
FRACTION = """\
study: fraction
workload: mnist-training
settings:
  {executors: [1, 2], batch_size: [64, 512], epochs: [2, 4], learning_rate: [0.1, 0.3], sampling_rate: [0.5, 1.0]}
design: {kind: fractional, resolution: V}
"""
STREAM = """\
study: stream
workload: pi
settings: {samples: 1000}
arrivals: {rate: [20/min, 40/min], jobs: 4}
mix: [{share: 0.75, executors: 1}, {share: 0.25, executors: 2}]
limits: {trial: 5m}
"""
HUGE = STUDY.replace("executors: [1, 2]", "executors: [1, 100000]")
QUICK = ("--model", "ridge")
LINE = "spark-submit --name nightly nightly.py"
NIGHTLY = ("--store", "nights.results", LINE)
SHORT = ("--jobs", "1000", "--replications", "2")

STUDY_NAME = "a-study-with-a-rather-long-name"

_JOB = ("spark-submit train.py",)

# Each command with arguments with which it succeeds; those of `WITHOUT_CLUSTER` are played.
SUCCEEDING: dict[str, list[tuple[str, ...]]] = {
    "analyze": [
        ("runs.csv",),
        ("runs.csv", "--details"),
        ("s.yaml", "--details"),
        ("runs.csv", "--response", "accuracy"),
        ("stream.yaml", "--response", "response_p90_s"),
    ],
    "check": [
        ("--within", "30m", *NIGHTLY),
        ("--within", "30m", "--budget", "9", "--price", "core_hour=1", "--input", "100g", "--details", *NIGHTLY),
    ],
    "demo": [()],
    "design": [
        ("stream.yaml",),
        ("s.yaml",),
        ("s.yaml", "--details"),
        ("fraction.yaml",),
        ("fraction.yaml", "--details"),
    ],
    "eta": [("nights.results", "--app", "application_nightly_0040"), ("nights.results",)],
    "export": [("runs.csv", "-o", "out.csv", "--force")],
    "fit": [
        ("runs.csv", *QUICK, "--save", "m.sparkcast", "--force"),
        ("s.yaml", "--response", "time_s", "--details"),
    ],
    "fleet": [
        ("nights.results", "--until", "2026-11-06"),
        ("nights.results", "--until", "2026-11-06", "--price", "core_hour=0.05", "--since", "14d", "--details"),
    ],
    "ingest": [
        ("pi.zstd", "log", "--into", "in.csv"),
        ("pi.zstd", "--into", "in2.csv", "--details"),
        ("pi.zstd", "--into", "in3.results"),
    ],
    "init": [("pi",), ("mnist-training",)],
    "jobs": [
        ("fleet.results",),
        ("fleet.results", "--details", "--price", "core_hour=0.05"),
        ("fleet.results", "--job", "sparkcast pi"),
    ],
    "list": [(), ("models",), ("workloads",), ("protocols",), ("replications",)],
    "predict": [
        ("runs.csv", *QUICK, "--at", "executors=3,batch_size=128,network=vgg"),
        ("m.sparkcast", "--at", "executors=3,batch_size=128,network=vgg", "--response", "accuracy"),
        ("s.yaml", "--at", "executors=2,samples=2500"),
    ],
    "queue": [
        ("--service-time", "30s", "--arrival-rate", "0.1/s", "--servers", "4", "--slo", "300s", *SHORT),
        ("--service-time", "30s", "--scv", "1.2", "--arrival-rate", "0.1/s", "--servers", "4", *SHORT, "--details"),
        (
            "--job",
            "time=30s,share=7,priority=1",
            "--job",
            "time=2m,share=3,priority=2",
            "--arrival-rate",
            "1/min",
            *SHORT,
        ),
        ("stream.yaml", "--at", "executors=1", "--slo", "60s", *SHORT),
    ],
    "queue admit": [
        ("--running", "time=300s,elapsed=120s,within=400s", "--new", "time=60s,within=200s", "--servers", "2"),
    ],
    "profile": [("pi.zstd",), ("pi.zstd", "--details"), ("pi.zstd", "pi.zstd"), ("pi.zstd", "pi.zstd", "--details")],
    "recommend": [
        ("runs.csv", *QUICK, "--within", "100s"),
        ("runs.csv", *QUICK, "--within", "100s", "--price", "core_hour=0.05", "--budget", "1", "--details"),
        ("m.sparkcast", "--min-accuracy", "0.9", "--minimize", "time_s", "--confidence", "0.8"),
    ],
    "replicate": [("marinos2020", "--part", "queues"), ("marinos2020", "--part", "queues", "--details")],
    "report": [("s.yaml", "-o", "r.html", "--force")],
    "run": [
        ("stream.yaml",),
        ("stream.yaml", "--details"),
        ("stream.yaml", "--dry-run"),
        ("s.yaml",),
        ("s.yaml", "--dry-run"),
        ("s.yaml", "--dry-run", "--details"),
    ],
    "store check": [("s.yaml",), ("s.results", "--details")],
    "store copy": [("s.results", "copied.results"), ("s.yaml", "copied.sqlite", "--study", STUDY_NAME)],
    "store migrate": [("s.results",)],
    "store prune": [("s.results", "--older-than", "90d"), ("s.yaml", "--keep", "1")],
    "serve token": [
        ("list", "--store", "tokens.results"),
        ("revoke", "old", "--store", "tokens.results"),
    ],
    "submit": [
        *(
            ("--study", study, "--store", "s.results", "--argument", "samples", "--dry-run", *_JOB)
            for study in ("a-study-with-a-rather-long-name", "nobody")
        )
    ],
    "speed": [("--cluster", "laptop"), ("--cluster", "laptop", "--details")],
    "tune": [("tuned.yaml", "--searcher", "exhaustive", "--allow-changed", "--max-runs", "4")],
    "validate": [
        ("runs.csv", "--model", "ridge,linear,median,lasso,nnls", "--protocol", "kfold:3"),
        ("runs.csv", "--model", "ridge,median", "--protocol", "extrapolate:executors>4", "--details"),
    ],
    "watch": [
        ("pi.zstd", "log", "--into", "fleet.results"),
        ("pi.zstd", "--into", "fleet.results", "--once", "--details"),
    ],
    "whatif": [
        ("pi.zstd", "--executors", "1,2,8"),
        ("pi.zstd", "--executors", "1..4", "--cores", "1,2", "--price", "core_hour=0.05", "--details"),
        ("pi.zstd", "--dynamic", "1..4"),
        ("pi.zstd", "--within", "1h"),
    ],
}
# And with which it fails, by exit code.
FAILING: dict[str, list[tuple[int, tuple[str, ...]]]] = {
    "analyze": [(2, ("rnus.csv",)), (2, ("runs.csv", "--response", "tims_s")), (4, ("empty.yaml",))],
    "check": [
        (2, NIGHTLY),
        (2, ("--within", "soon", *NIGHTLY)),
        (2, ("--within", "30m", "--budget", "9", *NIGHTLY)),
        (2, ("--within", "30m", "--store", "no.results", LINE)),
        (2, ("--within", "30m", "--store", "nights.results", "ls -l")),
    ],
    "demo": [(2, ("--out", "runs.csv/demo")), (2, ("--outt", "x"))],
    "design": [
        (2, ("s.yml",)),
        (2, ("runs.csv",)),
        (2, ("s.yaml", "--budget", "soon")),
        (2, ("s.yaml", "--effect", "0")),
    ],
    "eta": [
        (2, ("nights.results", "--app", "application_1")),
        (2, ("nights.results", "--app", "application_nightly_0001")),
        (2, ("no.results",)),
        (2, ("pi.zstd", "--store", "nights.results")),
        (2, ("log",)),
    ],
    "export": [
        (2, ("rnus.csv", "-o", "x.csv")),
        (2, ("runs.csv", "-o", "no/x.csv")),
        (2, ("runs.csv",)),
        (2, ("runs.csv", "-o", "x.csv", "--to", "sample")),
        (4, ("runs.csv", "-o", "x.csv", "--to", "samples")),
    ],
    "fit": [(2, ("rnus.csv",)), (2, ("runs.csv", "--model", "rigde")), (4, ("few.csv",)), (2, ("log",))],
    "fleet": [
        (2, ("no.results",)),
        (2, ()),
        (2, ("nights.results", "--since", "week")),
        (2, ("nights.results", "--until", "yesterday")),
        (4, ("nights.results", "--until", "2030-01-01")),
    ],
    "ingest": [
        (2, ("pi.zst", "--into", "new.csv")),
        (2, ("pi.zstd", "--into", "runs.csv")),
        (2, ("pi.zstd", "--into", "new.txt")),
        (2, ("pi.zstd", "--into", "new.csv", "--setting", "rows")),
        (2, ("pi.zstd", "--into", "new.csv", "--master", "local[2]")),
        (2, ("pi.zstd", "--into", "new.yaml")),
        (2, ("pi.zstd",)),
    ],
    "init": [(2, ("mnist",)), (2, ())],
    "jobs": [
        (4, ("nothing.results",)),
        (2, ("fleet.results", "--job", "nightly")),
        (2, ("fleet.results", "--rules", "runs.csv")),
        (4, ("s.results",)),
    ],
    "list": [(2, ("model",))],
    "predict": [
        (2, ("rnus.csv", "--at", "executors=2")),
        (2, ("runs.csv", *QUICK, "--at", "exectors=2,batch_size=64,network=vgg")),
        (4, ("runs.csv", *QUICK, "--at", "executors=900,batch_size=64,network=vgg")),
        (4, ("few.csv", "--at", "executors=2")),
        (2, ("log", "--at", "executors=2")),
    ],
    "queue": [
        (2, ("rnus.csv", "--arrival-rate", "1/h")),
        (2, ("--service-time", "30s", "--arrival-rate", "5")),
        (5, ("--service-time", "30s", "--arrival-rate", "1/s", *SHORT)),
        (2, ("--job", "time=30s,share=0", "--arrival-rate", "1/h")),
        (5, ("stream.yaml", "--at", "executors=1", "--arrival-rate", "9/s", *SHORT)),
    ],
    "queue admit": [(2, ()), (2, ("--new", "time=soon"))],
    "profile": [
        (2, ("pi.zst",)),
        (2, ("runs.csv",)),
        (2, ("log",)),
        (2, ("pi.zstd", "--threshold", "skew=2")),
        (2, ("pi.zstd", "--fail-above", "10%")),
        (2, ("pi.zstd", "pi.zstd", "--fail-above", "ten")),
    ],
    "recommend": [
        (2, ("rnus.csv",)),
        (5, ("runs.csv", *QUICK, "--within", "1s")),
        (5, ("runs.csv", *QUICK, "--within", "50s", "--fix", "network=vgg")),
        (2, ("runs.csv", *QUICK, "--minimize", "tims_s")),
        (4, ("few.csv",)),
    ],
    "replicate": [(2, ("marinos",)), (2, ("marinos2020", "--part", "queue")), (2, ("marinos2020", "--data", "no"))],
    "report": [(2, ("rnus.csv",)), (2, ("runs.csv", "-o", "runs.csv")), (4, ("empty.yaml",))],
    "run": [(2, ("s.yml",)), (2, ("s.yaml", "--resum")), (3, ("huge.yaml", "--dry-run"))],
    "store check": [(2, ()), (4, ("no.results",)), (2, ("log",))],
    "store copy": [(2, ("s.results",)), (4, ("no.results", "new.results")), (2, ("s.results", "s.yaml"))],
    "store migrate": [(2, ()), (4, ("no.results",))],
    "store prune": [(2, ("s.results",)), (2, ("s.results", "--older-than", "soon")), (2, ("s.results", "--keep", "0"))],
    "serve token": [
        (2, ("ad", "ci", "--store", "s.results")),
        (2, ("add", "--store", "s.results")),
        (2, ("add", "ci", "--scope", "root", "--store", "s.results")),
        (2, ("revoke", "nobody", "--store", "s.results")),
    ],
    "submit": [
        (2, ("--store", "s.results", "--dry-run", "train.py")),
        (2, ("--dry-run", *_JOB)),
        (2, ("--store", "s.results", "--dry-run", "--within", "soon", *_JOB)),
    ],
    "speed": [(2, ("fleet.results",)), (2, ("--seconds", "0"))],
    "tune": [(2, ("s.yml",)), (2, ("tuned.yaml", "--searcher", "gided")), (2, ("tuned.yaml", "--minimize", "tims_s"))],
    "validate": [(2, ("rnus.csv",)), (2, ("runs.csv", "--protocol", "lo")), (4, ("few.csv",)), (2, ("log",))],
    "watch": [
        (2, ("pi.zst", "--into", "new.results")),
        (2, ("pi.zstd", "--into", "new.csv")),
        (2, ("pi.zstd", "--into", "new.results", "--every", "soon")),
        (2, ("pi.zstd", "--into", "new.results", "--every", "1s", "--once")),
        (2, ("pi.zstd", "--into", "new.results", "--rules", "runs.csv")),
        (2, ("pi.zstd",)),
    ],
    "whatif": [
        (2, ("pi.zst",)),
        (2, ("log",)),
        (2, ("pi.zstd", "--executors", "0")),
        (2, ("pi.zstd", "--executors", "few")),
        (2, ("pi.zstd", "--data", "much")),
        (2, ("pi.zstd", "--dynamic", "4")),
        (2, ("pi.zstd", "--budget", "1")),
        (5, ("pi.zstd", "--within", "1s")),
    ],
}


_SLOW = ("analyze", "fit", "plan", "predict", "queue", "recommend", "replicate", "tune", "validate")
_REMEMBERED: dict[object, Any] = {}


def prepare(folder: Path, made: Path, patch: pytest.MonkeyPatch) -> None:
    """Files to ask about, copied from where they were made, and runs without a cluster. What is slow is done once."""
    shutil.copytree(made, folder, dirs_exist_ok=True)
    for module in ("sparkcast_papers.courier2021.anova", "sparkcast_papers.marinos2020.anova"):
        importlib.import_module(module)  # they take functions from `api`, and are to keep the real ones
    for name in _SLOW:
        patch.setattr(api, name, _once(name, getattr(api, name)))
    patch.setattr(demo, "run_demo", _played_demo)
    patch.setattr(api, "run", _played_run)
    patch.setattr(speed, "measure_speed", _measured_speed)
    patch.setattr(api, "report", lambda data, output, **_: Path(output).write_text("a page"))  # has tests of its own


def _measured_speed(options: SparkOptions, seconds: float) -> speed.MeasuredCluster:
    nodes = (NodeSpeed("node1", 4, 212.5, 3.1e8, 1.1e9), NodeSpeed("node2", 4, 208.1, 2.9e8, 1.0e9))
    return speed.MeasuredCluster(options.master, ClusterSpeed(1_790_553_600.0, nodes))


def _once(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Called again by the same command line, in whatever folder and form of output, it gives what it gave before."""

    def remember(*arguments: Any, **options: Any) -> Any:
        key = (name, *(word for word in sys.argv if word != "--json"))
        if key not in _REMEMBERED:
            _REMEMBERED[key] = function(*arguments, **options)
        return _REMEMBERED[key]

    return remember


def make(folder: Path) -> None:
    """Write the files."""
    (folder / "runs.csv").write_text(TABLE)
    (folder / "few.csv").write_text("executors,time_s\n1,5\n2,3\n")
    (folder / "log").write_text('{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n')
    shutil.copy(REAL_LOG, folder / "pi.zstd")
    for name, text in (
        ("s", STUDY),
        ("stream", STREAM),
        ("fraction", FRACTION),
        ("tuned", STUDY),
        ("empty", STUDY),
        ("huge", HUGE),
    ):
        (folder / f"{name}.yaml").write_text(text)
    for name in ("in.csv", "in2.csv", "in3.results"):  # ingested once: what is told of it does not change any more
        api.ingest(folder / "pi.zstd", folder / name, processes=1)
    api.watch(folder / "pi.zstd", folder / "fleet.results", readers=1)
    nightly = [*a_history(), in_progress(a_run(40), 2)]
    write_store(folder / "nights.results", nightly, a_history(job="score", work_s=200.0))
    _measure(folder / "s.yaml")
    _measure(folder / "tuned.yaml", n_replicates=1)
    open_store(folder / "tokens.results", create=True).close()
    for name in ("ci", "old"):
        change_tokens(str(folder / "tokens.results"), "add", name, scope="write", team="etl", days=90)
    _measure_streams(folder / "stream.yaml")
    api.save_model(api.fit(api.load_data(folder / "runs.csv"), model="ridge").model, folder / "m.sparkcast")


def _measure(study: Path, n_replicates: int = 2) -> None:
    loaded = api.load_study(study)
    store = open_store(study.with_suffix(".results"), create=True)
    store.register(loaded, Plan("full", 0, ()))
    for executors in (1, 2):
        for samples in (1000, 2000, 3000, 4000):
            for replicate in range(1, n_replicates + 1):
                configuration = Configuration({**loaded.fixed, "executors": executors, "samples": samples})
                trial = store.add_trial(loaded.name, configuration, replicate)
                run_id, artifacts = store.begin_run(loaded.name, trial)
                time_s = 2 + samples / 500 / executors + replicate / 10
                responses = {"time_s": time_s, "total_s": time_s + 1, "error": 1 / samples}
                done = Observation(configuration, responses, run_id=run_id, artifacts=artifacts, replicate=replicate)
                store.finish_run(loaded.name, trial, done)
    store.close()


def _measure_streams(study: Path) -> None:
    """Streams of four jobs each: at 20 a minute the first two are alone, at 40 nobody is."""
    loaded = api.load_study(study)
    store = open_store(study.with_suffix(".results"), create=True)
    store.register(loaded, Plan("full", 0, ()))
    for rate, ends in ((1200, (2.0, 5.2, 9.5, 9.6)), (2400, (3.5, 5.0, 6.5, 7.0))):
        configuration = Configuration({**loaded.fixed, "arrivals_per_hour": rate})
        for replicate in (1, 2):
            trial = store.add_trial(loaded.name, configuration, replicate)
            run_id, artifacts = store.begin_run(loaded.name, trial)
            jobs = tuple(
                _played_job(number, configuration, (number - 1) * 3600 / rate, ended_s + replicate / 10)
                for number, ended_s in enumerate(ends, start=1)
            )
            responses = {"time_s": 0.5, "total_s": ends[-1], **stream_responses(jobs, 2)}
            sharing = Sharing("Spark standalone: FIFO, each application up to its spark.cores.max", 2)
            seen = Observation(configuration, responses, replicate=replicate, run_id=run_id, artifacts=artifacts)
            store.finish_run(loaded.name, trial, replace(seen, jobs=jobs, sharing=sharing))
    store.close()


def _played_job(number: int, configuration: Configuration, arrived_s: float, ended_s: float) -> JobRun:
    settings = configuration.without("arrivals_per_hour") | {"executors": 2 if number == 4 else 1, "partitions": 2}
    times = (arrived_s, arrived_s + 0.5, arrived_s + 1.0, ended_s)
    return JobRun(number, settings, *times, {"time_s": 0.5}, artifacts=f"runs/1/job-{number}", cores=1)


def _played_run(study: Study, **_: object) -> CampaignResult:
    assert study.path is not None
    seen = api.load_data(study.path).dataset.observations
    cause = "Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times, most recent failure: " + "lost " * 20
    failed = Observation(seen[0].configuration, {}, outcome=Outcome.ERROR, cause=cause)
    reason = "the time limit of 30 min 00 s is used up, and the next trial takes about as long as the others did"
    left_out = (Trial(Configuration({"executors": 2}), 1),)
    return CampaignResult(16, 18, (*seen[:2], failed), left_out, reason)


def _played_demo(out: Path, **_: object) -> demo.DemoResult:
    if out.parent.is_file():
        raise NotADirectoryError(20, "Not a directory", str(out))
    data = api.load_data("runs.csv")
    found = api.recommend(data, within_s=100, model="ridge")
    time = found.chosen.predicted("time_s")
    check = CheckRun(
        found.chosen.configuration,
        found.vocabulary.response("time_s"),
        time.value,
        time.low,
        time.high,
        0.9,
        time.value,
    )
    lines = ("Measured     16 of 16 planned training runs, on a real Spark cluster", f"Recommended  {found.why}")
    return demo.DemoResult(out / "report.html", 16, found, check, lines)
