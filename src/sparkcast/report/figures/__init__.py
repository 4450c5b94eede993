"""Figures as data and Vega-Lite. Computing rows and drawing them are different functions; no figure, no `Figure`."""

from sparkcast.report.figures._figure import Figure, Section
from sparkcast.report.figures.choice import candidates
from sparkcast.report.figures.effects import main_effects, variation
from sparkcast.report.figures.runs import learning_curves, results, utilisation
from sparkcast.report.figures.scaling import scaling_curve
from sparkcast.report.figures.trust import predicted_vs_actual

__all__ = [
    "Figure",
    "Section",
    "candidates",
    "learning_curves",
    "main_effects",
    "predicted_vs_actual",
    "results",
    "scaling_curve",
    "utilisation",
    "variation",
]
