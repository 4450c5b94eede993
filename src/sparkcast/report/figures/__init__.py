"""Figures as data and Vega-Lite. Computing rows and drawing them are different functions; no figure, no `Figure`."""

from sparkcast.report.figures._figure import Figure, FigureSection
from sparkcast.report.figures._write import write_figures
from sparkcast.report.figures.analysis import analysis_figures
from sparkcast.report.figures.applications import (
    application_figures,
    attribution_bar,
    slot_usage,
    stage_timeline,
    task_gantt,
)
from sparkcast.report.figures.choice import candidates
from sparkcast.report.figures.designs import alias_map, power_curve
from sparkcast.report.figures.effects import main_effects, variation
from sparkcast.report.figures.errors import prediction_errors
from sparkcast.report.figures.front import pareto_front
from sparkcast.report.figures.interactions import interaction_grid
from sparkcast.report.figures.learning import error_curve
from sparkcast.report.figures.machines import machine_curves
from sparkcast.report.figures.measured import run_figures
from sparkcast.report.figures.queues import queue_figures
from sparkcast.report.figures.recommendation import recommendation_figures
from sparkcast.report.figures.regressions import simple_regressions
from sparkcast.report.figures.reliability import reliability
from sparkcast.report.figures.replays import replay_curves, replay_figures, replay_gantt
from sparkcast.report.figures.residuals import residual_panels
from sparkcast.report.figures.runs import learning_curves, parts, results, utilization
from sparkcast.report.figures.scaling import scaling_curve
from sparkcast.report.figures.significance import half_normal, pareto
from sparkcast.report.figures.streams import stream_figures
from sparkcast.report.figures.trust import predicted_vs_actual
from sparkcast.report.figures.validation import validation_figures

__all__ = [
    "Figure",
    "FigureSection",
    "alias_map",
    "analysis_figures",
    "application_figures",
    "attribution_bar",
    "candidates",
    "error_curve",
    "half_normal",
    "interaction_grid",
    "learning_curves",
    "machine_curves",
    "main_effects",
    "pareto",
    "pareto_front",
    "parts",
    "power_curve",
    "predicted_vs_actual",
    "prediction_errors",
    "queue_figures",
    "recommendation_figures",
    "reliability",
    "replay_curves",
    "replay_figures",
    "replay_gantt",
    "residual_panels",
    "results",
    "run_figures",
    "scaling_curve",
    "simple_regressions",
    "slot_usage",
    "stage_timeline",
    "stream_figures",
    "task_gantt",
    "utilization",
    "validation_figures",
    "variation",
    "write_figures",
]
