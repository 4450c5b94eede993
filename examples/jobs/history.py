"""Thirty runs of sales_report.py at executors, tasks and rows as chance has it: a folder of event logs to learn from.

python history.py LOGS
"""

import itertools
import random
import subprocess
import sys
from pathlib import Path

N_RUNS = 30
EXECUTORS, TASKS, ROWS = (1, 2, 3), (4, 8, 16), (500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000)

QUICK = "-XX:TieredStopAtLevel=1"  # Java's quick compiler: the runs are too short for the other


def main(logs: Path) -> None:
    logs.mkdir(parents=True, exist_ok=True)
    settings = list(itertools.product(EXECUTORS, TASKS, ROWS))
    random.Random(15).shuffle(settings)
    for executors, tasks, rows in settings[:N_RUNS]:
        conf = {
            "spark.default.parallelism": tasks,
            "spark.executor.memory": "1g",
            "spark.driver.extraJavaOptions": QUICK,
            "spark.executor.extraJavaOptions": QUICK,
            "spark.ui.enabled": "false",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "true",
            "spark.eventLog.dir": logs.resolve().as_uri(),
        }
        options = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
        job = Path(__file__).with_name("sales_report.py")
        master = f"local-cluster[{executors},1,1024]"
        subprocess.run(["spark-submit", "--master", master, *options, str(job), "--rows", str(rows)], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
