import subprocess
import sys
from pathlib import Path

import pytest

from sparkcast.designs import DESIGNS
from sparkcast.engines import ENGINES
from sparkcast.errors import UnknownNameError
from sparkcast.models import MODELS
from sparkcast.registry import Registry
from sparkcast.search.base import SEARCHERS
from sparkcast.validate import PROTOCOLS
from sparkcast.workloads import WORKLOADS

REGISTRIES = {r.kind: r for r in (DESIGNS, ENGINES, MODELS, SEARCHERS, PROTOCOLS, WORKLOADS)}


@pytest.mark.parametrize("kind", REGISTRIES)
def test_every_plug_says_in_one_line_what_it_is(kind: str) -> None:
    summaries = REGISTRIES[kind].summaries()
    assert summaries
    assert all(summaries.values()), summaries


def test_a_mistyped_name_gets_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'random-forest'"):
        MODELS.get("random_forrest")


def test_a_name_near_nothing_gets_the_whole_list() -> None:
    with pytest.raises(UnknownNameError, match="known: fractional, full, "):
        DESIGNS.get("qqq")


def test_where_all_plugs_come_from_packages_and_none_is_installed_the_hint_says_what_to_install() -> None:
    with pytest.raises(UnknownNameError, match=r"no gadget named 'x'(.|\n)*pip install sparkcast(.|\n)*gadgets"):
        Registry("gadget").get("x")


def test_two_plugs_of_one_name_clash_loudly() -> None:
    registry: Registry[object] = Registry("thing")
    registry.register("x")(int)
    with pytest.raises(ValueError, match=r"'x'.*clashes"):
        registry.register("x")(str)


def test_plugs_are_told_apart_by_the_package_that_brings_them() -> None:
    registry: Registry[object] = Registry("thing")
    for name, module in {"a": "acme.things", "b": "sparkcast.things.b", "c": "acme", "d": "sparkcast.things.d"}.items():
        registry.register(name)(type(name, (), {"__module__": module}))
    assert registry.by_package() == {"sparkcast": ("b", "d"), "acme": ("a", "c")}
    assert list(registry.by_package()) == ["sparkcast", "acme"]


def test_plugs_say_of_themselves_what_shared_code_must_know() -> None:
    registry: Registry[object] = Registry("thing")

    @registry.register("plain")
    class Plain:
        """Says nothing."""

    @registry.register("loud")
    class Loud:
        """Says that it is loud."""

        is_loud = True

    @registry.register("hushed")
    class Hushed(Loud):
        """Takes it back."""

        is_loud = False

    @registry.register("louder")
    class Louder(Loud):
        """Says what it inherits, and that it is meant where nobody says which."""

        is_default = True

    assert registry.declaring("is_loud") == ("loud", "louder")
    assert registry.declaring("is_silent") == ()
    assert registry.default() == "louder"


def test_what_is_taken_when_nobody_chooses_is_declared_by_the_plugs() -> None:
    assert MODELS.declaring("is_usual") == (
        "auto",
        "bayesian",
        "ernest",
        "random-forest",
        "ridge",
        "scaling",
    )
    assert MODELS.declaring("is_baseline") == ("median",)
    assert len(MODELS.declaring("is_quick")) == 1
    assert set(MODELS.declaring("extrapolates_by_law")) == {"nnls", "scaling"}
    assert SEARCHERS.default() == "guided"
    assert SEARCHERS.declaring("is_default") == ("guided",)


def test_a_model_of_somebody_else_can_declare_itself_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine:
        """Mine."""

        is_usual = True

    MODELS.names()
    monkeypatch.setitem(MODELS._classes, "mine", Mine)
    assert "mine" in MODELS.declaring("is_usual")


def test_a_package_of_somebody_else_joins_through_an_entry_point(tmp_path: Path) -> None:
    (tmp_path / "acme.py").write_text(
        "from sparkcast.designs import DESIGNS\n"
        "@DESIGNS.register('acme')\n"
        "class Acme:\n    'A design of somebody else.'\n    def combinations(self, study): return []\n"
    )
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[sparkcast.designs]\nacme = acme:Acme\n")
    code = "from sparkcast.designs import DESIGNS; print(DESIGNS.get('acme').__name__)"
    answer = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "Acme"
