"""Amazon EMR: a step for `aws emr add-steps --steps file://...`; without a program, configurations of a cluster."""

import json

from sparkcast.recommend import Launch
from sparkcast.recommend.formats.spark_submit import words_of
from sparkcast.recommend.submit import TOTAL_CORES


def written(launch: Launch) -> tuple[str, tuple[str, ...]]:
    properties = {name: value for name, value in launch.properties.items() if name != TOTAL_CORES}  # YARN ignores it
    if not launch.program:
        return _json([{"Classification": "spark-defaults", "Properties": properties}]), ()
    step = {
        "Name": launch.options.get("name", launch.program),
        "ActionOnFailure": "CONTINUE",
        "HadoopJarStep": {"Jar": "command-runner.jar", "Args": _words(launch, properties)},
    }
    notes = ["the program and its files must be where the cluster can read them, as on s3://"]
    return _json([step]), tuple(notes)


def _words(launch: Launch, properties: dict[str, str]) -> list[str]:
    environment = {f"spark.yarn.appMasterEnv.{name}": value for name, value in launch.environment.items()}
    options = {"deploy-mode": "cluster", **launch.options}
    return words_of(
        Launch({**properties, **environment}, launch.program, launch.arguments, options, launch.switches, master="yarn")
    )


def _json(document: object) -> str:
    return json.dumps(document, indent=2)
