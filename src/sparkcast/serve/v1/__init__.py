"""Version 1 of the HTTP API, one file for each group of questions."""
