"""Where data come in: study files with their results, tables, stores. Names get their meaning here, once."""
