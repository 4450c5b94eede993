"""From what a run left behind to an Observation: numbers in base units, with where they came from."""

from sparkcast.observe.run import Observed, RanJob, Run, observe

__all__ = ["Observed", "RanJob", "Run", "observe"]
