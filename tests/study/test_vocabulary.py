"""What names mean: who says so, in which order, and what a mistake gets."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.plain import from_plain
from sparkcast.study import Dataset, Kind, Observation, Response, Role, Setting, Study, Vocabulary
from sparkcast.study.application import RUN_TIMES
from sparkcast.study.file import parse_study
from sparkcast.study.names import completed, in_usual_units, usual_vocabulary
from sparkcast.workloads import Shape, complete, resolve, settings_of, shape_of, vocabulary_of
from sparkcast.workloads.base import TIME, WORKLOADS, Configuration, Job

STUDY = """\
study: s
workload: hosted
settings:
  hosts: [1, 2]
  rows: [1000, 2000]
responses:
  - minutes
  - auc: {kind: share, better: more}
roles:
  minutes: time
  rows: data-size
"""


class Hosted:
    """A job that calls its executors hosts."""

    settings: tuple[Setting, ...] = (
        Setting("hosts", 3, "machines", minimum=1, role=Role.MACHINES),
        Setting("rows", 1000, "records", minimum=1),
    )
    responses: tuple[Response, ...] = (Response("minutes"), Response("auc"))
    example: Mapping[str, object] = {}

    def check(self, settings: Configuration) -> None: ...

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        return ""

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        return {}

    def run(self, job: Job) -> None: ...


@pytest.fixture(autouse=True)
def _hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    WORKLOADS.names()
    monkeypatch.setitem(WORKLOADS._classes, "hosted", Hosted)


# ---------------------------------------------------------------- usual names


@pytest.mark.parametrize("names", list(permutations(["n_gpus", "executors", "machines"])))
def test_of_several_usual_names_of_one_thing_the_earlier_in_the_table_counts(names: tuple[str, ...]) -> None:
    words = usual_vocabulary(names, [])
    assert words.first(Role.MACHINES) == "machines"
    assert words.first(Role.MACHINES, among=["n_gpus", "executors"]) == "executors"


@pytest.mark.parametrize(
    ("names", "role", "first"),
    [
        (["fraction", "data_size", "sampling_rate"], (Role.FRACTION, Role.DATA_SIZE), "sampling_rate"),
        (["fraction", "rows"], (Role.FRACTION, Role.DATA_SIZE), "rows"),
        (["size_gb", "fraction"], (Role.FRACTION, Role.DATA_SIZE), "fraction"),
        (["iterations", "epochs"], (Role.EPOCHS, Role.ITERATIONS), "epochs"),
        (["cpu", "executor_cores"], (Role.CORES,), "executor_cores"),
        (["color"], (Role.MACHINES,), None),
    ],
)
def test_the_order_of_the_table_goes_across_roles(names: list[str], role: tuple[Role, ...], first: str | None) -> None:
    assert usual_vocabulary(names, []).first(*role) == first


def test_responses_have_a_usual_kind_too() -> None:
    words = usual_vocabulary([], ["auc", "total_s", "accuracy", "cost", "time_s", "throughput"])
    assert (words.time, words.money, words.quality) == ("total_s", "cost", "accuracy")
    assert words.response("throughput").better == "more"
    assert words.response("auc").kind is Kind.SHARE


@pytest.mark.parametrize(
    ("name", "kind", "unit"),
    [
        ("stage_ms", Kind.TIME, "ms"),
        ("minutes", Kind.TIME, "min"),
        ("took_h", Kind.TIME, "h"),
        ("read_bytes_per_s", Kind.OTHER, "bytes/s"),
        ("gc_percent", Kind.OTHER, "%"),
        ("loss", Kind.OTHER, ""),
    ],
)
def test_the_unit_a_name_ends_in_is_its_unit(name: str, kind: Kind, unit: str) -> None:
    found = usual_vocabulary([], [name]).response(name)
    assert (found.kind, found.unit) == (kind, unit)


def test_a_role_without_a_unit_has_the_one_that_the_name_ends_in() -> None:
    roles = {"minutes": "time", "took_h": "time:s", "ram_gb": "memory", "hosts": "machines", "auc": "share"}
    words = Vocabulary().assigning(in_usual_units(roles))
    assert [words.response(name).unit for name in ("minutes", "took_h", "auc")] == ["min", "s", "share"]
    assert words.setting("ram_gb").bytes(4) == 4 * 2**30


# ---------------------------------------------------------------- who says it


def test_what_is_declared_comes_before_what_is_usual() -> None:
    declared = Vocabulary((Setting("pods", role=Role.MACHINES),), (Response("auc", kind=Kind.SHARE),))
    words = completed(declared, ["executors", "pods", "cores"], ["accuracy", "auc", "time_s"])
    assert (words.first(Role.MACHINES), words.quality, words.time) == ("pods", "auc", "time_s")
    assert words.role("executors") is Role.MACHINES
    assert words.first(Role.CORES) == "cores"


def test_a_declaration_replaces_the_usual_meaning_of_its_own_name() -> None:
    words = completed(Vocabulary((Setting("executors"),)), ["executors"], [])
    assert words.first(Role.MACHINES) is None


def test_data_know_the_usual_meaning_of_every_setting_that_nobody_declared() -> None:
    declared = Vocabulary((Setting("pods", role=Role.MACHINES),), (Response("took", kind=Kind.TIME),))
    data = Dataset(("pods",), (Observation({"pods": 1, "cores": 2}, {"took": 1.0}),), "d", ("took",), declared)
    assert data.vocabulary.first(Role.CORES) == "cores"
    assert data.vocabulary.first(Role.MACHINES) == "pods"


def test_roles_are_given_in_words_with_a_unit_where_one_is_needed() -> None:
    words = usual_vocabulary(["hosts", "executors"], ["minutes", "auc"]).assigning(
        {"hosts": "machines", "minutes": "time:min", "auc": " share "}
    )
    assert (words.first(Role.MACHINES), words.time, words.quality) == ("hosts", "minutes", "auc")
    assert words.response("minutes").seconds(2) == 120
    assert words.setting("hosts").unit == "number"


def test_a_role_makes_a_setting_of_a_response_and_the_other_way_round() -> None:
    words = usual_vocabulary(["auc"], ["cost"]).assigning({"auc": "share", "cost": "batch"})
    assert [setting.name for setting in words.settings] == ["cost"]
    assert [response.name for response in words.responses] == ["auc"]


def test_other_takes_a_usual_meaning_away() -> None:
    words = usual_vocabulary(["executors"], ["cost"]).assigning({"executors": "other", "cost": "other"})
    assert words.first(Role.MACHINES) is None
    assert words.money is None
    assert words.response("cost").kind is Kind.OTHER


@pytest.mark.parametrize(
    ("role", "words"),
    [
        ("machine", "hosts cannot have the role 'machine'(.|\n)*did you mean 'machines'"),
        ("shre", "did you mean 'share'"),
        ("qqq", "known: machines, cores, total-cores, memory, machine-type, .*, time, money, share, count"),
        ("", "no such role"),
        ("time:year", "is a time in the unknown unit 'year'(.|\n)*use ns, us, ms, s, min, h, d"),
    ],
)
def test_a_mistyped_role_gets_the_nearest_one(role: str, words: str) -> None:
    with pytest.raises(StudyError, match=words):
        Vocabulary().assigning({"hosts": role})


def test_a_vocabulary_survives_as_plain_data() -> None:
    words = usual_vocabulary(["memory_gb", "executors", "color"], ["minutes", "accuracy", "cost", "loss"])
    again = from_plain(Vocabulary, words.as_plain())
    assert again == words
    assert again.setting("memory_gb").bytes(2) == 2**31
    told = vocabulary_of(WORKLOADS.get("mnist-training")())
    plain = from_plain(Vocabulary, told.as_plain())
    assert plain.as_plain() == told.as_plain()


def test_without_a_time_the_hint_says_how_to_name_one() -> None:
    with pytest.raises(NotEnoughDataError, match=r"none of the responses is a time(.|\n)*`roles={NAME: 'time'}`"):
        usual_vocabulary([], ["auc"]).required_time()


# ---------------------------------------------------------------- study files


def test_a_study_file_says_what_its_names_mean() -> None:
    study = resolve(parse_study(STUDY))
    words = study.vocabulary
    assert (words.first(Role.MACHINES), words.first(Role.DATA_SIZE)) == ("hosts", "rows")
    assert (words.time, words.quality) == ("minutes", "auc")
    assert words.response("minutes").seconds(1) == 60
    assert words.response("auc").better == "more"
    assert study.measured_definition() == resolve(replace(parse_study(STUDY), roles={})).measured_definition()


def test_a_response_with_a_formula_may_have_a_meaning() -> None:
    text = STUDY.replace("  - minutes\n", "  - minutes\n  - bill: {formula: minutes * 2, kind: money, unit: EUR}\n")
    study = resolve(parse_study(text))
    assert study.vocabulary.money == "bill"
    assert study.responses[1].value({"minutes": 3.0}) == 6.0


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("rows: data-size", "row: data-size", 11, ["no setting or response 'row'", "did you mean 'rows'"]),
        ("rows: data-size", "rows: datasize", 11, ["rows cannot have the role 'datasize'", "did you mean 'data-size'"]),
        ("rows: data-size", "rows: time", 11, ["rows is a setting and cannot have the role 'time'", "data-size"]),
        (
            "minutes: time",
            "minutes: machines",
            10,
            ["minutes is a response and cannot have the role 'machines'", "share"],
        ),
        ("minutes: time", "minutes: time:weeks", 10, ["a time in the unknown unit 'weeks'", "min"]),
        ("rows: data-size", "rows: [data-size]", 11, ["roles.rows", "hosts: machines"]),
        ("kind: share", "kind: shares", 8, ["kind = 'shares'", "'share'"]),
        ("kind: share", "kinds: share", 8, ["unknown key", "did you mean 'kind'"]),
        ("better: more", "better: much", 8, ["better = 'much'", "'less' or 'more'"]),
    ],
)
def test_a_meaning_that_cannot_be_is_named_with_its_line(old: str, new: str, line: int, words: list[str]) -> None:
    with pytest.raises(StudyError) as caught:
        resolve(parse_study(STUDY.replace(old, new)))
    assert str(caught.value).startswith(f"study.yaml line {line}: ")
    for word in words:
        assert word in str(caught.value)


# ---------------------------------------------------------------- workloads


def test_a_setting_of_a_workload_replaces_that_of_the_cluster_with_the_same_role() -> None:
    names = [setting.name for setting in settings_of(Hosted())]
    assert "hosts" in names
    assert "executors" not in names
    assert {"cores", "memory", "jobs"} <= set(names)
    assert complete(Hosted(), {})["hosts"] == 3
    with pytest.raises(StudyError, match="has no setting 'executors'"):
        resolve(Study("s", "hosted", (), Configuration({"executors": 2})))


def test_the_cluster_is_asked_for_what_the_roles_say() -> None:
    shape = shape_of(Hosted(), {"hosts": 4, "cores": 2, "memory": "2048m"})
    assert shape == Shape(executors=4, cores=2, memory="2g", jobs=1)
    assert shape_of(WORKLOADS.get("pi")(), {"executors": 2}) == Shape(executors=2, cores=1, memory="1g", jobs=1)


def test_a_setting_to_which_its_workload_gives_no_role_has_none() -> None:
    words = resolve(Study("s", "hosted", (), responses=(TIME,))).vocabulary
    assert usual_vocabulary(["rows"], []).role("rows") is Role.DATA_SIZE
    assert words.role("rows") is Role.OTHER


def test_the_other_time_stands_beside_one_by_what_they_span() -> None:
    total, jobs = (response.span for response in RUN_TIMES[:2])
    names = ("life", "work", "wait")
    spans = (total, jobs, "from arrival to start")
    words = Vocabulary(
        responses=tuple(Response(n, kind=Kind.TIME, span=s) for n, s in zip(names, spans, strict=True))
    ).declaring(Vocabulary(responses=(Response("other", kind=Kind.TIME),)))
    assert [words.time_beside(name, names) for name in (*names, "other")] == ["work", "life", None, None]
    assert words.time_beside("life", ["wait", "other"]) is None
