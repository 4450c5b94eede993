"""The papers in small: the runs that are kept are those of the studies beside them, and replicate shows them."""

import importlib.util
import math
import re
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast import api
from sparkcast.data.sources import load_study
from sparkcast.replications import REPLICATIONS, Agreement, PartResult, replicate
from sparkcast.study import Configuration
from sparkcast_papers import _local
from sparkcast_papers._local import paired, ratio_of, results_file
from sparkcast_papers.courier2021.local import Local as Courier
from sparkcast_papers.javaheri2021.local import Local as Javaheri
from sparkcast_papers.marinos2020.local import Local as Marinos
from sparkcast_papers.myung2020.local import Local as Myung
from sparkcast_papers.polimi2019.local import Local as Polimi

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PAPERS = REPLICATIONS.names()
SEARCHES = ("search.yaml", "doubling.yaml")  # run by a searcher, not by their design
STUDIES = sorted(path for paper in PAPERS for path in (EXAMPLES / paper).glob("*.yaml"))


def _name(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def _table(study: Path) -> Path:
    return study.parent / "results" / f"{study.stem}.csv"


# Whoever changes a study removes its results until it has been run again.
TABLES = [study for study in STUDIES if _table(study).is_file()]
KEPT = sorted({study.parent.name for study in TABLES})


def _needs(paper: str, *names: str) -> pytest.MarkDecorator:
    is_there = all(results_file(paper, name) is not None for name in names)
    return pytest.mark.skipif(not is_there, reason=f"the runs of {paper} in small are not kept here: make examples")


def _shown(found: PartResult) -> dict[tuple[str, str], float | None]:
    return {(row.item, row.quantity): row.ours for section in found.sections for row in section.rows}


# ---------------------------------------------------------------- what is kept


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_studies_and_a_page_that_tells_the_differences(paper: str) -> None:
    assert list((EXAMPLES / paper).glob("*.yaml"))
    assert "What differs" in (EXAMPLES / paper / "README.md").read_text()


@pytest.mark.parametrize("study", STUDIES, ids=_name)
def test_every_study_can_be_planned(study: Path) -> None:
    assert api.plan(study).trials


@pytest.mark.parametrize("study", TABLES, ids=_name)
def test_the_results_are_all_runs_of_the_study_beside_them(study: Path) -> None:
    plan, runs = api.plan(study), api.load_data(_table(study)).dataset
    factors = runs.factors
    each = range(1, load_study(study).design.replicates + 1)
    levels = {Configuration({name: trial[name] for name in factors}) for trial in plan.trials}
    planned = sorted((str(configuration), replicate) for configuration in levels for replicate in each)
    assert sorted((str(run.configuration.only(factors)), run.replicate) for run in runs.observations) == planned
    assert all(run.ok for run in runs.observations)


def test_the_wheel_carries_all_results_that_are_kept() -> None:
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = content["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {f"examples/{p}/results": f"sparkcast_papers/{p}/results" for p in KEPT}


@pytest.mark.parametrize("paper", KEPT)
def test_a_report_of_all_results_is_kept_beside_them(paper: str) -> None:
    report = (EXAMPLES / paper / "results" / "report.txt").read_text()
    for study in (study for study in TABLES if study.parent.name == paper):
        n_runs = len(api.load_data(_table(study)).dataset.observations)
        assert re.search(rf"this study\s+runs\s+-\s+{n_runs}\b", report), study.name


def test_what_is_kept_is_small() -> None:
    for file in (file for paper in PAPERS for file in (EXAMPLES / paper).rglob("*") if file.is_file()):
        assert file.stat().st_size < 400_000, file


# ---------------------------------------------------------------- where it is found


def test_a_folder_that_is_named_comes_before_what_is_kept(tmp_path: Path) -> None:
    kept = _table(EXAMPLES / "courier2021" / "factorial.yaml")
    assert results_file("courier2021", kept.name, tmp_path) == kept
    (tmp_path / kept.name).touch()
    assert results_file("courier2021", kept.name, tmp_path) == tmp_path / kept.name


def test_an_installed_package_has_its_own_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "lib" / "site-packages" / "sparkcast_papers"
    (package / "myung2020" / "results").mkdir(parents=True)
    monkeypatch.setattr(_local, "_HERE", package)
    assert results_file("myung2020", "inference.csv") is None
    (package / "myung2020" / "results" / "inference.csv").touch()
    assert results_file("myung2020", "inference.csv") == package / "myung2020" / "results" / "inference.csv"


@pytest.mark.parametrize("paper", PAPERS)
def test_without_the_runs_a_note_says_where_to_get_them(
    paper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_local, "_HERE", tmp_path / "a" / "b" / "sparkcast_papers")
    found = replicate(paper, "local")
    assert found.sections == ()
    assert "make examples" in found.notes[0]


# ---------------------------------------------------------------- what it shows


@_needs("courier2021", "factorial.csv")
def test_courier_shows_what_matters_models_and_deadlines() -> None:
    found = Courier(model="ridge", beside="ridge", trees=5, workers=1).run(None)
    shown = _shown(found)
    assert shown["batch", "F, training time"] is not None
    assert shown["oracle (knows the measured times)", "% of feasible SLOs met, of all"] == 100
    assert ("Courier's rule, forest", "% of feasible SLOs met, of all") in shown
    assert ("ours (ridge, 0.95)", "% of feasible SLOs met, of those promised") in shown


@_needs("javaheri2021", "read.csv")
def test_javaheri_shows_the_ratio_of_the_formats_with_its_interval() -> None:
    shown = _shown(Javaheri().run(None))
    low, ratio, high = (
        shown["tfrecord / jpeg", f"images/s, {what}"] for what in ("95 % interval from", "8 pairs", "95 % interval to")
    )
    assert low is not None
    assert ratio is not None
    assert high is not None
    assert low < ratio < high


@_needs("marinos2020", "factorial.csv", "optimum.csv")
def test_marinos_shows_three_optima_each_with_new_runs() -> None:
    shown = _shown(Marinos().run(None))
    checked = [item.split(":")[0] for item, quantity in shown if quantity.startswith("cost, mean of")]
    assert checked == ["recommend", "guided", "doubling"]
    assert sum(quantity == "% of the variation, as measured" for _, quantity in shown) >= 10


@_needs("myung2020", "inference.csv")
def test_myung_predicts_all_images_from_runs_on_some() -> None:
    shown = _shown(Myung(models=("two-level-product", "median")).run(None))
    error, median = (shown[model, "mean error at SR = 100 %, %"] for model in ("two-level-product", "median"))
    assert error is not None
    assert median is not None
    assert error < median
    assert shown["Table 2", "scaled time at 100 %"] == 1


@_needs("polimi2019", "kmeans.csv")
def test_polimi_shows_every_time_and_the_errors_at_sizes_never_run() -> None:
    found = Polimi(models=("ernest", "median")).run(None)
    titles = [section.title for section in found.sections]
    assert sum("errors of predicted times" in title for title in titles) == len(titles) / 2
    assert any(item.startswith("Conf 4") for item, _ in _shown(found))


@_needs("courier2021", "factorial.csv")
def test_real_runs_are_shown_beside_the_paper_but_never_held_against_it() -> None:
    found = Courier(model="ridge", beside="ridge", trees=5, workers=1).run(None)
    assert {row.verdict for section in found.sections for row in section.rows} == {Agreement.SHOWN}
    assert all("[real runs in small]" in section.title for section in found.sections)


def test_parts_that_need_the_authors_files_are_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_local, "_HERE", Path("/nowhere/at/all"))  # predicting times takes a while
    found = replicate("polimi2019")
    assert found.parts == ("local",)
    assert any(note.startswith("part kmeans was left out") and "`data=DIR`" in note for note in found.notes)


# ---------------------------------------------------------------- ratios


@given(st.lists(st.tuples(st.floats(0.1, 1e3), st.floats(0.1, 1e3)), min_size=2, max_size=20))
def test_a_ratio_lies_in_its_interval_and_turned_round_is_its_inverse(pairs: list[tuple[float, float]]) -> None:
    found, turned = ratio_of(pairs), ratio_of([(b, a) for a, b in pairs])
    assert found.low <= found.mean <= found.high
    assert math.isclose(found.mean * turned.mean, 1, rel_tol=1e-9)
    assert math.isclose(found.low * turned.high, 1, rel_tol=1e-6)


def test_one_pair_says_nothing_about_the_interval() -> None:
    found = ratio_of([(1.0, 2.0)])
    assert (found.mean, found.low, found.high, found.pairs) == (2.0, 0.0, math.inf, 1)


def test_pairs_differ_in_one_setting_and_replicates_count_once(tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    table.write_text("format,batch_size,time_s\njpeg,8,2\njpeg,8,4\ntfrecord,8,6\njpeg,16,5\n")
    runs = api.load_data(table, table=api.TableOptions(["format", "batch_size"])).dataset
    assert paired(runs, "time_s", "format", "jpeg", "tfrecord") == [(3.0, 6.0)]


# ---------------------------------------------------------------- run again


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_papers", EXAMPLES / "run_papers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "EXAMPLES", tmp_path / "examples")
    monkeypatch.setattr(module, "WORK", tmp_path / "work")
    return module


def test_the_script_knows_every_paper(script: ModuleType) -> None:
    assert script.PAPERS == PAPERS
    with pytest.raises(SystemExit, match="no paper named 'marinos'; known: courier2021"):
        script.main(["marinos"])


@pytest.mark.parametrize("name", ["search", "doubling"])
def test_what_a_search_found_is_checked_with_its_other_settings_as_they_were(
    name: str, script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tmp_path / f"{name}.yaml"
    run: list[Path] = []
    study.write_text((EXAMPLES / "marinos2020" / study.name).read_text())
    settings = {setting.name: setting.levels[0] for setting in load_study(study).factors}
    monkeypatch.setattr(script, "run_study", run.append)
    monkeypatch.setattr(script.api, "load_data", lambda _: SimpleNamespace(dataset=SimpleNamespace(observations=())))
    script.check(study, "tune", Configuration(settings))
    assert len(api.plan(run[0]).trials) == script.CHECKS
    assert settings.items() <= load_study(run[0]).fixed.items()


@pytest.mark.slow
def test_a_paper_is_run_again_and_its_results_are_kept(script: ModuleType, tmp_path: Path, no_orphans: None) -> None:
    folder = tmp_path / "examples" / "javaheri2021"
    folder.mkdir(parents=True)
    text = (EXAMPLES / "javaheri2021" / "read.yaml").read_text()
    small = {
        "cache: [false, true]": "cache: false",
        "batch_size: [8, 32]": "batch_size: 4",
        "batches: [16, 32]": "batches: 4",
        "images: 1024": "images: 16",
    }
    for old, new in small.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "read.yaml").write_text(text)
    script.main(["javaheri2021"])
    runs = api.load_data(folder / "results" / "read.csv").dataset
    assert [run.ok for run in runs.observations] == [True, True]
    assert "TFRecord files are read" in (folder / "results" / "report.txt").read_text()
    assert not (tmp_path / "work" / "javaheri2021").exists()
