"""Training with PyTorch: one process per core of each executor, gradients averaged by DistributedDataParallel."""

import json
import secrets
import socketserver
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from sparkcast.arrays import Array
from sparkcast.errors import RunError
from sparkcast.workloads import Job
from sparkcast.workloads._mnist_data import DEVIATION, MEAN, SIDE, Dataset, Recipe

_LEAVE_S = 20.0  # for the processes to end once the result is there

Address = tuple[str, int, str]  # host, port, and a token that keeps strangers out


def train(job: Job, dataset: Dataset, recipe: Recipe) -> None:
    if find_spec("torch") is None:
        raise RunError(
            "framework 'torch' needs PyTorch, which is not installed",
            hint="pip install 'sparkcast[torch]', or set framework: bigdl",
        )
    from pyspark.ml.torch.distributor import TorchDistributor
    from pyspark.sql import SparkSession

    context = job.spark_context()
    SparkSession(context)  # TorchDistributor takes the active session
    is_local = context.master.split("[")[0] == "local"
    distributor = TorchDistributor(num_processes=recipe.processes, local_mode=is_local, use_gpu=False)
    failures: list[str] = []
    has_result = threading.Event()
    # Plain values: a dataclass does not survive being pickled to a Python that cannot import its module.
    arrays = [array for part in (dataset.training, dataset.held_out) for array in (part.pixels, part.labels)]
    with _listening(context, _receiver(job, failures, has_result)) as driver:
        arguments = (
            driver,
            arrays,
            recipe.network,
            recipe.batch_size // recipe.processes,
            recipe.learning_rate,
            recipe.epochs,
            recipe.seed,
        )
        try:
            _until_told(context, has_result, lambda: distributor.run(_train_one, *arguments))
        except Exception as error:
            if not failures:
                raise
            # TorchDistributor says only that something failed; the process itself said what.
            raise RunError(f"a training process failed: {failures[0]}") from error


def _until_told(context: Any, has_result: threading.Event, run: Callable[[], object]) -> None:
    """Run to the end, or to a little after the result when the processes do not manage to take leave of each other.

    The result comes after a barrier of all processes. When one of them then dies while it is torn down (gloo's threads
    may abort it), the others would wait five minutes for it.
    """
    errors: list[Exception] = []

    def work() -> None:
        try:
            run()
        except Exception as error:
            errors.append(error)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.2)
        if has_result.is_set():
            worker.join(_LEAVE_S)
            if worker.is_alive():
                context.cancelAllJobs()
            return
    if errors and not has_result.is_set():
        raise errors[0]


def _receiver(job: Job, failures: list[str], has_result: threading.Event) -> Callable[[dict[str, Any]], None]:
    def receive(message: dict[str, Any]) -> None:
        kind = message.pop("kind")
        if kind == "started":
            job.started()
        elif kind == "epoch":
            job.epoch(**message)
        elif kind == "result":
            job.result(**message)
            has_result.set()
        else:
            failures.append(message["cause"])

    return receive


@contextmanager
def _listening(context: Any, receive: Callable[[dict[str, Any]], None]) -> Iterator[Address]:
    """Receive JSON lines from the cluster while training runs: TorchDistributor itself answers only at the end."""
    token = secrets.token_hex(16)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if self.rfile.readline().decode(errors="replace").strip() == token:
                for line in self.rfile:
                    receive(json.loads(line))

    conf = context.getConf()
    host = conf.get("spark.driver.host", "127.0.0.1")
    # Closing a threading server waits for its handlers: everything that was sent has then been received.
    with socketserver.ThreadingTCPServer((conf.get("spark.driver.bindAddress", host), 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        try:
            yield host, server.server_address[1], token
        finally:
            server.shutdown()


def _train_one(driver: Address, *arguments: Any) -> None:
    """One of the equal processes of the training. Runs where Spark put it, and reports to the driver if it fails."""
    import traceback

    try:
        _train_share(driver, *arguments)
    except Exception:
        with _speaking(driver) as tell:
            tell(kind="failed", cause=traceback.format_exc())
        raise


@contextmanager
def _speaking(driver: Address) -> Iterator[Callable[..., None]]:
    import socket

    host, port, token = driver
    with socket.create_connection((host, port), timeout=60) as connection:
        connection.sendall(f"{token}\n".encode())
        yield lambda **message: connection.sendall(f"{json.dumps(message)}\n".encode())


def _train_share(
    driver: Address,
    arrays: Sequence[Array],
    network: str,
    batch_size: int,
    learning_rate: float,
    epochs: int,
    seed: int,
) -> None:
    import time
    from contextlib import ExitStack

    import torch
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DistributedSampler

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    distributed.init_process_group("gloo")
    is_first, n_processes = distributed.get_rank() == 0, distributed.get_world_size()
    pixels, labels = _tensors(*arrays[:2])
    held_out_pixels, held_out_labels = _tensors(*arrays[2:])
    model = DistributedDataParallel(_model(network))
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
    sampler = DistributedSampler(range(len(labels)), shuffle=True, seed=seed)

    def train_epoch(number: int) -> float:
        """One pass over this process's share; the mean loss of all processes."""
        sampler.set_epoch(number)
        losses = []
        for chosen in torch.tensor(list(sampler)).split(batch_size):
            optimizer.zero_grad()
            loss = torch.nn.functional.nll_loss(model(pixels[chosen]), labels[chosen])
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        mean = torch.stack(losses).mean() / n_processes
        distributed.all_reduce(mean)
        return float(mean)

    def accuracy() -> float:
        with torch.no_grad():
            return float((model.module(held_out_pixels).argmax(dim=1) == held_out_labels).float().mean())

    with ExitStack() as stack:
        tell: Callable[..., None] = stack.enter_context(_speaking(driver)) if is_first else lambda **message: None
        distributed.barrier()
        tell(kind="started")
        start, training_s, last = time.perf_counter(), 0.0, {}
        for number in range(1, epochs + 1):
            epoch_start = time.perf_counter()
            loss = train_epoch(number)
            epoch_s = time.perf_counter() - epoch_start
            training_s += epoch_s
            if is_first:
                last = {"accuracy": accuracy(), "loss": loss}
                time_s = time.perf_counter() - start
                tell(kind="epoch", number=number, time_s=time_s, throughput=len(labels) / epoch_s, **last)
        time_s = time.perf_counter() - start
        distributed.barrier()  # nobody leaves while others still work
        tell(kind="result", time_s=time_s, throughput=len(labels) * epochs / training_s, **last)
    distributed.destroy_process_group()


def _tensors(pixels: Array, labels: Array) -> tuple[Any, Any]:
    import torch

    scaled = torch.from_numpy(pixels.astype("float32")).div_(255).sub_(MEAN).div_(DEVIATION)
    return scaled, torch.from_numpy(labels.astype("int64"))


def _model(network: str) -> Any:
    """The same layers as BigDL's LeNet-5 and as the papers' shallow network."""
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
    return nn.Sequential(nn.Linear(SIDE * SIDE, 128), nn.ReLU(), nn.Linear(128, 10), nn.LogSoftmax(dim=1))
