"""More tables of strangers, and what was silently wrong in them before: units, totals, moments, hashes, scripts."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import more_strangers_support as tables
from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.study import Kind, Outcome, Role
from sparkcast.study.headings import plain_name
from sparkcast.units import as_number
from strangers_support import Expected, read

READ: dict[Callable[[], str], Expected] = {
    tables.mlflow_page: Expected(
        {"Version": Role.OTHER, "batch_size": Role.BATCH, "num_workers": Role.MACHINES},
        "Duration",
        {"val_auc": Kind.SHARE},
        {Outcome.ERROR: 1},
    ),
    tables.commits: Expected({"git_commit": Role.OTHER, "workers": Role.MACHINES, "rows": Role.DATA_SIZE}, "runtime_s"),
    tables.grouped_header: Expected(
        {"executors": Role.MACHINES, "memory (GB)": Role.MEMORY}, "runtime (s)", {"cost ($)": Kind.MONEY}
    ),
    tables.thousands: Expected(
        {"Nodes": Role.MACHINES, "Rows": Role.DATA_SIZE},
        "Elapsed (sec)",
        {"Accuracy": Kind.SHARE, "Cost": Kind.MONEY},
    ),
    tables.totals: Expected({"executors": Role.MACHINES, "partitions": Role.OTHER}, "duration_s"),
    tables.properties: Expected(
        {
            "spark.executor.instances": Role.MACHINES,
            "spark.executor.memory": Role.MEMORY,
            "spark.sql.shuffle.partitions": Role.OTHER,
            "spark.serializer": Role.OTHER,
            "spark_version": Role.OTHER,
        },
        "app_duration_ms",
        unit="ms",
    ),
    tables.gpus: Expected(
        {
            "gpu_type": Role.MACHINE_TYPE,
            "n_gpu": Role.MACHINES,
            "gpu_mem_gb": Role.MEMORY,
            "per_gpu_batch_size": Role.BATCH,
            "precision": Role.OTHER,
        },
        "total_hours",
        {"final_loss": Kind.OTHER},
        unit="h",
    ),
    tables.pandas_index: Expected({"executors": Role.MACHINES, "cores": Role.CORES}, "wall_time_s"),
    tables.analyst: Expected(
        {"Dataset": Role.OTHER, "# workers": Role.MACHINES},
        "Refresh (min)",
        failed={Outcome.OOM: 1, Outcome.TIMEOUT: 1},
        unit="min",
    ),
    tables.planner: Expected(
        {"Host count": Role.MACHINES, "vCPU/host": Role.CORES, "RAM/host (GiB)": Role.MEMORY}, "Makespan (h:mm)"
    ),
    tables.remarks_between: Expected({"executors": Role.MACHINES, "memory": Role.MEMORY}, "seconds"),
    tables.cross_validation: Expected(
        {"param_max_depth": Role.OTHER, "param_n_estimators": Role.OTHER},
        "mean_fit_time",
        {"mean_test_score": Kind.OTHER},
    ),
    tables.japanese_spreadsheet: Expected(
        {"ノード数": Role.MACHINES, "メモリ(GB)": Role.MEMORY, "データ件数": Role.DATA_SIZE},
        "実行時間(秒)",
        {"精度": Kind.SHARE, "費用(円)": Kind.MONEY},
        {Outcome.ERROR: 1},
    ),
    tables.chinese_spreadsheet: Expected(
        {"执行器数量": Role.MACHINES, "核数": Role.CORES, "数据量(GB)": Role.DATA_SIZE},
        "运行时间(分钟)",
        {"准确率": Kind.SHARE, "成本(元)": Kind.MONEY},
        {Outcome.ERROR: 1},
        unit="min",
    ),
    tables.unknown_script: Expected({"კვანძები": Role.OTHER, "παράμετρος": Role.OTHER}, "time_s"),
    tables.times_of_day: Expected({"executors": Role.MACHINES}, "elapsed"),
    tables.lost_parts: Expected({"executors": Role.MACHINES}, "seconds"),
    tables.kubernetes: Expected(
        {
            "executors": Role.MACHINES,
            "cpu_request": Role.CORES,
            "cpu_limit": Role.CORES,
            "memory_limit": Role.MEMORY,
        },
        "duration",
    ),
}


@pytest.mark.parametrize("table", READ, ids=lambda table: table.__name__)
def test_another_table_of_strangers_is_read_as_they_mean_it(tmp_path: Path, table: Callable[[], str]) -> None:
    expected, data = READ[table], read(tmp_path, table).dataset
    words = data.vocabulary
    assert {name: words.role(name) for name in data.factors} == expected.settings
    assert {name: words.response(name).kind for name in data.responses} == {expected.time: Kind.TIME, **expected.others}
    assert (words.time, words.response(expected.time).unit) == (expected.time, expected.unit)
    assert Counter(run.outcome for run in data.observations if not run.ok) == expected.failed


@pytest.mark.parametrize(
    ("table", "question"),
    [
        (tables.same_header_twice, "'time': the name appears twice(.|\n)*rename one of them"),
        (tables.wide, "10 GB, 50 GB, 100 GB of runs.csv look like levels of one setting(.|\n)*one run per row"),
        (tables.hyperfine, "no column of runs.csv is known to be a response(.|\n)*roles="),
    ],
)
def test_what_cannot_be_read_is_asked_with_a_way_out(tmp_path: Path, table: Callable[[], str], question: str) -> None:
    with pytest.raises(StudyError, match=question):
        read(tmp_path, table)


def notes(data: api.Data) -> tuple[str, ...]:
    assert data.understood is not None
    return data.understood.notes


def test_totals_comments_and_sources_are_left_out_and_it_is_said(tmp_path: Path) -> None:
    data = read(tmp_path, tables.totals)
    assert (len(data.dataset.observations), notes(data)) == (9, ("rows 11 and 12 left out: totals of the others",))
    data = read(tmp_path, tables.remarks_between)
    assert len(data.dataset.observations) == 9
    assert notes(data) == ("1 comment line among the rows", "1 line of text below the rows")


def test_a_total_whose_settings_are_numbers_too_is_no_run(tmp_path: Path) -> None:
    data = read(tmp_path, lambda: "config,executors,runtime_s\na,2,100\nb,4,60\nc,8,40\nTotal,14,200\n")
    assert [run.configuration["config"] for run in data.dataset.observations] == ["a", "b", "c"]


def test_a_level_that_is_called_mean_stays_a_level(tmp_path: Path) -> None:
    crossed = [f"{how},{n},{100 / n + len(how)}" for n in (1, 2, 4) for how in ("max", "median", "mean")]
    data = read(tmp_path, lambda: "\n".join(["aggregate,executors,runtime_s", *crossed]))
    assert len(data.dataset.observations) == 9
    last = read(tmp_path, lambda: "aggregate,executors,runtime_s\nmax,2,10\nmin,6,11\nmean,4,9\n")
    assert len(last.dataset.observations) == 3


def test_a_comment_that_a_spreadsheet_padded_is_one_and_a_numbered_run_is_none(tmp_path: Path) -> None:
    table = "run,executors,time_s\n#1,2,10\n# the cluster was upgraded,,\n#2,4,6\n#3,8,4\n"
    data = read(tmp_path, lambda: table)
    assert [run.responses["time_s"] for run in data.dataset.observations] == [10, 6, 4]
    assert "1 comment line among the rows" in notes(data)


def test_a_sorted_duration_beside_another_is_no_time_of_day(tmp_path: Path) -> None:
    rows = [f"{i % 3 + 1},0:{10 + i:02d}:00,{(i * 7) % 11 + 1}" for i in range(9)]
    data = read(tmp_path, lambda: "\n".join(["executors,duration,setup_time_s", *rows]))
    assert data.dataset.vocabulary.time == "duration"


def test_names_under_several_groups_are_told_apart_by_their_group(tmp_path: Path) -> None:
    table = "Cluster,,Cold,Warm\nexecutors,memory (GB),time (s),time (s)\n" + "".join(
        f"{n},{m},{100 / n + m},{90 / n}\n" for n in (1, 2) for m in (2, 4)
    )
    with pytest.raises(StudyError, match=r"Cold time \(s\), Warm time \(s\) of runs.csv look like times"):
        read(tmp_path, lambda: table)
    data = read(tmp_path, lambda: table, roles={"Cold time (s)": "time:s"})
    assert data.dataset.factors == ("executors", "memory (GB)")


def test_a_time_in_an_unknown_unit_is_refused_rather_than_taken_as_seconds(tmp_path: Path) -> None:
    table = "executors,time\n2,5 წთ\n4,3 წთ\n8,2 წთ\n"
    with pytest.raises(
        StudyError, match=r"'5 წთ' has a unit that is not known as one of time(.|\n)*write წთ as s, min or h"
    ):
        read(tmp_path, lambda: table)


def test_times_in_japanese_and_chinese_units_are_read(tmp_path: Path) -> None:
    japanese = read(tmp_path, lambda: "ノード数,実行時間\n2,1時間30分\n4,45分\n8,50秒\n").dataset
    assert [run.responses["実行時間"] for run in japanese.observations] == [5400, 2700, 50]
    chinese = read(tmp_path, lambda: "节点,行数,耗时\n2,10万,5分钟\n4,20万,1小时\n").dataset
    assert [run.responses["耗时"] for run in chinese.observations] == [300, 3600]
    assert chinese.levels("行数") == (100000, 200000)


@pytest.mark.parametrize(
    ("heading", "plain"),
    [
        ("実行時間（秒）", "run_time_s"),
        ("CPUコア数", "cpu_cores_n"),
        ("バッチサイズ", "batch_size"),
        ("内存（GB）", "memory_gb"),
        ("數據量", "data_size"),
        ("运行耗时(ms)", "run_time_ms"),
        ("機械学習", "機械学習"),
    ],
)
def test_headings_in_japanese_and_chinese_are_split_into_words(heading: str, plain: str) -> None:
    assert plain_name(heading) == plain


def test_a_hash_is_no_number_however_it_looks() -> None:
    assert as_number("5e42030b") is None
    assert as_number("4g") == 4 * 2**30


def test_hashes_are_levels_and_sizes_of_models_are_numbers(tmp_path: Path) -> None:
    commits = read(tmp_path, tables.commits).dataset
    assert len(commits.levels("git_commit")) == 3
    models = read(tmp_path, lambda: "params,executors,time_s\n7b,2,10\n13b,2,20\n70b,2,99\n").dataset
    assert models.levels("params") == ("7b", "13b", "70b")
