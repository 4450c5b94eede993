"""What sparkcast adds to a trial, over the bare spark-submit of the same job; and what a warm cluster saves.

    python benchmarks/overhead.py [--workload mnist-training|pi] [--pairs 6]
    python benchmarks/overhead.py --sampler 60 [--rounds 10]       what sampling the machines costs, beside psutil

Both sides run in turn, on the same cluster, in one process tree: after each trial its own `command.sh` is executed as
it stands. A trial's time is everything sparkcast does for it: noting the run, launching, sampling the host, reading the
report and the event log, storing. Starting the cluster is counted on the cold side of the second table only.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

import _sampling

from sparkcast import api
from sparkcast.runs.session import Progress

SETTINGS = {
    "mnist-training": "{executors: 2, batch_size: [64, 128], sampling_rate: 0.25, epochs: 1}",
    "pi": "{executors: 2, samples: [20000, 40000]}",
}


class Stopwatch:
    """Times each trial, and after it the bare command, from what `run` reports."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._begun = 0.0
        self.trials: list[float] = []
        self.bare: list[float] = []

    def __call__(self, progress: Progress) -> None:
        if not progress.is_note and progress.text.startswith("trial "):
            self._begun = time.perf_counter()
        elif progress.is_note and " -> " in progress.text:
            self.trials.append(time.perf_counter() - self._begun)
            self.bare.append(self._run_bare())
            print(f"{progress.text}: {self.trials[-1]:.2f} s, bare {self.bare[-1]:.2f} s", flush=True)

    def _run_bare(self) -> float:
        newest = max(self._folder.glob("runs/*/command.sh"), key=lambda path: path.stat().st_mtime)
        with (newest.parent / "bare.log").open("wb") as log:
            begun = time.perf_counter()
            subprocess.run(["bash", str(newest)], stdout=log, stderr=log, check=True)
            return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", choices=SETTINGS, default="mnist-training")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--sampler", type=float, metavar="SECONDS", help="measure the sampler alone, for so long")
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    if options.sampler:
        _sampling.show(options.sampler, options.rounds)
        return
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "overhead.yaml"
        text = f"study: overhead\nworkload: {options.workload}\nsettings: {SETTINGS[options.workload]}\n"
        study.write_text(text + f"design: {{replicates: {max(1, options.pairs // 2)}}}\n")
        api.starter_study(options.workload)  # import what is imported once, outside the clock
        stopwatch = Stopwatch(study.with_suffix(".results"))
        begun = time.time()
        api.run(study, on_progress=stopwatch)
        runs = api.load_data(study).dataset.observations
    differences = [ours - bare for ours, bare in zip(stopwatch.trials, stopwatch.bare, strict=True)]
    bare, added = median(stopwatch.bare), median(differences)
    print(f"\n{options.workload}: {len(runs)} pairs, medians")
    print(f"  bare spark-submit        {bare:6.2f} s")
    print(f"  sparkcast                {median(stopwatch.trials):6.2f} s")
    print(f"  added per trial          {added:6.2f} s = {100 * added / bare:.1f} %   (bar: <= 1 s and <= 5 %)")
    launches = [float(run.started_at or 0) for run in runs]
    first_tasks = [float(run.tasks.first_task_s or 0) for run in runs if run.tasks]
    cold, warm = first_tasks[0] - begun, first_tasks[1] - launches[1]
    print("time to the first Spark task")
    print(f"  cold (cluster down)      {cold:6.2f} s")
    print(f"  second trial (warm)      {warm:6.2f} s = {warm / cold:.2f} of cold   (bar: <= 0.50)")


if __name__ == "__main__":
    main()
