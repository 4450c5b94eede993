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
from sparkcast.study.record import AppRecord, ExecutorsSince, MemoryRecord, QueryRecord, SourceRecord, StageRecord
from sparkcast.study.response import Kind, Response
from sparkcast.study.setting import Role, Setting
from sparkcast.study.space import Candidates, Listed, Pool, Space
from sparkcast.study.speed import ClusterSpeed, NodeSpeed
from sparkcast.study.trial import Plan, Trial
from sparkcast.study.vocabulary import Vocabulary

__all__ = [
    "AppRecord",
    "Arrivals",
    "Candidates",
    "ClusterSpeed",
    "Configuration",
    "Dataset",
    "DesignChoice",
    "Epoch",
    "ExecutorsSince",
    "Expression",
    "Factor",
    "Fingerprint",
    "JobRun",
    "Kind",
    "Level",
    "Limits",
    "Listed",
    "LogOrigin",
    "MemoryRecord",
    "MixPart",
    "NodeSpeed",
    "Observation",
    "Outcome",
    "Plan",
    "Pool",
    "Price",
    "QueryRecord",
    "Response",
    "Role",
    "Setting",
    "Sharing",
    "SourceRecord",
    "Space",
    "SparkOptions",
    "StageRecord",
    "Study",
    "TaskTotals",
    "Trial",
    "Utilization",
    "Vocabulary",
    "differences",
    "natural_order",
    "same_level",
]
