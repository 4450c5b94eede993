"""A SparkApplication of the Kubernetes operator for Spark (sparkoperator.k8s.io/v1beta2)."""

import re
from pathlib import PurePath
from typing import Any

import yaml

from sparkcast.recommend import Launch
from sparkcast.recommend.submit import INSTANCES, TOTAL_CORES

# What the operator has fields for, and refuses or overrides as properties.
_EXECUTOR = {INSTANCES: "instances", "spark.executor.cores": "cores", "spark.executor.memory": "memory"}
_DRIVER = {"spark.driver.cores": "cores", "spark.driver.memory": "memory"}
_DEPENDENCIES = {
    "jars": "jars",
    "files": "files",
    "py-files": "pyFiles",
    "packages": "packages",
    "exclude-packages": "excludePackages",
    "repositories": "repositories",
    "archives": "archives",
}
_IMAGE, _VERSION = "IMAGE", "VERSION"


def written(launch: Launch) -> tuple[str, tuple[str, ...]]:
    properties = dict(launch.properties)
    properties.pop(TOTAL_CORES, None)  # Kubernetes counts executors
    executor, driver = _fields(properties, _EXECUTOR), _fields(properties, _DRIVER)
    program = launch.program or "PROGRAM"
    deps = {field: launch.options[name].split(",") for name, field in _DEPENDENCIES.items() if name in launch.options}
    environment = [{"name": name, "value": value} for name, value in launch.environment.items()]
    pods = {"env": environment} if environment else {}
    spec: dict[str, Any] = {
        "type": _language(program, launch),
        "mode": "cluster",
        "image": _IMAGE,
        "sparkVersion": launch.spark or _VERSION,
        "mainApplicationFile": _located(program),
        "mainClass": launch.options.get("class"),
        "arguments": list(launch.arguments),
        "deps": deps,
        "sparkConf": properties,
        "driver": {**driver, **pods},
        "executor": {**executor, **pods},
    }
    needed = ("driver", "executor")
    document = {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": _name(launch.options.get("name", PurePath(program).stem))},
        "spec": {name: value for name, value in spec.items() if value or name in needed},
    }
    blanks = [_IMAGE, *([] if launch.spark else [_VERSION]), *([] if launch.program else [program])]
    return _yaml(document), (f"replace {', '.join(blanks)} by your own",)


def _yaml(document: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000)
    return text.rstrip("\n") + "\n"


def _fields(properties: dict[str, str], names: dict[str, str]) -> dict[str, Any]:
    """What has a field of its own, taken out of the properties."""
    found = {field: properties.pop(name) for name, field in names.items() if name in properties}
    return {field: int(value) if field != "memory" else value for field, value in found.items()}


def _language(program: str, launch: Launch) -> str:
    endings = {".py": "Python", ".R": "R", ".r": "R"}
    return endings.get(PurePath(program).suffix, "Scala" if "class" in launch.options or launch.program else "Python")


def _located(program: str) -> str:
    """A path is one in the image."""
    return program if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", program) else f"local://{PurePath('/', program)}"


def _name(text: str) -> str:
    """A name that Kubernetes takes: lower case, digits and hyphens, beginning with a letter."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].rstrip("-")
    return plain if plain[:1].isalpha() else f"job-{plain}".rstrip("-")
