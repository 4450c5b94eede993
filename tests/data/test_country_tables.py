"""Tables in further languages and of further tools: what they mean is read, or asked about."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import country_tables_support as tables
from sparkcast.data.cell import Clock, read_cell
from sparkcast.errors import StudyError
from sparkcast.study import Kind, Outcome, Role
from sparkcast.study.headings import plain_name
from sparkcast.study.names import unit_in_name
from strangers_support import Expected, read


def spreadsheet(nodes: str, memory: str, time: str, share: str, money: str) -> Expected:
    return Expected(
        {nodes: Role.MACHINES, memory: Role.MEMORY},
        time,
        {share: Kind.SHARE, money: Kind.MONEY},
        {Outcome.ERROR: 1},
        unit="min",
    )


READ: dict[Callable[[], str], Expected] = {
    tables.russian: spreadsheet("Узлы", "Память (ГБ)", "Время (мин)", "Точность, %", "Стоимость (руб.)"),
    tables.ukrainian: spreadsheet("Вузли", "Пам'ять (ГБ)", "Тривалість (хв)", "Точність, %", "Вартість (грн)"),
    tables.czech: spreadsheet("Počet uzlů", "Paměť (GB)", "Doba běhu (min)", "Přesnost (%)", "Cena"),
    tables.turkish: spreadsheet("Düğüm sayısı", "Bellek (GB)", "Süre (dk)", "Doğruluk (%)", "Maliyet (₺)"),
    tables.finnish: spreadsheet("Solmuja", "Muisti (Gt)", "Kesto (min)", "Tarkkuus (%)", "Hinta"),
    tables.hungarian: spreadsheet(
        "Csomópontok száma", "Memória (GB)", "Futásidő (perc)", "Pontosság (%)", "Költség (€)"
    ),
    tables.greek: spreadsheet("Κόμβοι", "Μνήμη (GB)", "Χρόνος (λεπτά)", "Ακρίβεια (%)", "Κόστος (€)"),
    tables.korean: spreadsheet("노드 수", "메모리(GB)", "실행 시간(분)", "정확도(%)", "비용(원)"),
    tables.indonesian: spreadsheet("Jumlah node", "Memori (GB)", "Waktu (menit)", "Akurasi (%)", "Biaya (€)"),
    tables.brazilian: Expected(
        {"Qtd. de nós": Role.MACHINES, "Memória RAM": Role.MEMORY},
        "Tempo total",
        {"Custo": Kind.MONEY},
        {Outcome.ERROR: 1},
    ),
    tables.german_cells: Expected(
        {"Anz. Executoren": Role.MACHINES, "Datensätze": Role.DATA_SIZE},
        "Dauer",
        {"Kosten": Kind.MONEY},
        {Outcome.OOM: 1},
    ),
    tables.glue: Expected(
        {"WorkerType": Role.MACHINE_TYPE, "NumberOfWorkers": Role.MACHINES},
        "ExecutionTime",
        failed={Outcome.ERROR: 2, Outcome.TIMEOUT: 1},
    ),
    tables.synapse: Expected(
        {"Node size": Role.OTHER, "Executors": Role.MACHINES}, "Total duration", failed={Outcome.ERROR: 2}
    ),
    tables.ray_tune: Expected(
        {"batch_size": Role.BATCH, "num_workers": Role.MACHINES}, "time_total_s", {"loss": Kind.OTHER}
    ),
    tables.gnu_time: Expected(
        {"cores": Role.CORES, "k": Role.OTHER},
        "Elapsed (wall clock) time (h:mm:ss or m:ss)",
        failed={Outcome.ERROR: 1},
    ),
    tables.hibench: Expected({"Nodes": Role.MACHINES}, "Duration(s)", {"Throughput(bytes/s)": Kind.COUNT}),
    tables.console: Expected({"AllocCPUS": Role.TOTAL_CORES}, "Elapsed", failed={Outcome.TIMEOUT: 1}),
    tables.postgres: Expected({"executors": Role.MACHINES, "memory": Role.MEMORY}, "runtime"),
    tables.billing: Expected(
        {"workers": Role.MACHINES, "runtime engine": Role.OTHER}, "duration (s)", {"DBU cost ($)": Kind.MONEY}
    ),
    tables.load_test: Expected(
        {"latency_ms": Role.OTHER, "packet_loss_percent": Role.OTHER, "nodes": Role.MACHINES}, "completion_time"
    ),
    tables.hourly: Expected(
        {"instances": Role.MACHINES, "hourly price": Role.OTHER, "$/h": Role.OTHER}, "runtime_minutes", unit="min"
    ),
    tables.fitted: Expected({"executors": Role.MACHINES, "k": Role.OTHER}, "fit_time"),
    tables.nanoseconds: Expected({"executors": Role.MACHINES, "memory_gb": Role.MEMORY}, "duration_ns", unit="ns"),
    tables.microseconds: Expected({"threads": Role.OTHER, "batch": Role.BATCH}, "latency (µs)", unit="us"),
    tables.spread: Expected({"executors": Role.MACHINES, "memory": Role.MEMORY}, "runtime (s)"),
    tables.ditto: Expected({"executors": Role.MACHINES, "memory_gb": Role.MEMORY}, "time_s"),
    tables.over_midnight: Expected({"executors": Role.MACHINES, "memory_gb": Role.MEMORY}, "time_s"),
    tables.arabic: spreadsheet("عدد العقد", "الذاكرة (GB)", "الوقت (دقيقة)", "الدقة (%)", "التكلفة (€)"),
    tables.sagemaker: Expected(
        {"InstanceType": Role.MACHINE_TYPE, "InstanceCount": Role.MACHINES},
        "TrainingTimeInSeconds",
        {"validation:auc": Kind.SHARE},
        {Outcome.ERROR: 2},
    ),
    tables.load_generator: Expected({"Threads": Role.OTHER, "Pods": Role.OTHER}, "elapsed"),
    tables.english_words: Expected(
        {"Number of machines": Role.MACHINES, "Memory in GB": Role.MEMORY},
        "Time in minutes",
        {"Cost in EUR": Kind.MONEY},
        {Outcome.ERROR: 1},
        unit="min",
    ),
    tables.bracketed_units: Expected({"nodes": Role.MACHINES, "memory (GB)": Role.MEMORY}, "time (min)", unit="min"),
    tables.french_price: Expected(
        {"Machines": Role.MACHINES, "Mémoire": Role.MEMORY}, "Temps d'exécution", failed={Outcome.ERROR: 1}
    ),
    tables.training_log: Expected({"lr": Role.OTHER, "bs": Role.OTHER, "optimizer": Role.OTHER}, "wall_s"),
    tables.indian: Expected(
        {"Nodes": Role.MACHINES, "RAM (GB)": Role.MEMORY}, "Time (mins)", {"Cost": Kind.MONEY}, unit="min"
    ),
    tables.seconds_alone: Expected({"gpus": Role.MACHINES, "batch": Role.BATCH}, "sec", {"acc": Kind.SHARE}),
}


@pytest.mark.parametrize("table", READ, ids=lambda table: table.__name__)
def test_a_table_of_another_country_or_tool_is_read_as_it_is_meant(tmp_path: Path, table: Callable[[], str]) -> None:
    expected, data = READ[table], read(tmp_path, table).dataset
    words = data.vocabulary
    assert {name: words.role(name) for name in data.factors} == expected.settings
    assert {name: words.response(name).kind for name in data.responses} == {expected.time: Kind.TIME, **expected.others}
    assert (words.time, words.response(expected.time).unit) == (expected.time, expected.unit)
    assert Counter(run.outcome for run in data.observations if not run.ok) == expected.failed


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        (tables.fused, r"each row of cluster(.|\n)*4x|2x m5.1xlarge(.|\n)*roles=", {"roles": {"cluster": "other"}}),
        (tables.command_lines, r"each row of Command(.|\n)*--num-executors 2(.|\n)*roles=", {"factors": ["Command"]}),
        (tables.catalan, r"'Estat': unknown outcome 'correcte'(.|\n)*outcomes=", {"outcomes": {"correcte": "ok"}}),
        (tables.clusters, r"no run(.|\n)*ignore=\['State'\]", {"ignore": ["State"]}),
        (lambda: tables.numbers_for_none("999999"), r"'999999' looks like no time(.|\n)*na=", {"na": ["999999"]}),
        (lambda: tables.numbers_for_none("0"), r"'0' is no time that a run takes(.|\n)*na=", {"na": ["0"]}),
    ],
)
def test_what_may_not_be_meant_is_asked_with_the_option_that_answers_it(
    tmp_path: Path, table: Callable[[], str], question: str, answer: dict[str, Any]
) -> None:
    with pytest.raises(StudyError, match=question):
        read(tmp_path, table)
    assert read(tmp_path, table, **answer).dataset.observations


def test_a_third_setting_of_a_plan_stays_one_though_the_others_determine_it(tmp_path: Path) -> None:
    """In a Latin square each of its values comes once with each value of the two others."""
    rows = [
        f"{n},{m},{'abc'[(i + j) % 3]},{60 / n + m}" for i, n in enumerate((1, 2, 4)) for j, m in enumerate((2, 4, 8))
    ]
    data = read(tmp_path, lambda: "\n".join(["nodes,memory_gb,codec,time_s", *rows])).dataset
    assert data.factors == ("nodes", "memory_gb", "codec")


def test_a_text_that_one_setting_determines_stays_a_name_of_it(tmp_path: Path) -> None:
    rows = [f"{n},{'few' if n == 1 else 'many'},{m},{60 / n + m}" for n in (1, 2, 4) for m in (2, 4, 8)]
    data = read(tmp_path, lambda: "\n".join(["nodes,size_of_cluster,memory_gb,time_s", *rows])).dataset
    assert data.factors == ("nodes", "size_of_cluster", "memory_gb")


def test_ditto_marks_repeat_what_stands_above_them(tmp_path: Path) -> None:
    data = read(tmp_path, tables.ditto)
    assert [run.configuration["executors"] for run in data.dataset.observations] == [1] * 3 + [2] * 3 + [4] * 3
    assert data.understood is not None
    assert data.understood.notes == ("6 ditto marks read as the value above",)


def test_a_run_that_began_before_midnight_and_ended_after_it_took_minutes(tmp_path: Path) -> None:
    times = [run.responses["time_s"] for run in read(tmp_path, tables.over_midnight).dataset.observations]
    assert times == [60 * (60 // n + 8 // m) for n in (1, 2, 4) for m in (2, 4, 8)]


def test_a_mean_is_read_without_its_spread(tmp_path: Path) -> None:
    data = read(tmp_path, tables.spread).dataset
    assert [run.responses["runtime (s)"] for run in data.observations][:3] == [610.0, 605.0, 602.5]


def test_times_of_zero_that_were_rounded_are_read(tmp_path: Path) -> None:
    data = read(tmp_path, lambda: "executors,time_s\n1,2\n2,1\n4,0\n8,0\n").dataset
    assert [run.responses["time_s"] for run in data.observations] == [2, 1, 0, 0]


def test_names_of_runs_that_repeat_their_settings_are_no_question(tmp_path: Path) -> None:
    rows = [f"nodes{n}_mem{m},{n},{m},{60 / n + m}" for n in (1, 2, 4) for m in (2, 4, 8)]
    data = read(tmp_path, lambda: "\n".join(["tag,nodes,memory_gb,time_s", *rows])).dataset
    assert data.factors == ("nodes", "memory_gb")


@pytest.mark.parametrize(
    ("heading", "plain", "unit"),
    [
        ("$/h", "usd_per_h", "per hour"),
        ("Throughput (MB/s)", "throughput_mb_per_s", "mb/s"),
        ("Cores (per node)", "cores_per_node", ""),
        ("Время выполнения, с", "time_run_s", "s"),
        ("소요시간(초)", "duration_s", "s"),
        ("vCPU(s)", "vcpus", ""),
        ("wait [ns]", "wait_ns", "ns"),
    ],
)
def test_rates_and_units_of_headings_are_read(heading: str, plain: str, unit: str) -> None:
    assert (plain_name(heading), unit_in_name(heading)) == (plain, unit)


@pytest.mark.parametrize(
    ("cell", "seconds"), [("1h42", 6120.0), ("0h05", 300.0), ("2 h 07", 7620.0), ("4:05.25", 245.25)]
)
def test_hours_with_bare_minutes_and_minutes_with_fractions_are_clocks(cell: str, seconds: float) -> None:
    clock = read_cell(cell)
    assert isinstance(clock, Clock)
    assert clock.seconds(starts_with_hours=False) == pytest.approx(seconds)


@pytest.mark.parametrize(("cell", "seconds"), [("5 мин", 300.0), ("3 분", 180.0), ("1 ч 10 мин", 4200.0)])
def test_times_with_units_of_other_scripts_are_read(tmp_path: Path, cell: str, seconds: float) -> None:
    data = read(tmp_path, lambda: f"nodes,time\n1,{cell}\n2,{cell}\n").dataset
    assert data.observations[0].responses["time"] == seconds
