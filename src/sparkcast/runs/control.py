"""Whether the executors of a run are those that the study asks for, as far as that is known before it starts."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from sparkcast.engines.conf import DEPLOY_MODE, DYNAMIC_ALLOCATION, deploy_mode, read_properties, shape_conf
from sparkcast.engines.machine import this_machine
from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Role, Study
from sparkcast.study.environment import kind_of
from sparkcast.workloads import SAID_BY, Submitted, Workload, complete, shape_of, vocabulary_of

_EVENT_LOG = "spark.eventLog.enabled"
_CORES = ("spark.executor.cores", "spark.cores.max")
_WITH_DRIVERS = ("spark", "yarn", "k8s")  # kinds of clusters that run them
_UNLIMITED = ("yarn", "k8s", "local")  # where spark.cores.max does not count
_LOCAL = re.compile(r"local(?:\[\s*(\d+|\*)\s*(?:,\s*\d+\s*)?\])?")


def require_control(study: Study, workload: Workload, jobs: Sequence[Configuration]) -> tuple[str, ...]:
    """Raise StudyError when settings of the cluster vary among jobs and would have no effect; returns notes.

    `jobs` are the settings of all jobs that are going to run.
    """
    varied = _varied(workload, jobs)
    _require_no_replacement(study, varied)
    _require_event_logs(study, workload, jobs)
    _require_executors(study, workload, jobs)
    _require_driver(study, workload, jobs)
    if Role.MACHINES in varied:
        _require_steady_executors(study, workload, jobs, varied[Role.MACHINES])
    return require_cluster(study, workload, jobs)


def require_cluster(study: Study, workload: Workload, jobs: Sequence[Configuration]) -> tuple[str, ...]:
    """Like `require_control`, by the master URL alone: in local mode, the driver is the only executor."""
    if kind_of(study.spark.master) != "local" or not jobs:
        return ()
    master, cores, varied = study.spark.master, _local_cores(study.spark.master), _varied(workload, jobs)
    gives = f"{master} runs everything in one process with {cores} core{'s' * (cores != 1)}"
    if names := [varied[role] for role in (Role.MACHINES, Role.CORES) if role in varied]:
        verb = "vary, but have" if len(names) > 1 else "varies, but has"
        raise StudyError(
            f"{study.where('settings', names[0])}{' and '.join(names)} {verb} no effect: {gives}",
            hint="use the master `embedded`, which starts a cluster on this machine, `local-cluster[2,1,1024]` "
            "(workers, cores, MiB) or another cluster; or hold them constant",
        )
    words, shape, notes = vocabulary_of(workload), shape_of(workload, jobs[0]), []
    if (shape.executors, shape.cores) != (1, cores):
        asked = f"{words.first(Role.MACHINES)}={shape.executors}, {words.first(Role.CORES)}={shape.cores}"
        notes.append(f"{gives}: {asked} of this study have no effect")
    if Role.MEMORY in varied:
        notes.append(f"{gives}: {varied[Role.MEMORY]} has no effect, as only the driver's memory counts there")
    return tuple(notes)


def ineffective_roles(study: Study) -> frozenset[Role]:
    """The settings of the cluster that runs do not heed: all in local mode, else those that properties replace."""
    if kind_of(study.spark.master) == "local":
        return frozenset((Role.MACHINES, Role.CORES, Role.MEMORY))
    return frozenset(role for name, role in SAID_BY.items() if name in study.spark.conf)


def _varied(workload: Workload, jobs: Sequence[Configuration]) -> dict[Role, str]:
    """The settings of the cluster that differ among jobs, by their roles."""
    words, shapes = vocabulary_of(workload), {shape_of(workload, settings) for settings in jobs}
    levels: dict[Role, set[int] | set[str]] = {
        Role.MACHINES: {shape.executors for shape in shapes},
        Role.CORES: {shape.cores for shape in shapes},
        Role.MEMORY: {shape.memory for shape in shapes},
    }
    return {role: words.first(role) or "" for role, different in levels.items() if len(different) > 1}


def _require_no_replacement(study: Study, varied: Mapping[Role, str]) -> None:
    """The user's properties win over ours: those that say the same as a setting that varies make it ineffective."""
    for name, role in SAID_BY.items():
        if role in varied and name in study.spark.conf:
            raise StudyError(
                f"{varied[role]} varies, but your {name}={study.spark.conf[name]} replaces it in every run",
                hint=f"remove {name}, or hold {varied[role]} constant",
            )


def _require_event_logs(study: Study, workload: Workload, jobs: Sequence[Configuration]) -> None:
    for settings in jobs:
        if users_properties(study, workload, settings).get(_EVENT_LOG, "").lower() == "false":
            raise StudyError(
                f"with your {_EVENT_LOG}=false there is nothing to measure: all times come from the event log",
                hint=f"remove {_EVENT_LOG}; each run writes a log of its own into the results folder",
            )


def _require_executors(study: Study, workload: Workload, jobs: Sequence[Configuration]) -> None:
    """A standalone master gives an executor all its cores or none: with fewer in total, the run would wait forever."""
    conf = study.spark.conf
    if kind_of(study.spark.master) in _UNLIMITED or not {*_CORES} & {*conf}:
        return
    for shape in dict.fromkeys(shape_of(workload, settings) for settings in jobs):
        asked = {**shape_conf(shape), **conf}
        cores, total = asked["spark.executor.cores"], asked["spark.cores.max"]
        if cores.isdigit() and total.isdigit() and int(cores) > int(total):
            whose = ["your " * (name in conf) + f"{name}={asked[name]}" for name in _CORES]
            raise StudyError(
                f"no executor can start: {whose[0]} is above {whose[1]}, the cores of all executors together",
                hint=f"remove both properties and use the settings {_names_of(workload)}",
            )


def _require_driver(study: Study, workload: Workload, jobs: Sequence[Configuration]) -> None:
    """A driver on the cluster must be one that the cluster can run, and that does without files of this machine."""
    if not any(has_remote_driver(study, workload, settings) for settings in jobs):
        return
    if not isinstance(workload, Submitted):
        raise StudyError(
            f"{DEPLOY_MODE}=cluster is for jobs of your own: the driver of {study.workload} needs files that are here",
            hint=f"remove {DEPLOY_MODE}, or submit your job with the workload `command`",
        )
    file = str(workload.application(complete(workload, jobs[0]), Path()).file)
    if study.spark.master.startswith("spark://") and file.endswith(".py"):
        raise StudyError(
            "a standalone cluster runs no drivers in Python: Spark itself refuses deploy mode cluster for them there",
            hint="remove `deploy_mode: cluster`, so that the driver runs here",
        )


def has_remote_driver(study: Study, workload: Workload, settings: Configuration) -> bool:
    """Whether the driver of a job runs on the cluster, and spark-submit here only waits for it."""
    if kind_of(study.spark.master) not in _WITH_DRIVERS:
        return False
    options: Sequence[str] = ()
    has_file = False
    if isinstance(workload, Submitted):
        program = workload.application(complete(workload, settings), Path())
        options, has_file = program.options, program.properties_file is not None
    properties = users_properties(study, workload, settings)
    return deploy_mode(options, properties, has_file=has_file) == "cluster"


def _names_of(workload: Workload) -> str:
    words = vocabulary_of(workload)
    return " and ".join(str(words.first(role)) for role in (Role.MACHINES, Role.CORES))


def _require_steady_executors(study: Study, workload: Workload, jobs: Sequence[Configuration], name: str) -> None:
    """Dynamic allocation may be a factor itself; but held on, it decides how many executors a run gets."""
    if all(is_allocation_dynamic(study, workload, settings) for settings in jobs):
        raise StudyError(
            f"{name} varies, but with {DYNAMIC_ALLOCATION}=true Spark itself decides how many there are",
            hint=f"set {DYNAMIC_ALLOCATION}=false, or hold {name} constant and vary "
            "spark.dynamicAllocation.maxExecutors among the settings",
        )


def is_allocation_dynamic(study: Study, workload: Workload, settings: Configuration) -> bool:
    """Whether the user lets Spark decide how many executors a job has."""
    return users_properties(study, workload, settings).get(DYNAMIC_ALLOCATION, "").lower() == "true"


def users_properties(study: Study, workload: Workload, settings: Configuration) -> dict[str, str]:
    """The Spark properties of a job that are the user's own, of a setting, of the study or of its properties file."""
    own = {name: study.text(name, level) for name, level in settings.items() if name.startswith("spark.")}
    file = None
    if isinstance(workload, Submitted):
        file = workload.application(complete(workload, settings), Path()).properties_file
    return {**(read_properties(file) if file is not None else {}), **own, **study.spark.conf}


def _local_cores(master: str) -> int:
    """Of `local`, `local[4]`, `local[*]` and `local[4,2]`, whose second number is of failures."""
    found = _LOCAL.fullmatch(master)
    if found is None:
        raise StudyError(f"{master!r} is not a master URL", hint="e.g. local[2], local[*], embedded, spark://host:7077")
    return this_machine().cores if found[1] == "*" else int(found[1] or 1)
