"""Settings as people paste them: options of spark-submit, and arguments of the job."""

from sparkcast.study import Configuration
from sparkcast.units import as_number

_OF_THE_CLUSTER = ("executors", "cores", "memory", "jobs")


def conf_lines(settings: Configuration) -> tuple[str, ...]:
    """The cluster settings as options of spark-submit.

    >>> conf_lines({"executors": 2, "cores": 4})
    ('--conf spark.executor.cores=4', '--conf spark.cores.max=8', '--conf spark.executor.instances=2')
    """
    executors, cores = as_number(settings.get("executors")), as_number(settings.get("cores"))
    properties = {
        "spark.executor.cores": cores,
        # A standalone cluster counts cores, YARN and Kubernetes count executors.
        "spark.cores.max": executors * (cores or 1) if executors else None,
        "spark.executor.instances": executors,
    }
    lines = [f"--conf {name}={value:g}" for name, value in properties.items() if value]
    if "memory" in settings:
        lines.append(f"--conf spark.executor.memory={settings['memory']}")
    return tuple(lines)


def job_arguments(settings: Configuration) -> tuple[str, ...]:
    """The settings that are not the cluster's, as arguments of the job.

    >>> job_arguments({"executors": 2, "batch_size": 64, "data_path": ""})
    ('--batch-size 64',)
    """
    own = {name: value for name, value in settings.items() if name not in _OF_THE_CLUSTER and value != ""}
    return tuple(f"--{name.replace('_', '-')} {value}" for name, value in own.items())
