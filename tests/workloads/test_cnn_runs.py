"""Inference on the embedded cluster, with real TensorFlow, a damaged image, and partitions that do not fit."""

import json
import sys
from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.study import Outcome
from sparkcast.workloads._images import generate_images
from tests_support import Sparkcast

pytestmark = pytest.mark.slow

# 2,000 images of 96 x 96 are 211 MiB for the network, on top of about 530 for its replica.
STUDY = """\
study: s
workload: cnn-inference
settings:
  network: mobilenet-v2
  image_size: 96
  memory: [704m, 1g]
  partition_size: [50, 2000]
  data_path: {images}
limits: {{trial: 5m}}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_the_least_memory_of_each_partition_size_is_found_and_a_damaged_image_stops_nothing(
    sparkcast: Sparkcast, tmp_path: Path, no_orphans: None
) -> None:
    images = generate_images(tmp_path, count=2000, side=32)
    images.paths()[7].write_bytes(b"no image")
    (tmp_path / "s.yaml").write_text(STUDY.format(images=images.folder))
    answer = sparkcast("tune", "s.yaml", "--searcher", "least-memory", "--json")
    assert answer.returncode == 0, answer.stderr
    result = json.loads(answer.stdout)
    assert [row[:2] for row in result["findings"]["rows"]] == [[50, "704m"], [2000, "1g"]], answer.stderr
    assert (result["runs"], result["failed"]) == (3, 1)
    assert "1 of 2000 images are unreadable and were skipped" in answer.stderr
    store = api.load_data(tmp_path / "s.yaml").dataset.observations
    failed = [run for run in store if run.outcome is not Outcome.OK]
    assert [(run.outcome, run.configuration["partition_size"]) for run in failed] == [(Outcome.OOM, 2000)]
    assert "MemoryError: Unable to allocate" in failed[0].cause.splitlines()[0]
    for run in store:
        if run.outcome is Outcome.OK:
            assert run.responses["unreadable"] == 1
            assert run.responses["throughput"] == pytest.approx(1999 / run.responses["time_s"])
            assert run.responses["startup_s"] > 0
