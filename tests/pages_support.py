"""A service over made-up studies with known laws, and a real browser to look at its pages."""

import math
import os
import random
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sparkcast import api
from sparkcast.errors import SparkcastError
from sparkcast.serve.app import create_app
from sparkcast.serve.pages._board import keeper_of
from sparkcast.serve.settings import ServeSettings
from sparkcast.store import open_store, results_folder
from sparkcast.study import Configuration, Observation, Outcome

_STUDY = """\
study: {name}
workload: mnist-training
settings:
  executors: [1, 2, 4]
  batch_size: [64, 128, 256, 512]
  network: lenet5
  epochs: 2
design: {{kind: full, replicates: 2, seed: 1}}
responses: [time_s, accuracy]
price: {{core_hour: 4, currency: USD}}
"""
EVIL = "<script>alert(1)</script>"  # what a name may be that somebody chose


def law(configuration: Configuration, draw: random.Random) -> dict[str, float]:
    """More executors are faster, small batches slower and better."""
    executors, batch = int(configuration["executors"]), int(configuration["batch_size"])
    time_s = (120 + 900 * (1 + 48 / batch) / executors) * math.exp(draw.gauss(0, 0.05))
    accuracy = 0.93 - 0.018 * math.log2(batch / 64) + draw.gauss(0, 0.003)
    return {"time_s": time_s, "total_s": time_s + 15, "accuracy": accuracy}


def a_study(folder: Path, name: str = "intent-model", *, done: int | None = None, failing: bool = False) -> Path:
    """A study file with `done` runs in its store, all by default; of an unfinished one the next run goes on."""
    file = folder / f"{name}.yaml"
    file.write_text(_STUDY.format(name=name))
    study = api.load_study(file)
    plan = api.plans.make_plan(study)
    draw = random.Random(7)
    if done == 0:
        return file
    store = open_store(results_folder(file), create=True)
    store.register(study, plan)
    for trial in plan.trials[:done]:
        run_id, artifacts = store.begin_run(name, trial)
        has_failed = failing and trial.configuration["executors"] == 4 and trial.configuration["batch_size"] == 512
        run = Observation(
            trial.configuration,
            {} if has_failed else law(trial.configuration, draw),
            Outcome.OOM if has_failed else Outcome.OK,
            "executor 2 was killed" if has_failed else "",
            replicate=trial.replicate,
            position=trial.position,
            started_at=time.time(),
            run_id=run_id,
            artifacts=artifacts,
        )
        store.finish_run(name, trial, run)
    if done is not None and done < len(plan.trials):
        store.begin_run(name, plan.trials[done])
    store.close()
    return file


def a_table(folder: Path, *, name: str = "runs.csv") -> Path:
    """A table of another job, whose amount of data varies, with levels that try to be markup."""
    draw = random.Random(3)
    rows = ["executors,input_gb,codec,time_s"]
    for executors in (2, 4, 8, 16):
        for size in (50, 100, 200, 400):
            for codec, factor in (("zstd", 1.0), (EVIL, 1.2)):
                time_s = (20 + 8 * size * factor / executors) * draw.uniform(0.95, 1.05)
                rows.append(f'{executors},{size},"{codec}",{time_s:.2f}')
    file = folder / name
    file.write_text("\n".join(rows) + "\n")
    return file


@contextmanager
def service(*sources: Path, store: Path | None = None, **more: Any) -> Iterator[str]:
    """The address of a real server with these sources; `more` settings."""
    import uvicorn

    settings = ServeSettings(tuple(map(str, sources)), None if store is None else str(store), workers=0, **more)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = create_app(settings)
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the service did not start")
        time.sleep(0.01)
    learn_all(app)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


def learn_all(app: Any) -> None:
    """So that no page says that it is still learning, however busy the machine is."""
    state = app.state.service
    for name in state.catalog.given:
        with suppress(SparkcastError):
            state.learned(name)
    request: Any = SimpleNamespace(app=app)
    board = keeper_of(request)
    while state.catalog.stores and board.has_jobs() and board.look() is None:
        board.wait(1.0)


def chromium() -> str | None:
    """The browser of the machine."""
    given = os.environ.get("SPARKCAST_CHROMIUM")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return given or next((path for name in names if (path := shutil.which(name))), None)


def a_fleet(file: Path, *, usual: int = 0, runs: int = 20) -> Path:
    """A store of recurring jobs: slower since a change, an unusual last run, failures, oversized, few runs, stale."""
    from history_support import write_store

    jobs = [
        _job("features-nightly", 60, changes_at=54),
        _job("clickstream-sessions", 50, waits_at=49),
        _job("ads-attribution", 40, fails=(30, 33, 36)),
        _job("ranker-train", 60, memory_gib=48, peak_gib=6.0),
        _job("geo-enrich", 3),
        _job("ab-readout", 1),
        _job("search-index", 25, last=45),
        _job("Łódź → übersicht", 12),
        *(_job(f"usual-{k:04d}", runs, seed=k) for k in range(usual)),
    ]
    return write_store(file, *jobs)


def _job(name: str, n: int, *, last: int = 60, seed: int = 1, **law: Any) -> list[Observation]:
    from history_support import a_run

    draw = random.Random(f"{name} {seed}")
    constants = {key: value for key, value in law.items() if key in ("memory_gib", "peak_gib", "executors")}
    runs = []
    for k in range(n):
        number = last - n + k
        gib = 100 * (0.6 if number % 7 >= 5 else 1.0) * math.exp(draw.gauss(0, 0.1))
        has_failed = k in law.get("fails", ())
        is_changed = k >= law.get("changes_at", n)
        runs.append(
            a_run(
                number,
                job=name,
                gib=gib,
                noise=(1.3 if is_changed else 1.0) * math.exp(draw.gauss(0, 0.05)),
                waiting_s=900.0 if k == law.get("waits_at") else 0.0,
                properties={"spark.sql.shuffle.partitions": "16000" if is_changed else "2000"},
                outcome=Outcome.OOM if has_failed else Outcome.OK,
                cause="executor lost: out of memory" if has_failed else "",
                **constants,
            )
        )
    return runs
