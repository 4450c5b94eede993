"""Inference on the embedded cluster, with real TensorFlow, a damaged image, and a partition that does not fit."""

import sys
from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.study import Outcome
from sparkcast_papers.workloads._images import generate_images
from tests_support import Sparkcast

pytestmark = pytest.mark.slow

# A partition of 2,000 images of 96 x 96 is 211 MiB for the network, on top of about 530 for its replica.
STUDY = """\
study: s
workload: cnn-inference
settings:
  network: mobilenet-v2
  image_size: 96
  partition_size: 2000
  sampling_rate: [0.02, 1.0]
  memory: 704m
  data_path: {images}
design: {{seed: 1, replicates: 1}}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_images_are_predicted_damaged_ones_skipped_and_a_partition_that_does_not_fit_is_out_of_memory(
    sparkcast: Sparkcast, tmp_path: Path, no_orphans: None
) -> None:
    images = generate_images(tmp_path, count=2000, side=32)
    for path in images.paths()[::10]:
        path.write_bytes(b"no image")
    (tmp_path / "s.yaml").write_text(STUDY.format(images=images.folder))
    answer = sparkcast("run", "s.yaml")
    assert answer.returncode == 0, answer.stderr
    runs = {run.configuration["sampling_rate"]: run for run in api.load_data(tmp_path / "s.yaml").dataset.observations}
    few, all_of_them = runs[0.02], runs[1]
    assert few.outcome is Outcome.OK, few.cause
    assert 0 < few.responses["unreadable"] < 40
    assert f"{few.responses['unreadable']:g} of 40 images are unreadable and were skipped" in answer.stderr
    assert few.responses["throughput"] == pytest.approx((40 - few.responses["unreadable"]) / few.responses["work_s"])
    assert few.responses["startup_s"] > 0
    assert all_of_them.outcome is Outcome.OOM, all_of_them.cause
    assert "MemoryError: Unable to allocate 211. MiB" in all_of_them.cause.splitlines()[0]
