"""A program for spark-submit: trains several times in one Spark application, because starting one takes longest.

spark-submit several_trainings.py ORDERS.json REPORT.jsonl

ORDERS.json holds `data_dir` and `settings`, a list; the report has what the driver writes for each in turn.
"""

import json
import sys
from pathlib import Path

from sparkcast.study import Configuration
from sparkcast.workloads import WORKLOADS
from sparkcast.workloads.driver import DriverJob, Report


def main(orders: Path, report_file: Path) -> None:
    wanted = json.loads(orders.read_text())
    with Report(report_file) as report:
        for settings in wanted["settings"]:
            report.write("settings", settings=settings)
            job = DriverJob(Configuration(settings), Path(wanted["data_dir"]), report)
            WORKLOADS.get("mnist-training")().run(job)
    job.stop()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
