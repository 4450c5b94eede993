"""Recurring jobs of a store: which runs belong together, and why.

from sparkcast.history import histories_of
"""

from sparkcast.history.jobs import JobHistory, histories_of, history_of

__all__ = ["JobHistory", "histories_of", "history_of"]
