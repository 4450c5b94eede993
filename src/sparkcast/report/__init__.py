"""Show me: figures as data and Vega-Lite, and one self-contained HTML page."""

from sparkcast.report.document import CheckRun, PlannedRun, ReportContent, build_content
from sparkcast.report.figures import Figure, FigureSection
from sparkcast.report.labels import axis_title
from sparkcast.report.page import render, write_report

__all__ = [
    "CheckRun",
    "Figure",
    "FigureSection",
    "PlannedRun",
    "ReportContent",
    "axis_title",
    "build_content",
    "render",
    "write_report",
]
