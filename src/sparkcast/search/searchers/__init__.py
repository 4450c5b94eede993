"""Searchers, one file each. What one must be is in `sparkcast.search.base`."""
