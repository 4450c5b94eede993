"""Recurring jobs of a store, as the pages list them."""

from sparkcast.serve.state import ServiceState


def has_jobs(state: ServiceState) -> bool:
    """Whether there is anything to list."""
    return False
