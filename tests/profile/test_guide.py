"""The guide tells every threshold and finding there is."""

import re
from dataclasses import asdict
from pathlib import Path

from sparkcast.profile import Thresholds
from sparkcast.study.application import Part

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guides" / "event-logs.md").read_text()


def test_the_guide_has_every_threshold_with_its_value() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", GUIDE, re.MULTILINE))
    assert {name: float(value) for name, value in told.items()} == asdict(Thresholds())


def test_the_guide_explains_every_part() -> None:
    table = GUIDE.split("| part | meaning |")[1].split("\n\n")[0]
    assert [part.value for part in Part if part.value not in table] == []


def test_the_guide_names_every_finding() -> None:
    folder = ROOT / "src" / "sparkcast" / "profile" / "findings"
    source = "".join(file.read_text() for file in folder.glob("*.py"))
    names = set(re.findall(r'^ +"([a-z]+(?:-[a-z]+)*)"(?: if|,$)', source, re.MULTILINE)) | {
        *("failed-tasks", "executor-lost", "out-of-memory", "speculation", "slow-tasks")
    }
    assert "few-tasks" in names
    assert [name for name in sorted(names) if f"`{name}`" not in GUIDE] == []
