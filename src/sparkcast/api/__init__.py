"""What sparkcast does, as functions: the command line and the web service only parse, call one of these, and print.

Every function raises a `sparkcast.errors.SparkcastError`, with a hint, for problems its caller can fix; the docstrings
name the subclasses. Files are given as paths or strings.

Runs are given as a path (a study file, a table, a store, MLflow), a pandas DataFrame, or what `load_data` returned.
Where a model will do, it is given as the path of its file or as what `load_model` returned. `table` says what the
columns of a table or DataFrame mean, where they do not tell themselves.
"""

from typing import TYPE_CHECKING, Any

from sparkcast.api.answers import Present, analyze, predict, recommend
from sparkcast.api.drawing import (
    DrawnFigures,
    figures,
    write_figures,
    write_plan_figures,
    write_profile_figures,
    write_queue_figures,
    write_recommendation_figures,
    write_validation_figures,
)
from sparkcast.api.history import check, eta, etas, fleet
from sparkcast.api.logs import (
    compare_profiles,
    ingest,
    profile,
    report_log,
)
from sparkcast.api.models import fit, save_model, validate
from sparkcast.api.plans import plan, starter_study, study_of_line, write_plan
from sparkcast.api.plugins import list_kinds, list_packages, list_plugs, replicate
from sparkcast.api.queueing import admit, queue
from sparkcast.api.replays import whatif, whatif_within, write_whatif_figures
from sparkcast.api.reports import report
from sparkcast.api.runs import dry_run, recommend_unrun, run, tune, with_spark
from sparkcast.api.sources import load_data_or_model, load_model
from sparkcast.api.stores import check_store, copy_store, migrate_store, prune_store
from sparkcast.api.tables import export, export_samples, samples
from sparkcast.api.watching import jobs, load_job, measure_input, measure_speed, watch
from sparkcast.data.options import TableOptions
from sparkcast.data.sources import Data, Source, load_data, load_study
from sparkcast.display import connect

if TYPE_CHECKING:
    from sparkcast.fitting.distribution import Distribution
    from sparkcast.queues.load import Effort, Goal, Load
    from sparkcast.recommend.admission import SharedCluster
    from sparkcast.recommend.advise import Choices
    from sparkcast.recommend.question import Question
    from sparkcast.runs.cancel import CancelToken
    from sparkcast.search.options import Budget, SearchMethod

__all__ = [
    "Budget",
    "CancelToken",
    "Choices",
    "Data",
    "Distribution",
    "DrawnFigures",
    "Effort",
    "Goal",
    "Load",
    "Present",
    "Question",
    "SearchMethod",
    "SharedCluster",
    "Source",
    "TableOptions",
    "admit",
    "analyze",
    "check",
    "check_store",
    "compare_profiles",
    "copy_store",
    "dry_run",
    "eta",
    "etas",
    "export",
    "export_samples",
    "figures",
    "fit",
    "fleet",
    "ingest",
    "jobs",
    "list_kinds",
    "list_packages",
    "list_plugs",
    "load_data",
    "load_data_or_model",
    "load_job",
    "load_model",
    "load_study",
    "measure_input",
    "measure_speed",
    "migrate_store",
    "plan",
    "predict",
    "profile",
    "prune_store",
    "queue",
    "recommend",
    "recommend_unrun",
    "replicate",
    "report",
    "report_log",
    "run",
    "samples",
    "save_model",
    "starter_study",
    "study_of_line",
    "tune",
    "validate",
    "watch",
    "whatif",
    "whatif_within",
    "with_spark",
    "write_figures",
    "write_plan",
    "write_plan_figures",
    "write_profile_figures",
    "write_queue_figures",
    "write_recommendation_figures",
    "write_validation_figures",
    "write_whatif_figures",
]

# Nouns of rooms that take long to import, which happens when one is first used.
_HOMES = {
    "Budget": "sparkcast.search.options",
    "CancelToken": "sparkcast.runs.cancel",
    "Choices": "sparkcast.recommend.advise",
    "Distribution": "sparkcast.fitting.distribution",
    "Effort": "sparkcast.queues.load",
    "Goal": "sparkcast.queues.load",
    "Load": "sparkcast.queues.load",
    "Question": "sparkcast.recommend.question",
    "SearchMethod": "sparkcast.search.options",
    "SharedCluster": "sparkcast.recommend.admission",
}


def _text_of(result: object, details: bool, width: int) -> str:
    from sparkcast.text import text_of

    return text_of(result, details, width)


def _block_of(result: object) -> str | None:
    from sparkcast.report.block import block_of

    return block_of(result)


connect(_text_of, _block_of)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names only, not the modules that hold them."""
    return __all__
