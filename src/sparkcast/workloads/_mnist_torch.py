"""Training with PyTorch: one process per core of each executor, gradients averaged by DistributedDataParallel."""

import json
import secrets
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from sparkcast.errors import RunError
from sparkcast.workloads import Job
from sparkcast.workloads._mnist_data import DEVIATION, MEAN, SIDE, Dataset, Recipe


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
    with _listening(context, _receiver(job)) as line:
        distributor.run(_train_one, recipe, dataset, line)


def _receiver(job: Job) -> Callable[[dict[str, Any]], None]:
    def receive(message: dict[str, Any]) -> None:
        kind = message.pop("kind")
        if kind == "started":
            job.started()
        elif kind == "epoch":
            job.epoch(**message)
        else:
            job.result(**message)

    return receive


@dataclass(frozen=True, slots=True)
class _Line:
    """Where the driver listens to the first training process; the token keeps strangers out."""

    host: str
    port: int
    token: str


@contextmanager
def _listening(context: Any, receive: Callable[[dict[str, Any]], None]) -> Iterator[_Line]:
    """Receive JSON lines from the cluster while training runs: TorchDistributor itself answers only at the end."""
    token = secrets.token_hex(16)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if self.rfile.readline().decode().strip() == token:
                for line in self.rfile:
                    receive(json.loads(line))

    conf = context.getConf()
    host = conf.get("spark.driver.host", "127.0.0.1")
    with socketserver.ThreadingTCPServer((conf.get("spark.driver.bindAddress", host), 0), Handler) as server:
        server.daemon_threads = False  # closing the server then waits until everything sent has been received
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        try:
            yield _Line(host, server.server_address[1], token)
        finally:
            server.shutdown()


def _train_one(recipe: Recipe, dataset: Dataset, line: _Line) -> None:
    """One of the `recipe.processes` equal processes of the training. Runs where Spark put it."""
    import socket
    import time

    import torch
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DistributedSampler

    torch.set_num_threads(1)
    torch.manual_seed(recipe.seed)
    distributed.init_process_group("gloo")
    is_first = distributed.get_rank() == 0
    pixels, labels = _tensors(dataset.training)
    held_out_pixels, held_out_labels = _tensors(dataset.held_out)
    model = DistributedDataParallel(_model(recipe.network))
    optimizer = torch.optim.SGD(model.parameters(), lr=recipe.learning_rate)
    sampler = DistributedSampler(range(len(labels)), shuffle=True, seed=recipe.seed)
    distributed.barrier()

    driver = socket.create_connection((line.host, line.port), timeout=60) if is_first else None

    def tell(kind: str, **fields: float) -> None:
        if driver:
            driver.sendall(json.dumps({"kind": kind, **fields}).encode() + b"\n")

    if driver:
        driver.sendall(line.token.encode() + b"\n")
    tell("started")
    start = time.perf_counter()
    training_s, last = 0.0, {}
    for number in range(1, recipe.epochs + 1):
        epoch_start = time.perf_counter()
        sampler.set_epoch(number)
        loss_sum, n_batches = torch.zeros(()), 0
        for chosen in torch.tensor(list(sampler)).split(recipe.batch_size // recipe.processes):
            optimizer.zero_grad()
            loss = torch.nn.functional.nll_loss(model(pixels[chosen]), labels[chosen])
            loss.backward()
            optimizer.step()
            loss_sum, n_batches = loss_sum + loss.detach(), n_batches + 1
        distributed.all_reduce(loss_sum)
        epoch_s = time.perf_counter() - epoch_start
        training_s += epoch_s
        if is_first:
            with torch.no_grad():
                guesses = model.module(held_out_pixels).argmax(dim=1)
            accuracy = (guesses == held_out_labels).float().mean().item()
            last = {"accuracy": accuracy, "loss": loss_sum.item() / n_batches / recipe.processes}
            time_s = time.perf_counter() - start
            tell("epoch", number=number, time_s=time_s, throughput=len(labels) / epoch_s, **last)
    distributed.barrier()
    time_s = time.perf_counter() - start
    tell("result", time_s=time_s, throughput=len(labels) * recipe.epochs / training_s, **last)
    if driver:
        driver.close()
    distributed.destroy_process_group()


def _tensors(images: Any) -> tuple[Any, Any]:
    import torch

    pixels = torch.from_numpy(images.pixels.copy()).float().div_(255).sub_(MEAN).div_(DEVIATION)
    return pixels, torch.from_numpy(images.labels.astype("int64"))


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
