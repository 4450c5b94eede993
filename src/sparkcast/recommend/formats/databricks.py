"""Databricks: a run for `databricks jobs submit --json`; without a program, the settings of its cluster."""

import json
import re
from pathlib import PurePath
from typing import Any

from sparkcast.recommend import Launch
from sparkcast.recommend.submit import INSTANCES, TOTAL_CORES

_CORES, _MEMORY = "spark.executor.cores", "spark.executor.memory"
_OF_NODES = (INSTANCES, TOTAL_CORES, _CORES, _MEMORY)  # each worker is one executor, as large as its node


def written(launch: Launch) -> tuple[str, tuple[str, ...]]:
    cluster = _cluster(launch)
    notes = [f"add spark_version and node_type_id to the cluster{_node(launch)}"]
    if not launch.program:
        return json.dumps(cluster, indent=2), tuple(notes)
    task = {
        "task_key": re.sub(r"[^A-Za-z0-9_-]+", "-", PurePath(launch.program).stem)[:100] or "job",
        "new_cluster": cluster,
        **_program(launch),
    }
    if libraries := _libraries(launch):
        task["libraries"] = libraries
    notes.append("the program and its files must be where Databricks can read them")
    run = {"run_name": launch.options.get("name", launch.program), "tasks": [task]}
    return json.dumps(run, indent=2), tuple(notes)


def _cluster(launch: Launch) -> dict[str, Any]:
    conf = {name: value for name, value in launch.properties.items() if name not in _OF_NODES}
    workers = launch.properties.get(INSTANCES)
    return {
        **({} if workers is None else {"num_workers": int(float(workers))}),
        **({"spark_conf": conf} if conf else {}),
        **({"spark_env_vars": dict(launch.environment)} if launch.environment else {}),
    }


def _node(launch: Launch) -> str:
    cores, memory = launch.properties.get(_CORES), launch.properties.get(_MEMORY)
    parts = [*([f"{cores} cores"] if cores else []), *([f"{memory} for each executor"] if memory else [])]
    return f", with nodes of {' and '.join(parts)}" if parts else ""


def _program(launch: Launch) -> dict[str, Any]:
    arguments = list(launch.arguments)
    if "class" in launch.options:
        return {"spark_jar_task": {"main_class_name": launch.options["class"], "parameters": arguments}}
    return {"spark_python_task": {"python_file": launch.program, "parameters": arguments}}


def _libraries(launch: Launch) -> list[dict[str, Any]]:
    program = [launch.program] if "class" in launch.options else []
    jars = [*program, *filter(None, launch.options.get("jars", "").split(","))]
    packages = filter(None, launch.options.get("packages", "").split(","))
    return [*({"jar": jar} for jar in jars), *({"maven": {"coordinates": package}} for package in packages)]
