"""Settings that mean the same everywhere, by the names people give them."""

from collections.abc import Sequence

MACHINES = tuple("machines instances instance_count executors workers nodes n_gpus gpus".split())
CORES = ("cores",)  # of each machine
SIZES = tuple("sampling_rate size data_size input_size data_size_mb rows records samples lines observations".split())
BATCH, EPOCHS, JOBS = ("batch_size", "batch"), ("epochs", "iterations"), ("jobs", "njobs")


def first_of(names: Sequence[str], present: Sequence[str]) -> str | None:
    """The first of these names that is present: several of them are names of one thing.

    >>> first_of(MACHINES, ["cores", "executors"])
    'executors'
    """
    return next((name for name in names if name in present), None)
