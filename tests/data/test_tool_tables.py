"""Tables of tools and of people in more countries: what was measured is no setting, and what is unclear is asked."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import tool_tables_support as tables
from sparkcast.data.cell import Clock, read_cell
from sparkcast.errors import StudyError
from sparkcast.study import Kind, Outcome, Role
from sparkcast.study.headings import plain_name
from strangers_support import Expected, read

READ: dict[Callable[[], str], Expected] = {
    tables.nextflow: Expected(
        {"cpus": Role.TOTAL_CORES, "memory": Role.MEMORY}, "duration", {"%cpu": Kind.OTHER}, {Outcome.ERROR: 1}
    ),
    tables.sacct: Expected(
        {"NNodes": Role.MACHINES, "NCPUS": Role.TOTAL_CORES}, "Elapsed", failed={Outcome.TIMEOUT: 1}
    ),
    tables.iso_durations: Expected({"executors": Role.MACHINES, "memory": Role.MEMORY}, "duration"),
    tables.polish_spreadsheet: Expected(
        {"Liczba węzłów": Role.MACHINES, "Pamięć (GB)": Role.MEMORY},
        "Czas trwania (s)",
        {"Koszt": Kind.MONEY, "Dokładność": Kind.SHARE},
    ),
    tables.dutch_spreadsheet: Expected(
        {"Aantal nodes": Role.MACHINES, "Geheugen (GB)": Role.MEMORY},
        "Looptijd (uren)",
        {"Kosten": Kind.MONEY},
        {Outcome.ERROR: 1},
        unit="h",
    ),
    tables.swedish_spreadsheet: Expected(
        {"Antal noder": Role.MACHINES, "Minne (GB)": Role.MEMORY},
        "Körtid (min)",
        {"Noggrannhet": Kind.SHARE},
        unit="min",
    ),
    tables.scaling: Expected({"cores": Role.CORES, "size (GB)": Role.DATA_SIZE}, "time [s]"),
    tables.pods: Expected(
        {
            "replicas": Role.OTHER,
            "resources.requests.cpu": Role.CORES,
            "resources.requests.memory": Role.MEMORY,
        },
        "pod_duration",
        failed={Outcome.ERROR: 2},
    ),
    tables.moved: Expected({"executor_count": Role.MACHINES, "executor_memory_gb": Role.MEMORY}, "job_time"),
    tables.samples: Expected(
        {"sample_pct": Role.FRACTION, "trees": Role.OTHER, "n_executors": Role.MACHINES},
        "fit_seconds",
        {"AUROC": Kind.SHARE},
    ),
}


@pytest.mark.parametrize("table", READ, ids=lambda table: table.__name__)
def test_a_table_of_a_tool_is_read_as_it_is_meant(tmp_path: Path, table: Callable[[], str]) -> None:
    expected, data = READ[table], read(tmp_path, table).dataset
    words = data.vocabulary
    assert {name: words.role(name) for name in data.factors} == expected.settings
    assert {name: words.response(name).kind for name in data.responses} == {expected.time: Kind.TIME, **expected.others}
    assert (words.time, words.response(expected.time).unit) == (expected.time, expected.unit)
    assert Counter(run.outcome for run in data.observations if not run.ok) == expected.failed


@pytest.mark.parametrize(
    ("table", "question"),
    [
        (tables.repeats, r"run 1 \(s\), run 2 \(s\), run 3 \(s\) of runs.csv look like repeats(.|\n)*one run per row"),
        (lambda: tables.repeats("t1,t2,t3,std"), "t1, t2, t3 of runs.csv look like repeats of one run"),
        (tables.one_number_per_row, "one number per row, and metric says what it is(.|\n)*each of accuracy, time_s"),
        (tables.jmh, "no column of runs.csv is known to be a response"),
    ],
)
def test_what_is_not_one_run_per_row_is_asked(tmp_path: Path, table: Callable[[], str], question: str) -> None:
    with pytest.raises(StudyError, match=question):
        read(tmp_path, table)


def test_one_of_several_repeats_may_be_chosen(tmp_path: Path) -> None:
    data = read(tmp_path, tables.repeats, responses=("mean (s)",))
    assert (data.dataset.responses, data.dataset.factors) == (("mean (s)",), ("executors", "memory"))


def test_numbered_stages_are_no_repeats(tmp_path: Path) -> None:
    rows = [f"{n},{m},{30 / n + m},{60 / n + m},{90 / n + 2 * m}" for n in (1, 2, 4) for m in (1, 2, 3)]
    data = read(tmp_path, lambda: "\n".join(["executors,batch,stage_1_s,stage_2_s,total_s", *rows]))
    assert data.dataset.responses == ("total_s",)


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [
        ("1-02:03:04", 93784),
        ("PT1H5M", 3900),
        ("P1DT2H", 93600),
        ("pt12.5s", 12.5),
        ("1 day, 02:03:04", 93784),
    ],
)
def test_durations_are_read_as_schedulers_write_them(cell: str, seconds: float) -> None:
    clock = read_cell(cell)
    assert isinstance(clock, Clock)
    assert clock.seconds(starts_with_hours=False) == seconds


@pytest.mark.parametrize("cell", ["2024-05-01", "PT", "P1D", "1-02:03", "PTX"])
def test_what_looks_like_a_duration_of_a_scheduler_is_none(cell: str) -> None:
    assert not isinstance(read_cell(cell), Clock)


@pytest.mark.parametrize(
    ("heading", "plain"),
    [
        ("Körtid (min)", "run_time_min"),
        ("Aantal nodes", "n_nodes"),
        ("Koszt (zł)", "cost_pln"),
        ("%cpu", "cpu_percent"),
    ],
)
def test_headings_of_more_countries_are_read(heading: str, plain: str) -> None:
    assert plain_name(heading) == plain


def test_a_thread_id_is_no_time_in_swedish() -> None:
    assert plain_name("tid") == "tid"
