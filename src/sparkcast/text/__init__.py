"""Results in words: what `print(result)` and the commands show. One file for each kind of result."""

from importlib import import_module

from sparkcast.text._page import Page

__all__ = ["Page", "page_of", "text_of"]

# Where the words for each type are: imported when one is shown.
_WRITERS = {
    "Analysis": ("analysis", "write"),
    "CampaignResult": ("running", "write"),
    "Decision": ("queueing", "write_decision"),
    "Eta": ("gate", "write_eta"),
    "FitResult": ("prediction", "write_fit"),
    "FleetReport": ("fleet", "write"),
    "GateAnswer": ("gate", "write"),
    "Ingested": ("ingest", "write"),
    "Jobs": ("watching", "write_jobs"),
    "MeasuredCluster": ("watching", "write_speed"),
    "LogComparison": ("profile", "write_comparison"),
    "PlanSummary": ("plans", "write"),
    "PredictionAt": ("prediction", "write"),
    "Predictions": ("prediction", "write_many"),
    "Profile": ("profile", "write"),
    "QueueAnswer": ("queueing", "write_queue"),
    "Recommendation": ("recommendation", "write"),
    "Replicated": ("replication", "write"),
    "SubmittedJob": ("submission", "write"),
    "StoreChecked": ("stores", "write_checked"),
    "StoreCopied": ("stores", "write_copied"),
    "StoreMigrated": ("stores", "write_migrated"),
    "StorePruned": ("stores", "write_pruned"),
    "TokenAnswer": ("tokens", "write"),
    "TuneResult": ("tuning", "write"),
    "UnrunAnswer": ("tuning", "write_unrun"),
    "Validation": ("validation", "write"),
    "Watched": ("watching", "write"),
    "WhatIf": ("whatif", "write"),
}


def page_of(result: object, *, details: bool = False) -> Page:
    """What is told about a result."""
    page = Page(details=details)
    module, name = _WRITERS[type(result).__name__]
    getattr(import_module(f"{__name__}.{module}"), name)(page, result)
    return page


def text_of(result: object, details: bool, width: int) -> str:
    """The same as one text."""
    return page_of(result, details=details).text(width)
