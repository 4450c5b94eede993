"""Apache Airflow: a SparkSubmitOperator, as Python."""

import re
from pathlib import PurePath

from sparkcast.recommend import Launch

_IMPORT = "from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator"
_ARGUMENTS = {  # of the operator, by option of spark-submit
    "class": "java_class",
    "name": "name",
    "jars": "jars",
    "packages": "packages",
    "exclude-packages": "exclude_packages",
    "repositories": "repositories",
    "py-files": "py_files",
    "files": "files",
    "archives": "archives",
    "principal": "principal",
    "keytab": "keytab",
    "proxy-user": "proxy_user",
    "deploy-mode": "deploy_mode",
    "properties-file": "properties_file",
}


def written(launch: Launch) -> tuple[str, tuple[str, ...]]:
    program = launch.program or "PROGRAM"
    given: dict[str, object] = {
        "task_id": re.sub(r"[^A-Za-z0-9_.-]+", "_", PurePath(program).stem) or "job",
        "application": _literal(program),
        "application_args": [_literal(word) for word in launch.arguments],
        "conf": {name: _literal(value) for name, value in launch.properties.items()},
        **{argument: _literal(launch.options[name]) for name, argument in _ARGUMENTS.items() if name in launch.options},
        "env_vars": {name: _literal(value) for name, value in launch.environment.items()},
        "verbose": "verbose" in launch.switches,
    }
    lines = [f"    {name}={value!r}," for name, value in given.items() if value]
    notes = ["the master is that of the Airflow connection spark_default"]
    if not launch.program:
        notes.append("replace PROGRAM by your own")
    return "\n".join([_IMPORT, "", "SparkSubmitOperator(", *lines, ")"]), tuple(notes)


def _literal(text: str) -> str:
    """Airflow takes two braces for a template: a text that has them says so."""
    return text.replace("{{", "{{ '{{' }}").replace("{%", "{{ '{%' }}") if "{{" in text or "{%" in text else text
