"""The benchmark of small studies, as somebody extends it who has other data or another model."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_a_data_set_and_a_model_are_one_file_each(tmp_path: Path) -> None:
    copy = tmp_path / "benchmarks"
    shutil.copytree(ROOT / "benchmarks", copy, ignore=shutil.ignore_patterns("__pycache__"))
    page = (ROOT / "docs" / "background" / "benchmarks.md").read_text()
    for block in re.findall(r"```python\n(.+?)```", page, re.DOTALL):
        place = re.match(r"# benchmarks/(\S+)", block)
        assert place is not None
        (copy / place.group(1)).write_text(block)
    folder = tmp_path / "data" / "acme"
    folder.mkdir(parents=True)
    cells = [(n, codec, gb) for n in (1, 2, 4, 8) for codec in ("lz4", "zstd") for gb in (1, 5)]
    rows = [f"a,{n},{codec},{gb},{10 + 60 * gb / n + (3 if codec == 'zstd' else 0)}" for n, codec, gb in cells]
    (folder / "runs.csv").write_text("\n".join(["job,nodes,codec,data_gb,time_s", *rows]))
    found = tmp_path / "rows.json"
    told = ("--only", "acme", "--n", "8", "--models", "auto,nearest-run,courier-forest", "--json", str(found))
    few = ("--draws", "1", "--optimal-draws", "0", "--beyond-draws", "0", "--workers", "1")
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    answer = subprocess.run(
        [sys.executable, copy / "small_studies.py", "--data", tmp_path / "data", *told, *few],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert "nearest-run" in answer.stdout
    models = {row["model"]: row["measures"] for row in json.loads(found.read_text())}
    assert models.keys() == {"auto", "nearest-run", "courier-forest"}
    assert models["auto"]["mape"] < models["nearest-run"]["mape"]
    assert models["courier-forest"]["crps"] > 0
