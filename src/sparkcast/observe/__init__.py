"""From what a run left behind to an Observation: numbers in base units, with where they came from."""
