"""Settings of the cluster that a run would not get, refused before anything starts."""

from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.runs.control import ineffective_roles, require_control
from sparkcast.study import Configuration, Role, SparkOptions, Study
from sparkcast.workloads.pi import MonteCarloPi

STUDY = """\
study: s
workload: pi
settings:
  executors: [1, 4]
  samples: 1000
spark:
  master: local[1]
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "s.yaml").write_text(STUDY)
    return tmp_path / "s.yaml"


def _notes(master: str, *jobs: dict[str, int | str], conf: dict[str, str] | None = None) -> tuple[str, ...]:
    study = Study("s", "pi", (), spark=SparkOptions(master, conf or {}))
    return require_control(study, MonteCarloPi(), [Configuration(job) for job in jobs])


@pytest.mark.parametrize("command", [api.plan, api.run, api.dry_run, api.tune])
def test_executors_that_vary_in_local_mode_are_refused_by_every_command(command: object, study: Path) -> None:
    assert callable(command)
    with pytest.raises(StudyError, match=r"s.yaml line 4: executors varies, but has no effect: local\[1\]") as caught:
        command(study)
    assert "embedded" in caught.value.hint
    assert not (study.parent / "s.results" / "runs").exists()


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]", "local[2,3]", "local[ 2 ]"])
def test_every_form_of_local_mode_is_known(master: str) -> None:
    with pytest.raises(StudyError, match="executors and cores vary, but have no effect"):
        _notes(master, {"executors": 1, "cores": 2}, {"executors": 2, "cores": 1})


def test_a_master_url_that_only_begins_like_local_mode_is_refused() -> None:
    with pytest.raises(StudyError, match="not a master URL"):
        _notes("local[two]", {"executors": 1})


def test_cores_alone_that_vary_in_local_mode_are_refused() -> None:
    with pytest.raises(StudyError, match=r"cores varies, but has no effect: local\[2\] .* with 2 cores"):
        _notes("local[2]", {"cores": 1}, {"cores": 2})


def test_local_mode_is_fine_where_the_cluster_is_constant_and_says_what_it_ignores() -> None:
    assert _notes("local[1]", {"samples": 10}, {"samples": 20}) == ()
    [note] = _notes("local[2]", {"samples": 10}, {"samples": 20})
    assert (
        note
        == "local[2] runs everything in one process with 2 cores: executors=1, cores=1 of this study have no effect"
    )
    assert _notes("local[2]", {"cores": 2}) == ()


def test_memory_that_varies_in_local_mode_is_noted() -> None:
    [note] = _notes("local[1]", {"memory": "1g"}, {"memory": "2g"})
    assert "memory has no effect" in note


def test_a_note_about_local_mode_is_among_those_of_the_design(study: Path) -> None:
    study.write_text(STUDY.replace("[1, 4]", "4").replace("1000", "[10, 20]"))
    assert "executors=4, cores=1 of this study have no effect" in " ".join(api.plan(study).notes)


@pytest.mark.parametrize("master", ["embedded", "spark://host:7077", "yarn", "local-cluster[2,1,1024]"])
def test_clusters_may_have_executors_that_vary(master: str) -> None:
    assert _notes(master, {"executors": 1}, {"executors": 2}) == ()


# ---------------------------------------------------------------- properties of the user


def test_dynamic_allocation_is_refused_where_executors_vary() -> None:
    on = {"spark.dynamicAllocation.enabled": "true"}
    with pytest.raises(
        StudyError, match=r"executors varies, but with spark\.dynamicAllocation\.enabled=true"
    ) as caught:
        _notes("yarn", {"executors": 1}, {"executors": 2}, conf=on)
    assert "=false" in caught.value.hint
    assert _notes("yarn", {"executors": 1}, {"executors": 1}, conf=on) == ()
    assert _notes("yarn", {"executors": 1}, {"executors": 2}, conf={**on, next(iter(on)): "false"}) == ()


def test_dynamic_allocation_may_be_a_factor_itself_but_not_be_held_on() -> None:
    on, off = ({"spark.dynamicAllocation.enabled": text} for text in ("true", "false"))
    assert _notes("yarn", {"executors": 1, **on}, {"executors": 2, **on}, {"executors": 2, **off}) == ()
    with pytest.raises(StudyError, match="Spark itself decides"):
        _notes("yarn", {"executors": 1, **on}, {"executors": 2, **on})


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("spark.executor.instances", "executors"),
        ("spark.cores.max", "executors"),
        ("spark.executor.cores", "cores"),
        ("spark.executor.memory", "memory"),
    ],
)
def test_a_property_that_replaces_a_setting_that_varies_is_refused(name: str, setting: str) -> None:
    first, second = {setting: "1g" if setting == "memory" else 1}, {setting: "2g" if setting == "memory" else 2}
    with pytest.raises(StudyError, match=f"{setting} varies, but your {name}=2 replaces it"):
        _notes("yarn", first, second, conf={name: "2"})
    assert _notes("yarn", first, first, conf={name: "2"}) == ()


@pytest.mark.parametrize(
    ("options", "roles"),
    [
        (SparkOptions("yarn"), ()),
        (SparkOptions("local[2]"), (Role.MACHINES, Role.CORES, Role.MEMORY)),
        (SparkOptions("local-cluster[2,1,1024]"), ()),
        (SparkOptions("yarn", {"spark.executor.memory": "2g", "spark.ui.enabled": "false"}), (Role.MEMORY,)),
        (SparkOptions("yarn", {"spark.cores.max": "2"}), (Role.MACHINES,)),
    ],
)
def test_the_settings_that_runs_do_not_heed_are_known(options: SparkOptions, roles: tuple[Role, ...]) -> None:
    assert ineffective_roles(Study("s", "pi", (), spark=options)) == frozenset(roles)


COMMAND = """\
study: c
workload: command
command: {application: train.py, arguments: ["{rows}"], properties_file: train.conf}
settings: {executors: EXECUTORS, rows: 1000}
spark: {master: "spark://127.0.0.1:1"}
"""


def _lines(folder: Path, executors: str, properties: str) -> list[str]:
    (folder / "c.yaml").write_text(COMMAND.replace("EXECUTORS", executors))
    (folder / "train.py").write_text("")
    (folder / "train.conf").write_text(properties)
    return api.dry_run(folder / "c.yaml")


def test_dynamic_allocation_is_off_unless_the_user_says_otherwise(study: Path, tmp_path: Path) -> None:
    off = "--conf spark.dynamicAllocation.enabled=false"
    assert all(off in line for line in api.dry_run(study, master="spark://127.0.0.1:1"))
    study.write_text(STUDY.replace("[1, 4]", "2"))
    [line] = api.dry_run(study, conf={"spark.dynamicAllocation.enabled": "true"})
    assert "spark.dynamicAllocation.enabled=true" in line
    assert off not in line
    assert "spark.executor.instances" not in line  # it would begin with the most it may have
    [line] = _lines(tmp_path, "2", "spark.ui.enabled false\n")
    assert off in line
    [line] = _lines(tmp_path, "2", "spark.dynamicAllocation.enabled true\n")
    assert off not in line


def test_a_factor_of_dynamic_allocation_reaches_its_runs(study: Path) -> None:
    study.write_text(STUDY.replace("executors: [1, 4]", "spark.dynamicAllocation.enabled: ['true', 'false']"))
    lines = api.dry_run(study, master="spark://127.0.0.1:1")
    assert sorted("spark.dynamicAllocation.enabled=true" in line for line in lines) == [False, True]


def test_a_properties_file_of_the_job_counts_as_the_users_word(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="Spark itself decides"):
        _lines(tmp_path, "[1, 2]", "spark.dynamicAllocation.enabled true\n")


@pytest.mark.parametrize("master", ["embedded", "spark://host:7077", "local-cluster[2,4,1024]"])
def test_an_executor_with_more_cores_than_all_may_have_is_refused(master: str) -> None:
    with pytest.raises(
        StudyError, match=r"your spark.executor.cores=4 is above spark.cores.max=2, the cores"
    ) as caught:
        _notes(master, {"executors": 2}, conf={"spark.executor.cores": "4"})
    assert "executors and cores" in caught.value.hint
    with pytest.raises(StudyError, match=r"spark.executor.cores=2 is above your spark.cores.max=1"):
        _notes(master, {"executors": 2, "cores": 2}, conf={"spark.cores.max": "1"})
    assert _notes(master, {"executors": 2}, conf={"spark.executor.cores": "2"}) == ()
    assert _notes(master, {"executors": 2}, conf={"spark.executor.cores": "4", "spark.cores.max": "8"}) == ()


def test_other_clusters_do_not_limit_all_cores() -> None:
    assert _notes("yarn", {"executors": 2}, conf={"spark.executor.cores": "4"}) == ()


def test_a_study_without_event_logs_is_refused_because_nothing_would_be_measured() -> None:
    with pytest.raises(StudyError, match="all times come from the event log"):
        _notes("local[1]", {"samples": 10}, conf={"spark.eventLog.enabled": "FALSE"})
    assert _notes("local[1]", {"samples": 10}, conf={"spark.eventLog.enabled": "true"}) == ()
