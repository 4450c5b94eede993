"""What sparkcast does, as functions: the command line and the web service only parse, call one of these, and print.

Every function raises a `sparkcast.errors.SparkcastError`, with a hint, for problems its caller can fix; the docstrings
name the subclasses. Files are given as paths or strings. DATA below is what `load_data` returns, MODEL what
`load_model` returns.
"""

from sparkcast.api.answers import PresentLoad, analyze, predict, recommend
from sparkcast.api.figures import (
    DrawnFigures,
    write_figures,
    write_plan_figures,
    write_profile_figures,
    write_queue_figures,
    write_recommendation_figures,
    write_validation_figures,
)
from sparkcast.api.logs import compare_profiles, ingest, profile, report_log
from sparkcast.api.models import fit, load_model, save_model, validate
from sparkcast.api.plans import plan, starter_study, study_of_line, write_plan
from sparkcast.api.plugins import list_kinds, list_plugs, replicate
from sparkcast.api.queueing import admit, queue
from sparkcast.api.reports import report
from sparkcast.api.runs import dry_run, run, tune, with_spark
from sparkcast.api.tables import export, export_samples, load_data_or_model, samples
from sparkcast.data.sources import Data, Source, load_data, load_study

__all__ = [
    "Data",
    "DrawnFigures",
    "PresentLoad",
    "Source",
    "admit",
    "analyze",
    "compare_profiles",
    "dry_run",
    "export",
    "export_samples",
    "fit",
    "ingest",
    "list_kinds",
    "list_plugs",
    "load_data",
    "load_data_or_model",
    "load_model",
    "load_study",
    "plan",
    "predict",
    "profile",
    "queue",
    "recommend",
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
    "with_spark",
    "write_figures",
    "write_plan",
    "write_plan_figures",
    "write_profile_figures",
    "write_queue_figures",
    "write_recommendation_figures",
    "write_validation_figures",
]


def __dir__() -> list[str]:
    """The public names only, not the modules that hold them."""
    return __all__
