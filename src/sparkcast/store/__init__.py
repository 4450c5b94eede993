"""Where observations are kept: SQLite beside the study by default, PostgreSQL by URL."""

from sparkcast.store.place import ResultsPlace, results_place
from sparkcast.store.rows import READINGS
from sparkcast.store.store import SEEN_EVERY_S, STORE_FILES, Store, open_store, results_folder

__all__ = [
    "READINGS",
    "SEEN_EVERY_S",
    "STORE_FILES",
    "ResultsPlace",
    "Store",
    "open_store",
    "results_folder",
    "results_place",
]
