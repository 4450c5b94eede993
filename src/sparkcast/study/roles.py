"""Settings that mean the same everywhere, by the names people give them."""

from collections.abc import Sequence

MACHINES = tuple(
    "machines instances instance_count executors workers nodes n_gpus gpus num_executors n_executors num_workers "
    "n_workers n_nodes servers".split()
)
CORES = ("cores", "executor_cores", "cores_per_executor")  # of each machine
MACHINE_TYPES = ("machine_type", "vm_type", "instance_type", "node_type", "machine")
MEMORY = tuple(  # of each machine
    "memory executor_memory memory_per_executor machine_memory memory_per_machine "
    "memory_gb memory_gib memory_mb".split()
)
SIZES = tuple(
    "sampling_rate size data_size input_size data_size_mb rows records samples lines observations input_fraction "
    "fraction size_mb size_gb data_size_gb input_size_mb input_size_gb dataset_size n_rows n_samples images".split()
)
BATCH, JOBS = ("batch_size", "batch"), ("jobs", "njobs")
ITERATIONS = ("iterations", "steps")  # of one batch each where there is a batch size, else passes over the data
EPOCHS = ("epochs", "passes", *ITERATIONS)


def first_of(names: Sequence[str], present: Sequence[str]) -> str | None:
    """The first of these names that is present: several of them are names of one thing.

    >>> first_of(MACHINES, ["cores", "executors"])
    'executors'
    """
    return next((name for name in names if name in present), None)
