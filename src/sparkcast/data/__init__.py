"""Where data come in: study files with their results, tables, stores. Names get their meaning here, once."""

from sparkcast.data.table import read_csv, read_table, write_table

__all__ = ["read_csv", "read_table", "write_table"]
