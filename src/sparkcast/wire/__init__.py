"""The one plain form of answers and errors: what `--json` prints, and what the service sends."""
