"""The words of sparkcast: what is asked (Study), planned (Trial, Plan) and seen (Observation, Dataset)."""

from sparkcast.study.arrivals import Arrivals, MixPart
from sparkcast.study.configuration import Configuration, Level, natural_order, same_level
from sparkcast.study.expression import Expression
from sparkcast.study.model import DesignChoice, Factor, Limits, Price, SparkOptions, Study, differences
from sparkcast.study.observation import (
    Dataset,
    Epoch,
    Fingerprint,
    JobRun,
    LogOrigin,
    Observation,
    Outcome,
    Sharing,
    TaskTotals,
    Utilization,
)
from sparkcast.study.response import Kind, Response
from sparkcast.study.setting import Role, Setting
from sparkcast.study.space import Candidates, Listed, Pool, Space
from sparkcast.study.trial import Plan, Trial
from sparkcast.study.vocabulary import Vocabulary

__all__ = [
    "Arrivals",
    "Candidates",
    "Configuration",
    "Dataset",
    "DesignChoice",
    "Epoch",
    "Expression",
    "Factor",
    "Fingerprint",
    "JobRun",
    "Kind",
    "Level",
    "Limits",
    "Listed",
    "LogOrigin",
    "MixPart",
    "Observation",
    "Outcome",
    "Plan",
    "Pool",
    "Price",
    "Response",
    "Role",
    "Setting",
    "Sharing",
    "Space",
    "SparkOptions",
    "Study",
    "TaskTotals",
    "Trial",
    "Utilization",
    "Vocabulary",
    "differences",
    "natural_order",
    "same_level",
]
