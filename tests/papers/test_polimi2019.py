"""Polimi 2019. The measurements are not ours to ship: all files here are made up, in the same columns."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from sparkcast.errors import StudyError
from sparkcast.replications import Agreement, Replicated, replicate
from sparkcast.study import Dataset
from sparkcast_papers import _local
from sparkcast_papers.polimi2019 import _cases, _cells, _printed, kmeans, mistakes
from sparkcast_papers.polimi2019._files import GPU, K_MEANS, MODULES, POWER, RESPONSE, k_means
from sparkcast_papers.polimi2019._splits import Split, case_split, conf_splits
from sparkcast_papers.polimi2019._techniques import TECHNIQUES, Tried, try_technique
from sparkcast_papers.polimi2019.gpu import table
from tests_support import Call, Sparkcast

CARDS = {"P600": 1195, "K80": 5591, "M60": 7365, "GTX1080Ti": 11339}


def _training_s(i: int, batch: int, n: int, gflops: float, threads: int, modules: int = 1) -> float:
    """Exactly a sum of the terms that the physical model has."""
    return (
        20 + 0.01 * i + 0.004 * i * batch * modules / (n * gflops / 1000) + 0.002 * i * batch / threads + 0.001 * i * n
    )


def _write(path: Path, header: str, rows: Sequence[tuple[object, ...]]) -> None:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


def _write_gpu(folder: Path) -> None:
    rows: list[tuple[object, ...]] = []
    for network, framework in product(("alexnet", "resnet50", "deepspeech"), ("PyTorch", "TensorFlow")):
        for (card, gflops), n, batch, threads in product(CARDS.items(), (1, 2, 3, 4), (16, 32, 64), (2, 8)):
            if card == "P600" and n > 2:
                continue
            i = 40_000 // batch
            time_s = _training_s(i, batch, n, gflops, threads)
            rows.append((network, framework, card, gflops, 200, n, batch, i, threads, time_s))
    _write(folder / GPU, "network,framework,gpu,gflops,disk_MBps,n_gpus,batch_size,iterations,cpu_threads,time_s", rows)
    power = [(*row[:8], row[9], "" if row[1] == "PyTorch" else row[8]) for row in rows]
    _write(
        folder / POWER, "network,framework,gpu,gflops,disk_MBps,n_gpus,batch_size,iterations,time_s,cpu_threads", power
    )
    modules = [
        (n, 384.0, m, batch, 40_000 // batch, 4, _training_s(40_000 // batch, batch, n, 7365, 4, m), 2)
        for n, m, batch in product((1, 2, 4), range(1, 11), (64, 128))
    ]
    _write(
        folder / MODULES, "n_gpus,disk_MBps,inner_modules,batch_size,iterations,cpu_threads,time_s,run_rows", modules
    )


def _write_k_means(folder: Path) -> None:
    rows: list[tuple[object, ...]] = []
    for size, cores, repeat in product((9, 18, 27, 36), _cases.SPARK_BENCH_CORES, (1, 2)):
        load, noise = size / cores, 1 + 0.01 * ((7919 * (size + cores + repeat)) % 11 / 11 - 0.5)
        jobs = (40_000 * load * noise, (100 + 1_000 * load + 60_000 * max(0.0, load - 2)) * noise)
        stages = (jobs[0] / 8, jobs[1] / 4)
        rows.append(("kmeans", f"application_{len(rows)}", 20_000 + sum(jobs), *jobs, *stages, 1, size, cores))
    columns = "jobCompletionTime_J0,jobCompletionTime_J1,avgTask_S0,maxTask_S1,users,dataSize,nContainers"
    header = f"workload,run,{RESPONSE},{columns}"
    _write(folder / K_MEANS, header, rows)


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made-up")
    _write_gpu(folder)
    _write_k_means(folder)
    return folder


@pytest.fixture(scope="module")
def runs(made_up: Path) -> Dataset:
    return k_means(made_up)


def _rows(result: Replicated, item: str) -> dict[str, float | None]:
    return {row.quantity: row.ours for section in result.sections for row in section.rows if row.item == item}


# Train and test cores of the library's first public release.
TPC_DS_TESTS = (
    (8, 12, 16, 22, 26, 30, 34, 38, 42),
    (8, 10, 14, 16, 22, 24, 28, 30, 34, 36, 40, 42),
    (8, 10, 12, 16, 18, 22, 26, 28, 30, 34, 36, 38, 42),
    (8, 10, 12, 14, 18, 22, 24, 26, 28, 32, 34, 36, 38, 40),
    (10, 12, 14, 16, 22, 24, 26, 28, 30, 34, 36, 38, 40, 42),
    (8, 12, 14, 18, 22, 24, 28, 30, 32, 34, 36, 38, 40, 42),
)
SPARK_BENCH_TESTS = (
    (8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48),
    (8, 10, 14, 16, 20, 22, 26, 28, 32, 34, 38, 40, 44, 46),
    (8, 10, 12, 16, 18, 20, 24, 26, 28, 32, 34, 36, 40, 42, 44, 46),
    (8, 10, 12, 14, 18, 20, 22, 24, 28, 30, 32, 34, 38, 40, 44, 46),
    (10, 12, 14, 16, 20, 22, 24, 26, 28, 32, 34, 36, 38, 42, 44, 46),
    (8, 12, 14, 18, 20, 22, 26, 28, 30, 32, 36, 38, 40, 42, 44, 46),
    (8, 10, 12, 14, 18, 20, 22, 24, 28, 30, 32, 34, 38, 40, 42, 44, 48),
)


@pytest.mark.parametrize(
    ("cases", "tests"),
    [(_cases.TPC_DS, TPC_DS_TESTS), (_cases.SPARK_BENCH, SPARK_BENCH_TESTS)],
    ids=["tpc-ds", "bench"],
)
def test_each_case_asks_the_cores_that_the_library_asked(
    cases: tuple[_cases.Case, ...], tests: tuple[tuple[int, ...], ...]
) -> None:
    assert tuple(case.test for case in cases) == tests
    assert not any(set(case.train) & set(case.test) for case in cases)


def test_only_two_cases_ask_beyond_what_they_learn_from() -> None:
    assert all(case.interpolates for case in _cases.TPC_DS)
    beyond = [number for number, case in enumerate(_cases.SPARK_BENCH, start=1) if not case.interpolates]
    assert beyond == [1, 7]


def test_sizes_of_conf_4_to_6_are_never_on_both_sides(runs: Dataset) -> None:
    assert all(conf.test not in conf.train for conf in (*_cases.SLIDE_CONFS[3:], *_cases.K_MEANS_CONFS))
    for split in conf_splits(runs):
        assert not set(split.train.levels("data_size")) & set(split.test.levels("data_size"))


def test_the_slides_have_a_number_for_every_cell_of_the_data() -> None:
    batch = [number for row in _printed.BATCH_SIZE.values() for number in row.split() if number != "-"]
    assert len(batch) == 80
    assert sum(len(row.split()) for row in _printed.GPU_NUMBER.values()) == 18
    assert sum(len(row.split()) for row in _printed.INNER_MODULES.values()) == 12


def test_row_counts_that_are_not_the_published_ones_differ(made_up: Path) -> None:
    result = replicate("polimi2019", "cases", made_up)
    by_verdict = {row.item: row.verdict for row in result.sections[0].rows if row.quantity == "rows"}
    assert set(by_verdict.values()) == {Agreement.DIFFERS}
    sizes = {row.quantity: row.verdict for row in result.sections[0].rows if row.item == K_MEANS}
    assert sizes["data sizes"] is sizes["numbers of cores"] is Agreement.AGREES


def test_times_that_follow_the_physical_terms_are_predicted_exactly(made_up: Path) -> None:
    for cells in (_cells.gpu_number, _cells.batch_size, _cells.inner_modules, _cells.new_hardware):
        found = table("made up", cells(made_up))
        assert max(found.mapes("NNLS")) < 0.1 or cells is _cells.new_hardware
        assert found.large("NNLS") == 0 or cells is _cells.new_hardware
        assert max(found.mapes("constant")) > 10


def test_the_speech_network_and_the_small_card_have_no_cell(made_up: Path) -> None:
    cells = list(_cells.gpu_number(made_up))
    assert {cell.name.split()[0] for cell in cells} == {"alexnet", "resnet50"}
    assert {cell.column for cell in cells} == {"K80", "M60", "GTX1080Ti"}
    assert len(list(_cells.inner_modules(made_up))) == len(_printed.INNER_MODULES) * 3


def test_the_gpu_part_sets_cells_beside_the_slides(made_up: Path) -> None:
    result = replicate("polimi2019", "gpu", made_up)
    number = next(section for section in result.sections if section.title.startswith("GPU number"))
    [row] = [row for row in number.rows if (row.item, row.quantity) == ("alexnet PyTorch", "MAPE, K80")]
    assert (row.compared, row.verdict) == ("7.21", Agreement.SHOWN)
    assert _rows(result, "GPU number")["NNLS, mean MAPE of the cells"] == pytest.approx(0, abs=0.1)


def test_an_error_of_exactly_thirty_percent_is_large() -> None:
    import numpy as np

    assert _cells.is_large(np.array([0.2999, 0.3, 0.7 / 7 * 3, 0.31])).tolist() == [False, True, True, True]


def test_a_tree_finds_what_it_has_seen_and_nothing_between(runs: Dataset) -> None:
    seen = try_technique("decision tree", case_split(runs, 27, 0, 1), 1).asked
    between = try_technique("decision tree", case_split(runs, 27, 3, 1), 1).asked
    assert seen < 5 < between


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_scaling_with_the_asked_runs_changes_only_what_depends_on_scales(runs: Dataset, technique: str) -> None:
    split = conf_splits(runs)[0]
    honest, leaky = (try_technique(technique, split, 1, scale_with_test=leak).asked for leak in (False, True))
    if technique in ("lasso", "SVR"):
        assert leaky != pytest.approx(honest, rel=0.05)
    else:  # but for ties
        assert leaky == pytest.approx(honest, rel=0.05)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Techniques that take no time, and a model that needs nothing in the place of the one that tries all."""

    def pretend(technique: str, split: Split, seed: int, *, scale_with_test: bool = False) -> Tried:
        # The best beforehand is the worst when asked.
        rank = TECHNIQUES.index(technique)
        return Tried(chosen_by=float(rank), asked=10.0 - rank + scale_with_test)

    monkeypatch.setattr(kmeans, "try_technique", pretend)
    monkeypatch.setattr(mistakes, "try_technique", pretend)
    monkeypatch.setattr(kmeans, "_CHOOSES", "median")


@pytest.mark.usefixtures("quick")
def test_the_k_means_part_sets_our_models_beside_the_techniques(made_up: Path) -> None:
    result = replicate("polimi2019", "kmeans", made_up)
    cores, sizes, bars = result.sections
    assert [row.quantity for row in cores.rows[:6]] == [*TECHNIQUES, "ernest", "gray-box"]
    assert {row.verdict for row in sizes.rows if row.quantity != "ernest"} == {Agreement.SHOWN}
    assert {row.compared for row in bars.rows} == {"15.1", "10.6", "7.6", "8.9"}
    gray = [row.ours for row in bars.rows if row.quantity.startswith("gray-box")]
    assert all(mape is not None and mape < 3 for mape in gray)


@pytest.mark.usefixtures("quick")
def test_each_mistake_comes_with_numbers(made_up: Path) -> None:
    result = replicate("polimi2019", "mistakes", made_up)
    assert [mistake.number for mistake in result.mistakes] == [1, 2, 3, 4, 5, 6]
    by_number = {mistake.number: mistake for mistake in result.mistakes}
    chosen = by_number[2].figures[-1]
    assert (chosen.paper, chosen.right) == (7.0, 10.0)
    assert all(f.paper is not None and f.right is not None and f.paper > 5 * f.right for f in by_number[5].figures)
    assert "0 of 2 here" in by_number[3].truth
    # Nine units never leave the memory; the others do so at the smallest number of cores.
    assert all(f.paper is not None and f.right is not None and f.paper > f.right for f in by_number[3].figures[1:])


def test_means_of_metrics_are_judged_with_the_metrics_of_stages_only(runs: Dataset) -> None:
    kept = mistakes._with_stages_only(runs)
    assert set(kept.observations[0].responses) == {RESPONSE, "avgTask_S0", "maxTask_S1"}


def test_settings_held_back_are_on_one_side_only(runs: Dataset) -> None:
    split = case_split(runs, 27, 0, 1)
    apart = {split.train.key(run) for run in split.train.observations}
    assert any(split.test.key(run) in apart for run in split.test.observations)
    whole = mistakes._together(split, 1)
    kept = {whole.train.key(run) for run in whole.train.observations}
    assert not any(whole.test.key(run) in kept for run in whole.test.observations)


@pytest.mark.parametrize("part", ["cases", "gpu", "kmeans", "mistakes"])
def test_without_measurements_each_part_says_what_is_needed(part: str) -> None:
    with pytest.raises(StudyError, match=r"no measurements(.|\n)*`data=DIR` with .*csv") as error:
        replicate("polimi2019", part)
    assert error.value.exit_code == 2


def test_the_command_without_measurements_ends_with_a_hint(sparkcast: Sparkcast) -> None:
    answer = sparkcast("replicate", "polimi2019", "--part", "gpu")
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert "gpu_training_times.csv" in answer.stderr


def test_parts_without_measurements_are_named_when_all_are_asked_for(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_local, "_HERE", Path("/nowhere/at/all"))  # predicting times takes minutes, and is tested apart
    answer = call("replicate", "polimi2019")
    assert answer.code == 0
    assert "left out, because they need the measurements (--data DIR): cases, gpu, kmeans, mistakes" in " ".join(
        answer.out.split()
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (GPU, "network,framework,gpu,gflops\nalexnet,PyTorch,K80,5591\n", "no column 'n_gpus'"),
        (K_MEANS, f"dataSize,cores,{RESPONSE}\n9,6,100\n", "no column 'nContainers'"),
    ],
)
def test_a_table_without_what_is_needed_is_refused(
    made_up: Path, tmp_path: Path, name: str, text: str, message: str
) -> None:
    for file in made_up.iterdir():
        (tmp_path / file.name).write_text(text if file.name == name else file.read_text())
    with pytest.raises(StudyError, match=message):
        replicate("polimi2019", "cases", tmp_path)
