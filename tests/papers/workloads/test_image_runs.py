"""The image workloads on the embedded cluster."""

from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.study import Observation
from sparkcast_papers.workloads._images import ImageSet, generate_images
from sparkcast_papers.workloads._shards import read_manifest
from sparkcast_papers.workloads._tfrecord import decode_image_example, read_records
from tests_support import Sparkcast

pytestmark = pytest.mark.slow


@pytest.fixture
def images(tmp_path: Path) -> ImageSet:
    """Pictures, one of which is none, and a file of another kind."""
    images = generate_images(tmp_path, count=40, side=48)
    images.paths()[3].write_text("no picture")
    (images.folder / "class-0" / "notes.txt").write_text("passed over")
    return images


def run(sparkcast: Sparkcast, folder: Path, text: str) -> list[Observation]:
    (folder / "s.yaml").write_text(f"study: s\n{text}limits: {{trial: 9m}}\n")
    answer = sparkcast("run", "s.yaml")
    assert answer.returncode == 0, answer.stderr
    runs = list(api.load_data(folder / "s.yaml").dataset.observations)
    assert all(run.ok for run in runs), [run.cause for run in runs]
    assert all(run.tasks is not None and run.tasks.executors == run.configuration["executors"] for run in runs)
    return runs


def test_both_formats_are_read_with_and_without_a_cache_and_a_corrupt_image_is_counted(
    sparkcast: Sparkcast, tmp_path: Path, images: ImageSet, no_orphans: None
) -> None:
    runs = run(
        sparkcast,
        tmp_path,
        f"workload: image-read\nsettings:\n  data_path: {images.folder}\n  format: [jpeg, tfrecord]\n"
        "  cache: [false, true]\n  batch_size: 4\n  batches: 8\n  executors: 2\n"
        "rules: [(format == 'jpeg') == (cache == 'false')]\n",
    )
    assert {(run.configuration["format"], run.configuration["cache"]) for run in runs} == {
        ("jpeg", "false"),
        ("tfrecord", "true"),
    }
    for measured in runs:  # each has compared the pixels it read with those of the files
        responses = measured.responses
        assert responses["corrupt"] == 1
        assert responses["throughput"] == pytest.approx(31 / responses["work_s"])
        assert 1 <= responses["imbalance"] <= 2
        assert [epoch.number for epoch in measured.curve] == [1, 2, 3]
        assert measured.curve[0].values["throughput"] == pytest.approx(responses["first_throughput"])
        log = (tmp_path / "s.results" / measured.artifacts / "driver.log").read_text()
        assert f"{images.files[3]}: cannot identify image file" in log


def test_shards_have_every_image_once_and_a_corrupt_one_is_named(
    sparkcast: Sparkcast, tmp_path: Path, images: ImageSet, no_orphans: None
) -> None:
    [measured] = run(
        sparkcast,
        tmp_path,
        f"workload: tfrecord-write\nsettings:\n  data_path: {images.folder}\n  output_path: {tmp_path / 'out'}\n"
        "  partitions: 3\n  resize_to: 24\n  executors: 2\n",
    )
    [folder] = (tmp_path / "out").iterdir()
    manifest = read_manifest(folder)
    assert [skipped.file for skipped in manifest.skipped] == [images.files[3]]
    assert len(manifest.shards) == 3
    records = [record for shard in manifest.shards for record in read_records(folder / shard.name)]
    files = [decode_image_example(record)[2] for record in records]
    assert files == [file for file in images.files if file != images.files[3]]
    assert measured.responses["corrupt"] == 1
    assert measured.responses["bytes_written"] == sum(path.stat().st_size for path in folder.glob("*.tfrecord"))
    assert measured.responses["throughput"] == pytest.approx(39 / measured.responses["work_s"])


def test_a_network_learns_on_mirrored_cores_and_on_two_executors(
    sparkcast: Sparkcast, tmp_path: Path, no_orphans: None
) -> None:
    runs = run(
        sparkcast,
        tmp_path,
        "workload: flowers-training\nsettings: {strategy: [mirrored, multi-worker-mirrored], executors: [1, 2],\n"
        "  cores: [1, 2], epochs: 8}\n"
        "rules: [executors * cores == 2, (strategy == 'mirrored') == (executors == 1)]\n",
    )
    assert len(runs) == 2
    for measured in runs:
        assert [epoch.number for epoch in measured.curve] == list(range(1, 9))
        first, last = measured.curve[0].values, measured.curve[-1].values
        assert last["loss"] < first["loss"]
        assert max(epoch.values["accuracy"] for epoch in measured.curve) > 0.4  # five classes: chance is 0.2
        assert {name: measured.responses[name] for name in last if name != "throughput"} == pytest.approx(
            {name: value for name, value in last.items() if name != "throughput"}
        )
        assert measured.responses["throughput"] > 0
