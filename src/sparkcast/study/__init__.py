"""The words of sparkcast: what is asked (Study), planned (Trial, Plan) and seen (Observation, Dataset)."""

from sparkcast.study.configuration import same_level
from sparkcast.study.expression import Expression
from sparkcast.study.model import (
    Configuration,
    DesignChoice,
    Factor,
    Level,
    Limits,
    Price,
    Response,
    SparkOptions,
    Study,
    differences,
    show_configuration,
)
from sparkcast.study.observation import (
    Dataset,
    Epoch,
    Fingerprint,
    Observation,
    Outcome,
    TaskTotals,
    Utilisation,
)
from sparkcast.study.space import Candidates, Listed, Pool, Space
from sparkcast.study.trial import Plan, Trial

__all__ = [
    "Candidates",
    "Configuration",
    "Dataset",
    "DesignChoice",
    "Epoch",
    "Expression",
    "Factor",
    "Fingerprint",
    "Level",
    "Limits",
    "Listed",
    "Observation",
    "Outcome",
    "Plan",
    "Pool",
    "Price",
    "Response",
    "Space",
    "SparkOptions",
    "Study",
    "TaskTotals",
    "Trial",
    "Utilisation",
    "differences",
    "same_level",
    "show_configuration",
]
