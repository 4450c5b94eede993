"""Show me: figures as data and Vega-Lite, and one self-contained HTML page."""

from sparkcast.report.document import Check, PlannedRun, ReportContent, build_content
from sparkcast.report.figures import Figure, Section
from sparkcast.report.labels import axis_title
from sparkcast.report.page import render, write_report

__all__ = [
    "Check",
    "Figure",
    "PlannedRun",
    "ReportContent",
    "Section",
    "axis_title",
    "build_content",
    "render",
    "write_report",
]
