"""Tables as strangers keep them: read right, or a question with the option that answers it, never wrong in silence."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import strangers_support as tables
from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.study import Kind, Outcome, Role
from strangers_support import Expected, read

READ: dict[Callable[[], str], Expected] = {
    tables.german_spreadsheet: Expected(
        {"Knoten": Role.MACHINES, "Datengröße [GB]": Role.DATA_SIZE},
        "Laufzeit [min]",
        {"Fehlerrate": Kind.OTHER},
        unit="min",
    ),
    tables.french_spreadsheet: Expected(
        {"Nb d'exécuteurs": Role.MACHINES, "Taille des données": Role.DATA_SIZE},
        "Durée (s)",
        {"Coût (€)": Kind.MONEY, "Précision": Kind.SHARE},
        {Outcome.ERROR: 2},
    ),
    tables.spanish_spreadsheet: Expected(
        {"Nodos": Role.MACHINES, "Tamaño (GB)": Role.DATA_SIZE},
        "Duración",
        {"Costo (USD)": Kind.MONEY, "Exactitud": Kind.SHARE},
        {Outcome.ERROR: 1},
    ),
    tables.portuguese_table: Expected(
        {"máquinas": Role.MACHINES, "tipo de máquina": Role.MACHINE_TYPE, "linhas": Role.DATA_SIZE},
        "tempo (s)",
        {"acurácia": Kind.SHARE},
        {Outcome.ERROR: 2},
    ),
    tables.italian_spreadsheet: Expected(
        {"nodi": Role.MACHINES, "memoria (GB)": Role.MEMORY},
        "durata (min)",
        {"costo (€)": Kind.MONEY},
        {Outcome.OOM: 1},
        unit="min",
    ),
    tables.airflow: Expected({"num_executors": Role.MACHINES}, "duration", failed={Outcome.ERROR: 2}),
    tables.databricks: Expected(
        {"num_workers": Role.MACHINES, "node_type_id": Role.MACHINE_TYPE},
        "run_duration",
        {"execution_duration": Kind.TIME},
        {Outcome.TIMEOUT: 1, Outcome.ERROR: 1},
        unit="ms",
    ),
    tables.mlflow_export: Expected(
        {"executors": Role.MACHINES, "batch_size": Role.BATCH},
        "time_s",
        {"val_acc": Kind.SHARE, "loss": Kind.OTHER},
        {Outcome.ERROR: 1},
    ),
    tables.history_server: Expected({"spark.executor.instances": Role.MACHINES}, "Duration"),
    tables.yarn: Expected(
        {"executorMemoryMB": Role.MEMORY, "executorCores": Role.CORES},
        "elapsedTime",
        failed={Outcome.ERROR: 2},
        unit="ms",
    ),
    tables.emr_steps: Expected(
        {"Core nodes": Role.MACHINES, "Input": Role.DATA_SIZE}, "Elapsed time", failed={Outcome.ERROR: 2}
    ),
    tables.gpu_training: Expected(
        {"n_accelerators": Role.MACHINES, "batch_size": Role.BATCH},
        "train_hours",
        {"train_loss": Kind.OTHER, "val_loss": Kind.OTHER, "top1": Kind.SHARE},
        unit="h",
    ),
    tables.wandb_export: Expected(
        {"batch_size": Role.BATCH, "learning_rate": Role.OTHER, "num_workers": Role.MACHINES},
        "Runtime",
        {"_runtime": Kind.TIME, "val_accuracy": Kind.SHARE, "val_loss": Kind.OTHER},
        {Outcome.ERROR: 2},
    ),
    tables.benchmark: Expected(
        {"vCPUs": Role.CORES, "k": Role.OTHER}, "elapsed (s)", {"precision": Kind.SHARE, "recall": Kind.SHARE}
    ),
    tables.costs: Expected(
        {"workers": Role.MACHINES, "ram": Role.MEMORY}, "minutes", {"cost_usd": Kind.MONEY}, unit="min"
    ),
    tables.units_below_the_header: Expected(
        {"nodes": Role.MACHINES, "input (GB)": Role.DATA_SIZE}, "duration (h)", {"cost (USD)": Kind.MONEY}, unit="h"
    ),
    tables.commented_header: Expected(
        {"machine": Role.MACHINE_TYPE, "scaleout": Role.MACHINES, "dataset_size_bytes": Role.DATA_SIZE},
        "walltime",
        {"test_error": Kind.OTHER},
    ),
    tables.slurm: Expected(
        {"AllocNodes": Role.MACHINES, "CPUsPerNode": Role.CORES},
        "Elapsed",
        failed={Outcome.TIMEOUT: 1, Outcome.ERROR: 1, Outcome.OOM: 1},
    ),
    tables.words_for_times: Expected(
        {"executors": Role.MACHINES, "memory": Role.MEMORY},
        "run time",
        failed={Outcome.ERROR: 1, Outcome.TIMEOUT: 1, Outcome.OOM: 1},
    ),
    tables.more_than_the_limit: Expected(
        {"executors": Role.MACHINES, "rows": Role.DATA_SIZE}, "runtime", failed={Outcome.TIMEOUT: 3}
    ),
    tables.exit_codes: Expected(
        {"num_cores": Role.CORES, "mem_gb": Role.MEMORY}, "wall_clock", failed={Outcome.ERROR: 1}
    ),
    tables.mixed_booleans: Expected({"executors": Role.MACHINES, "spark.speculation": Role.OTHER}, "time_s"),
}


@pytest.mark.parametrize("table", READ, ids=lambda table: table.__name__)
def test_a_table_of_strangers_is_read_as_they_mean_it(tmp_path: Path, table: Callable[[], str]) -> None:
    expected, data = READ[table], read(tmp_path, table).dataset
    words = data.vocabulary
    assert {name: words.role(name) for name in data.factors} == expected.settings
    assert {name: words.response(name).kind for name in data.responses} == {expected.time: Kind.TIME, **expected.others}
    assert (words.time, words.response(expected.time).unit) == (expected.time, expected.unit)
    assert Counter(run.outcome for run in data.observations if not run.ok) == expected.failed


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        (tables.wiki, "Cluster is empty below each of its values(.|\n)*fill_down=", {"fill_down": ["Cluster"]}),
        (tables.two_jobs, "k is empty exactly where job is logreg(.|\n)*where=", {"where": {"job": "kmeans"}}),
    ],
)
def test_what_a_table_leaves_open_is_asked_with_the_option_that_answers_it(
    tmp_path: Path, table: Callable[[], str], question: str, answer: dict[str, Any]
) -> None:
    with pytest.raises(StudyError, match=question):
        read(tmp_path, table)
    assert read(tmp_path, table, **answer).dataset.observations


def test_merged_cells_are_filled_down_when_asked(tmp_path: Path) -> None:
    data = read(tmp_path, tables.wiki, fill_down=["Cluster"]).dataset
    assert data.factors == ("Cluster", "Executors", "Input (GB)")
    assert [run.configuration["Cluster"] for run in data.observations] == ["small"] * 4 + ["large"] * 4
    assert data.observations[0].responses["Runtime"] == 331


def test_one_of_two_jobs_is_read_with_its_own_settings(tmp_path: Path) -> None:
    data = read(tmp_path, tables.two_jobs, where={"job": "kmeans"})
    assert data.dataset.factors == ("nodes", "k")
    assert data.understood is not None
    assert "6 of 12 rows have job=kmeans" in data.understood.notes
    assert read(tmp_path, tables.two_jobs, where={"job": "logreg"}).dataset.factors == ("nodes", "reg_param")
    with pytest.raises(StudyError, match=r"no row has job=grep(.|\n)*kmeans, logreg"):
        read(tmp_path, tables.two_jobs, where={"job": "grep"})


def test_a_memory_of_few_has_gibibytes_and_it_is_said(tmp_path: Path) -> None:
    data = read(tmp_path, tables.costs)
    assert data.dataset.vocabulary.setting("ram").bytes(61) == 61 * 2**30
    assert data.understood is not None
    assert "taken as GiB; or `roles={'ram': 'memory:mb'}`" in dict(data.understood.settings)["ram"]
    # Nothing says that the memory of a worker is that of an executor.
    launch = api.recommend(data, within_s=3600, minimize="minutes", model="ridge").launch
    assert launch.properties == {}
    assert "not Spark properties, so set them yourself: workers=8, ram=30" in launch.notes


def test_a_memory_of_executors_is_passed_to_spark_in_the_unit_it_was_taken_as(tmp_path: Path) -> None:
    data = read(tmp_path, lambda: tables.costs().replace("workers", "executors"))
    recommended = api.recommend(data, within_s=3600, minimize="minutes", model="ridge")
    assert recommended.launch.properties == {"spark.executor.instances": "8", "spark.executor.memory": "30g"}
