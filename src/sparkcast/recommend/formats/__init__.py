"""What starts the job with the recommended settings, in the words of whatever starts it: one file each."""

from collections.abc import Callable, Mapping
from importlib import import_module

from sparkcast.errors import StudyError
from sparkcast.recommend import Launch
from sparkcast.registry import did_you_mean

Rendered = tuple[str, tuple[str, ...]]  # what goes into a file or a shell, and what to know of it

FORMATS: Mapping[str, str] = {  # by the name of its file
    "spark-submit": "spark_submit",
    "properties": "properties",
    "sparkapplication": "sparkapplication",
    "emr": "emr",
    "databricks": "databricks",
    "airflow": "airflow",
    "json": "launch_json",
}


def require_format(name: str) -> None:
    if name not in FORMATS:
        raise StudyError(f"there is no format {name!r}", hint=did_you_mean(name, tuple(FORMATS)))


def render(name: str, launch: Launch) -> Rendered:
    """Raises StudyError for a format that does not exist, and where nothing is known that Spark could be told."""
    require_format(name)
    if not (launch.program or launch.properties or launch.arguments):
        raise StudyError(
            "; ".join((*launch.notes[-1:], *launch.notes[:-1])) or "there is no line to paste",
            hint="say which settings are Spark's: `roles={NAME: 'machines'}`, or cores or memory",
        )
    written: Callable[[Launch], Rendered] = import_module(f"{__name__}.{FORMATS[name]}").written
    text, notes = written(launch)
    return text, (*launch.notes, *notes)
