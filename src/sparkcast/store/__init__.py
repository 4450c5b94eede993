"""Where observations are kept: SQLite beside the study by default, PostgreSQL by URL."""

from sparkcast.store.store import Store, open_store, results_folder

__all__ = ["Store", "open_store", "results_folder"]
