"""Your first study, in Python: plan it, run it on a real Spark cluster on this machine, ask it.

    python examples/01_first_study.py

Takes about a minute. Everything it makes is in a temporary folder.
"""

import tempfile
from pathlib import Path

from sparkcast import api

STUDY = """\
study: first
workload: pi
settings:
  executors: [1, 2]
  samples: [200000, 800000]
design: {kind: full, replicates: 1, seed: 7}
limits: {trial: 2m}
"""

with tempfile.TemporaryDirectory() as folder:
    study = Path(folder) / "first.yaml"
    study.write_text(STUDY)

    plan = api.plan(study)
    print(f"{len(plan.trials)} runs, the first with {plan.trials[0]}")

    result = api.run(study, on_progress=lambda progress: print(f"  {progress.text}"))
    print(f"{result.finished} of {result.planned} trials have a result")

    data = api.load_data(study)
    for run in data.dataset.observations:
        print(f"  {run.configuration['executors']} executors: {run.responses['time_s']:.2f} s of work")

    answer = api.predict(data, {"executors": 2, "samples": 400000}, model="ridge", level=0.8)
    guess = answer.prediction
    print(f"400,000 samples on 2 executors: {guess.value:.2f} s, most likely {guess.low:.2f} to {guess.high:.2f} s")
