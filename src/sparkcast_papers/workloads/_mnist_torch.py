"""Training with PyTorch: one process per core of each executor, gradients averaged by DistributedDataParallel.

The processes are the Python workers of one barrier stage: Spark starts all of them or none, and no process is started
for the training alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sparkcast.arrays import Array
from sparkcast.errors import RunError
from sparkcast.workloads import Job
from sparkcast_papers.workloads._mnist_data import DEVIATION, MEAN, SIDE, Dataset
from sparkcast_papers.workloads._mnist_recipe import (
    ADAM_BETAS,
    ADAM_EPSILON,
    RECURRENT_UNITS,
    RMSPROP_DECAY,
    RMSPROP_EPSILON,
    Recipe,
    is_enough,
)
from sparkcast_papers.workloads._training_reports import Address, speaking, train_together

if TYPE_CHECKING:
    from contextlib import ExitStack

_SILENCE_S = 300.0  # after which a process that says nothing is given up
_VALIDATED_AT_ONCE = 1000  # images


def train(job: Job, dataset: Dataset, recipe: Recipe) -> None:
    if find_spec("torch") is None:
        raise RunError(
            "framework 'torch' needs PyTorch, which is not installed",
            hint="pip install 'sparkcast[torch]', or set framework: bigdl",
        )
    # Plain values: a dataclass does not survive being pickled to a Python that cannot import its module.
    arrays = [array for part in (dataset.training, dataset.held_out) for array in (part.pixels, part.labels)]
    plain = asdict(recipe)
    is_local = job.spark_context().master.split("[")[0] == "local"
    with TemporaryDirectory() as folder:
        meeting_file = f"{folder}/processes" if is_local else ""
        train_together(job, recipe.processes, lambda driver: _train_one(driver, meeting_file, arrays, plain))


def _train_one(driver: Address, meeting_file: str, arrays: Sequence[Array], recipe: dict[str, Any]) -> Iterator[None]:
    """One of the equal processes of the training, a task of the barrier stage; it reports to the driver if it fails."""
    import traceback
    from contextlib import ExitStack

    with ExitStack() as group:
        try:
            _train_share(driver, arrays, recipe, *_join(group, meeting_file))
        except Exception:
            # Before the group is left: the others then fail too, and their errors come later.
            with speaking(driver) as tell:
                tell(kind="failed", cause=traceback.format_exc())
            raise
    return iter(())


def _join(group: "ExitStack", meeting_file: str) -> tuple[int, int]:
    """Make this task a member of the process group of its stage; its rank, and how many there are.

    The Python worker goes on to other tasks, so the group is left again whatever happens.
    """
    from datetime import timedelta

    from pyspark import BarrierTaskContext
    from torch import distributed

    stage = BarrierTaskContext.get()
    rank, n_processes = stage.partitionId(), len(stage.getTaskInfos())
    store = distributed.FileStore(meeting_file, n_processes) if meeting_file else _meet(stage)
    timeout = timedelta(seconds=_SILENCE_S)
    distributed.init_process_group("gloo", store=store, rank=rank, world_size=n_processes, timeout=timeout)
    group.callback(distributed.destroy_process_group)
    return rank, n_processes


def _meet(stage: Any) -> Any:
    """Where the processes find each other: a port of the first one.

    Not in local mode: what tasks say to each other there leaves a thread behind that keeps the driver's JVM alive.
    """
    from torch import distributed

    host = stage.getTaskInfos()[0].address.rpartition(":")[0]
    is_first = stage.partitionId() == 0
    own = distributed.TCPStore(host, 0, is_master=True, wait_for_workers=False) if is_first else None
    port = int(stage.allGather(str(own.port) if own else "")[0])
    return own or distributed.TCPStore(host, port, is_master=False)


def _train_share(driver: Address, arrays: Sequence[Array], recipe: dict[str, Any], rank: int, n_processes: int) -> None:
    import time
    from contextlib import ExitStack

    import torch
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DistributedSampler

    torch.set_num_threads(1)
    torch.manual_seed(recipe["seed"])
    is_first = rank == 0
    if is_first:
        with speaking(driver) as tell_early:
            tell_early(kind="loading")
    pixels, labels = _tensors(*arrays[:2])
    held_out_pixels, held_out_labels = _tensors(*arrays[2:])
    model = DistributedDataParallel(_model(recipe["network"]))
    optimizer = _optimizer(recipe, model)
    sampler = DistributedSampler(range(len(labels)), shuffle=True, seed=recipe["seed"])
    spent = {"compute_s": 0.0, "sync_s": 0.0}
    ready_at = [0.0]  # when this process had its gradients, and began to wait for those of others
    model.register_comm_hook(None, _noting(ready_at))

    def train_epoch(number: int, batch_size: int, learning_rate: float) -> float:
        """One pass over this process's share; the mean loss of all processes."""
        optimizer.param_groups[0]["lr"] = learning_rate
        sampler.set_epoch(number)
        losses = []
        for chosen in torch.tensor(list(sampler)).split(batch_size // n_processes):
            step_start = time.perf_counter()
            optimizer.zero_grad()
            loss = torch.nn.functional.nll_loss(model(pixels[chosen]), labels[chosen])
            loss.backward()
            waited_s = time.perf_counter() - ready_at[0]
            optimizer.step()
            spent["sync_s"] += waited_s
            spent["compute_s"] += time.perf_counter() - step_start - waited_s
            losses.append(loss.detach())
        mean = torch.stack(losses).mean() / n_processes
        reduce_start = time.perf_counter()
        distributed.all_reduce(mean)
        spent["sync_s"] += time.perf_counter() - reduce_start
        return float(mean)

    def accuracy() -> float:
        validation_start = time.perf_counter()
        with torch.no_grad():
            guesses = [model.module(part).argmax(dim=1) for part in held_out_pixels.split(_VALIDATED_AT_ONCE)]
        spent["compute_s"] += time.perf_counter() - validation_start
        return float((torch.cat(guesses) == held_out_labels).float().mean())

    def is_over(accuracies: list[float]) -> bool:
        """What the first process decides: only it validates."""
        if not recipe["patience"] and not recipe["target_accuracy"]:
            return False
        enough = is_first and is_enough(accuracies, recipe["patience"], recipe["target_accuracy"])
        told = torch.tensor(float(enough))
        distributed.broadcast(told, 0)
        return bool(told)

    with ExitStack() as stack:
        tell: Callable[..., None] = stack.enter_context(speaking(driver)) if is_first else lambda **message: None
        distributed.barrier()
        tell(kind="started")
        start, training_s, last, accuracies, number = time.perf_counter(), 0.0, {}, list[float](), 0
        for number, epoch in enumerate(recipe["stages"], start=1):
            epoch_start = time.perf_counter()
            loss = train_epoch(number, **epoch)
            epoch_s = time.perf_counter() - epoch_start
            training_s += epoch_s
            if is_first:
                last = {"accuracy": accuracy(), "loss": loss}
                accuracies.append(last["accuracy"])
                time_s = time.perf_counter() - start
                tell(kind="epoch", number=number, time_s=time_s, throughput=len(labels) / epoch_s, **last)
            if is_over(accuracies):
                break
        time_s = time.perf_counter() - start
        distributed.barrier()  # nobody leaves while others still work
        tell(
            kind="result",
            work_s=time_s,
            throughput=len(labels) * number / training_s,
            epochs_trained=number,
            **spent,
            **last,
        )


def _noting(ready_at: list[float]) -> Any:
    """Averages gradients as DistributedDataParallel does by itself, and notes when it was last asked to."""
    import time

    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

    def now(bucket: object) -> object:
        ready_at[0] = time.perf_counter()
        return bucket

    return lambda state, bucket: allreduce_hook(state, now(bucket))


def _optimizer(recipe: dict[str, Any], model: Any) -> Any:
    """With the same numbers as BigDL's."""
    from torch import optim

    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    rate, momentum, name = recipe["stages"][0]["learning_rate"], recipe["momentum"], recipe["optimizer"]
    if name == "adam":
        return optim.Adam(parameters, lr=rate, betas=ADAM_BETAS, eps=ADAM_EPSILON)
    if name == "adagrad":
        return optim.Adagrad(parameters, lr=rate, eps=1e-10)
    if name == "rmsprop":
        return optim.RMSprop(parameters, lr=rate, alpha=RMSPROP_DECAY, eps=RMSPROP_EPSILON)
    return optim.SGD(parameters, lr=rate, momentum=momentum, nesterov=name == "nesterov")


def _tensors(pixels: Array, labels: Array) -> tuple[Any, Any]:
    import torch

    scaled = torch.from_numpy(pixels.astype("float32")).div_(255).sub_(MEAN).div_(DEVIATION)
    return scaled, torch.from_numpy(labels.astype("int64"))


def _model(network: str) -> Any:
    """The same layers as BigDL's LeNet-5, its tutorial's bi-directional LSTM, and the papers' shallow network."""
    from torch import nn

    if network == "lenet5":
        return nn.Sequential(
            nn.Unflatten(1, (1, SIDE, SIDE)),
            nn.Conv2d(1, 6, 5),
            nn.Tanh(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 12, 5),
            nn.Tanh(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(12 * 4 * 4, 100),
            nn.Tanh(),
            nn.Linear(100, 10),
            nn.LogSoftmax(dim=1),
        )
    if network == "bi-rnn":
        return _bi_rnn()
    return nn.Sequential(nn.Linear(SIDE * SIDE, 128), nn.ReLU(), nn.Linear(128, 10), nn.LogSoftmax(dim=1))


def _bi_rnn() -> Any:
    """Rows of the image are time steps; the last step's output of both directions is classified."""
    from torch import nn

    lstm = nn.LSTM(SIDE, RECURRENT_UNITS, batch_first=True, bidirectional=True)
    lstm.register_forward_hook(lambda module, inputs, output: output[0][:, -1])
    for name, bias in lstm.named_parameters():
        if name.startswith("bias_hh"):  # the second of two biases that are added: BigDL has one
            nn.init.zeros_(bias).requires_grad_(False)
    return nn.Sequential(nn.Unflatten(1, (SIDE, SIDE)), lstm, nn.Linear(2 * RECURRENT_UNITS, 10), nn.LogSoftmax(dim=1))
