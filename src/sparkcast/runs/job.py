"""One job of a trial as Spark gets it: its properties, its arguments, its folder."""

from pathlib import Path

from sparkcast.engines import Engine, SparkJob
from sparkcast.engines.conf import join_conf, merge_conf, shape_conf
from sparkcast.study import Configuration, Study
from sparkcast.study.redaction import SECRET
from sparkcast.workloads import Workload, driver, shape_of


def make_job(
    study: Study, workload: Workload, engine: Engine, settings: Configuration, folder: Path
) -> tuple[SparkJob, tuple[str, ...]]:
    measuring = {
        # The clock starts when all executors are there: a run with fewer would be another configuration's.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "1h",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "eventlog").resolve().as_uri(),
        "spark.eventLog.compress": "true",
        "spark.eventLog.rolling.enabled": "false",
        "spark.redaction.regex": SECRET,  # the event log has all properties
    }
    shape = shape_conf(shape_of(workload, settings))
    ours = join_conf(engine.defaults(), workload.spark_conf(settings), measuring, shape)
    conf, notes = merge_conf(ours, study.spark.conf)
    arguments = (str(folder / "job.json"), str(folder / "report.jsonl"))
    return SparkJob(Path(driver.__file__), arguments, conf, f"sparkcast {study.name}"), notes


def job_folders(folder: Path, jobs: int) -> tuple[Path, ...]:
    return (folder,) if jobs == 1 else tuple(folder / f"job-{n}" for n in range(1, jobs + 1))
