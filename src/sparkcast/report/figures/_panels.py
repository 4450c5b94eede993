"""Panels of one figure, put beside one another as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sparkcast.report.figures._figure import Spec

_OF_THE_WHOLE = ("$schema", "config", "datasets")


@dataclass(frozen=True, slots=True)
class Panels:
    """What `alt.concat` gives, without its copies: it makes every layer of every panel a dozen times over.

    Altair does so for selections, which a picture without a script cannot have.
    """

    charts: Sequence[Any]
    columns: int
    width: int  # of each
    height: int
    scales: Mapping[str, str] = field(default_factory=dict)  # channel -> "shared" or "independent"

    def resolve_scale(self, **scales: str) -> "Panels":
        return replace(self, scales=scales)

    def to_dict(self, *, validate: bool = True) -> Spec:
        """Vega-Lite; what its panels brought for the whole picture is on top."""
        parts = [chart.to_dict(validate=validate) for chart in self.charts]
        datasets = {name: rows for part in parts for name, rows in part.get("datasets", {}).items()}
        inner = [{name: value for name, value in part.items() if name not in _OF_THE_WHOLE} for part in parts]
        spec: Spec = {
            "$schema": parts[0]["$schema"],
            "columns": self.columns,
            "concat": [{**part, "width": self.width, "height": self.height} for part in inner],
        }
        spec |= {"datasets": datasets} if datasets else {}
        return spec | ({"resolve": {"scale": dict(self.scales)}} if self.scales else {})
