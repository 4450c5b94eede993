"""One job of a trial as Spark gets it: its properties, its arguments, its folder."""

import re
from pathlib import Path

from sparkcast.engines import Engine, SparkJob
from sparkcast.engines.conf import DYNAMIC_ALLOCATION, join_conf, merge_conf, shape_conf, spark_defaults, thread_conf
from sparkcast.observe.output import OUTPUT_FILE, RESULT_FILE, RESULT_VARIABLE
from sparkcast.runs.control import has_remote_driver, is_allocation_dynamic, users_properties
from sparkcast.runs.files import FilePlace
from sparkcast.study import Configuration, Study
from sparkcast.study.environment import is_local
from sparkcast.study.redaction import SPARK_SECRET
from sparkcast.workloads import Submitted, SubmittedApplication, Workload, driver, properties_of, shape_of
from sparkcast.workloads.nodes import NODES_FILE, NODES_VARIABLE

EVENT_LOG_DIR = "spark.eventLog.dir"


def event_logs_elsewhere(study: Study, workload: Workload, settings: Configuration, folder: Path) -> FilePlace | None:
    """Where a job writes its event log when its user says so: a driver on another machine cannot write here.

    Each job has a folder of its own there, by which its log is told from those of others.
    """
    given = users_properties(study, workload, settings).get(EVENT_LOG_DIR)
    if given is None and has_remote_driver(study, workload, settings):
        given = spark_defaults().get(EVENT_LOG_DIR)  # where the cluster's own applications write theirs
    own = "-".join(("sparkcast", study.name, *folder.parts[-2:]))
    return None if given is None else FilePlace(given).below(re.sub(r"[^A-Za-z0-9._-]+", "-", own))


def make_job(
    study: Study, workload: Workload, engine: Engine, settings: Configuration, folder: Path
) -> tuple[SparkJob, tuple[str, ...]]:
    measuring = {
        # The clock starts when all executors are there: a run with fewer would be another configuration's.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "1h",
        "spark.eventLog.enabled": "true",
        EVENT_LOG_DIR: (folder / "eventlog").resolve().as_uri(),
        "spark.eventLog.compress": "true",
        "spark.eventLog.rolling.enabled": "false",
        "spark.redaction.regex": SPARK_SECRET,  # the event log has all properties
    }
    shape = shape_conf(shape_of(workload, settings))
    # Else Spark, and not the study, would say how many executors there are.
    is_users = DYNAMIC_ALLOCATION in users_properties(study, workload, settings)
    steady = {} if is_users else {DYNAMIC_ALLOCATION: "false"}
    if is_allocation_dynamic(study, workload, settings):  # which would begin with as many as it may have
        shape.pop("spark.executor.instances")
    elsewhere = event_logs_elsewhere(study, workload, settings, folder)
    ours = join_conf(
        steady, engine.defaults(), workload.spark_conf(settings), properties_of(study, settings), measuring, shape
    )
    users = {name: value for name, value in study.spark.conf.items() if name != EVENT_LOG_DIR}
    conf, notes = merge_conf(ours, users)
    if elsewhere is not None:
        conf[EVENT_LOG_DIR] = elsewhere.url
    conf = {**thread_conf(conf), **conf}
    name = f"sparkcast {study.name}"
    # The machine sparkcast runs on is sampled anyway.
    samples = {} if is_local(study.spark.master) else {NODES_VARIABLE: str((folder / NODES_FILE).resolve())}
    if isinstance(workload, Submitted):
        return _users_job(workload.application(settings, folder.resolve()), conf, name, folder, samples), notes
    arguments = (str(folder / "job.json"), str(folder / "report.jsonl"))
    return SparkJob(Path(driver.__file__), arguments, conf, name, environment=samples), notes


def _users_job(
    program: SubmittedApplication, conf: dict[str, str], name: str, folder: Path, samples: dict[str, str]
) -> SparkJob:
    """A program that knows nothing of sparkcast, beside where it may leave its results and samples."""
    environment = {**program.environment, **samples, RESULT_VARIABLE: str((folder / RESULT_FILE).resolve())}
    return SparkJob(
        program.file,
        program.arguments,
        conf,
        program.name or name,
        program.options,
        environment,
        program.directory,
        output=folder / OUTPUT_FILE,
        properties_file=program.properties_file,
    )


def job_folders(folder: Path, jobs: int) -> tuple[Path, ...]:
    return (folder,) if jobs == 1 else tuple(folder / f"job-{n}" for n in range(1, jobs + 1))
