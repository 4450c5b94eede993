"""Examples in docstrings run in a folder with the files they speak of: `runs.csv`, `study.yaml` and `log.zstd`."""

import random
import shutil
from pathlib import Path

import pytest

from sparkcast import api

_STUDY = """\
study: pi-by-size
workload: pi
settings:
  samples: [100000, 200000, 400000, 800000]
  partitions: [1, 2]
design: {kind: full, seed: 1}
"""


@pytest.fixture(scope="session")
def folder_of_examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    (folder / "runs.csv").write_text(_runs())
    (folder / "study.yaml").write_text(_STUDY)
    shutil.copy(Path(__file__).parent / "tests" / "data" / "eventlog-3.5-pi.zstd", folder / "log.zstd")
    return folder


@pytest.fixture(autouse=True)
def _in_folder_of_examples(request: pytest.FixtureRequest) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        folder = request.getfixturevalue("folder_of_examples")
        request.getfixturevalue("monkeypatch").chdir(folder)
        if request.node.name.startswith("sparkcast.api."):  # whose verbs speak of each other
            names = {name: getattr(api, name) for name in api.__all__}
            request.getfixturevalue("doctest_namespace").update(names)


def _runs() -> str:
    noise, lines = random.Random(1), ["executors,batch_size,time_s,accuracy"]
    for executors in (1, 2):
        for batch_size in (64, 128, 256, 512):
            for _ in range(2):
                time_s = (4 + 24 / executors) * (1 + 64 / batch_size) * noise.uniform(0.97, 1.03)
                accuracy = 0.96 - batch_size / 5000 + noise.uniform(-0.005, 0.005)
                lines.append(f"{executors},{batch_size},{time_s:.3f},{accuracy:.4f}")
    return "\n".join(lines) + "\n"
