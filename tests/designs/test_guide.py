"""The guide on designs: its studies can be planned, its own design works."""

import re
from pathlib import Path

import pytest

from sparkcast.designs import DESIGNS, make_plan
from sparkcast.study import DesignChoice, Factor, Study
from sparkcast.study.file import parse_study
from sparkcast.workloads import resolve

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "designs.md").read_text()


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL))
def test_a_study_of_the_guide_can_be_planned(text: str) -> None:
    assert make_plan(resolve(parse_study(text))).trials


def test_the_guide_names_every_design_and_all_its_options() -> None:
    for name in DESIGNS.names():
        assert f"`{name}`" in GUIDE
        for option in getattr(DESIGNS.get(name), "__dataclass_fields__", ()):
            assert f"| `{option}` |" in GUIDE


def test_the_design_of_the_guide_works(monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    DESIGNS.names()
    monkeypatch.setattr(DESIGNS, "_classes", dict(DESIGNS._classes))
    exec(code, {"__name__": __name__})
    factors = (Factor("a", (1, 2)), Factor("b", (1, 2)))
    plan = make_plan(Study("s", "pi", factors, design=DesignChoice("first", options={"runs": 3})))
    assert len(plan.trials) == 3
