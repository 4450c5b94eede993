"""The same study under other names: numbers depend on what names mean, never on the names."""

import json
import math
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sparkcast import api, report
from sparkcast.engines import SparkJob, Submission
from sparkcast.errors import InfeasibleError
from sparkcast.learned.knowledge import Knowledge, knowledge_of
from sparkcast.observe.host import HostSampler
from sparkcast.report import ReportContent
from sparkcast.runs import site
from sparkcast.store import results_folder
from sparkcast.study import Observation, Price
from sparkcast.study.series import HostSeries
from sparkcast.workloads.base import (
    ACCURACY,
    TIME,
    WORKLOADS,
    Configuration,
    Job,
    Kind,
    Response,
    Role,
    Setting,
)
from tests_support import Call, Play, PlayedEngine, Settings, advice, registered

USUAL = ("executors", "cores", "memory", "batch_size", "data_size", "time_s", "accuracy", "jobs")
OTHER = ("hosts", "threads", "ram", "chunk", "volume", "minutes", "auc", "at_once")
BACK = dict(zip(OTHER, USUAL, strict=True))
ROLES = {
    "hosts": "machines",
    "threads": "cores",
    "ram": "memory",
    "chunk": "batch",
    "volume": "data-size",
    "minutes": "time:s",  # in seconds, whatever the name says
    "auc": "share",
}
PRICE = Price(core_hour=0.5, gib_hour=0.05)
WORD = re.compile(rf"(--)?(?<![A-Za-z_])({'|'.join(OTHER)})(?![A-Za-z_])")


def law(machines: float, cores: float, batch: float, size: float) -> tuple[float, float]:
    """Seconds and quality."""
    seconds = 3 + size / 60 / (machines * cores) * (64 / batch) ** 0.3 + 0.4 * machines
    return seconds, 0.97 - 0.02 * math.log2(batch / 64) + 0.005 * math.log(size / 1000)


def rows(unit_s: float = 1.0) -> list[str]:
    """24 runs, two of each configuration; times in this unit."""
    dice, lines = random.Random(1), []
    for i, (machines, batch, size) in enumerate(product((1, 2, 4), (64, 256), (1000, 4000))):
        cores, memory = (1, 2)[(i + i // 4) % 2], ("1g", "4g")[(i // 2 + i // 6) % 2]
        for _ in range(2):
            seconds, quality = law(machines, cores, batch, size)
            seconds, quality = seconds * math.exp(dice.gauss(0, 0.05)), quality + dice.gauss(0, 0.004)
            lines.append(f"{machines},{cores},{memory},{batch},{size},{seconds / unit_s!r},{quality!r}")
    return lines


def table(path: Path, names: tuple[str, ...], unit_s: float = 1.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([",".join(names[:7]), *rows(unit_s)]) + "\n")
    return path


def plain(value: Any) -> Any:
    """As plain data, under the usual names; what names mean is left out."""
    if isinstance(value, api.Distribution):
        return plain(value.as_plain())
    if is_dataclass(value) and not isinstance(value, type):
        return plain({f.name: getattr(value, f.name) for f in fields(value)})
    if isinstance(value, Mapping):
        return {plain(str(key)): plain(item) for key, item in value.items() if key != "vocabulary"}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return WORD.sub(lambda word: f"--{BACK[word[2]].replace('_', '-')}" if word[1] else BACK[word[2]], value)
    return "not a number" if isinstance(value, float) and math.isnan(value) else value


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long a fit takes is told with a validation, and is never the same."""
    monkeypatch.setattr("sparkcast.validate.fits.time", SimpleNamespace(perf_counter=lambda: 0.0))


# ---------------------------------------------------------------- a table


@dataclass(frozen=True)
class Twin:
    names: tuple[str, ...]
    data: api.Data
    known: Knowledge  # of the model auto, learned once

    def at(self, *levels: float | str) -> dict[str, float | str]:
        return dict(zip(self.names, levels, strict=False))


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> tuple[Twin, Twin]:
    folder = tmp_path_factory.mktemp("tables")
    loaded = (
        (USUAL, api.load_data(table(folder / "usual" / "runs.csv", USUAL))),
        (OTHER, api.load_data(table(folder / "other" / "runs.csv", OTHER), table=api.TableOptions(roles=ROLES))),
    )
    usual, other = (Twin(names, data, knowledge_of(data)) for names, data in loaded)
    return usual, other


ASKED = ((3, 2, "2g", 128, 3000), (1, 1, "1g", 64, 1000), (6, 2, "4g", 300, 5000))


def test_roles_that_are_given_need_no_usual_name(twins: tuple[Twin, Twin]) -> None:
    usual, other = twins
    assert usual.data.understood is not None
    assert other.data.understood is not None
    assert not usual.data.understood.is_declared
    assert other.data.understood.is_declared


@pytest.mark.parametrize("quality", [False, True])
def test_an_analysis_is_the_same(twins: tuple[Twin, Twin], quality: bool) -> None:
    usual, other = (plain(api.analyze(twin.data, twin.names[6] if quality else None)) for twin in twins)
    assert usual == other
    assert len(usual["rows"]) > 4


@pytest.mark.parametrize("at", ASKED)
@pytest.mark.parametrize("quality", [False, True])
def test_predictions_are_the_same(twins: tuple[Twin, Twin], at: tuple[float | str, ...], quality: bool) -> None:
    usual, other = (
        plain(api.predict(twin.known, twin.at(*at), response=twin.names[6] if quality else None)) for twin in twins
    )
    assert usual == other


@pytest.mark.parametrize("model", ["scaling", "gray-box", "gaussian-process"])
def test_predictions_of_a_model_that_knows_roles_are_the_same(twins: tuple[Twin, Twin], model: str) -> None:
    usual, other = (plain([api.predict(twin.data, twin.at(*at), model=model) for at in ASKED[:2]]) for twin in twins)
    assert usual == other


def test_a_validation_is_the_same(twins: tuple[Twin, Twin]) -> None:
    models = ["scaling", "ridge", "median"]
    usual, other = (plain(api.validate(twin.data, models=models, protocol="kfold:4")) for twin in twins)
    assert usual == other
    assert len(usual["scorecards"]) == 3
    usual, other = (plain(api.validate(twin.data, twin.names[6], models=["ridge"])) for twin in twins)
    assert usual == other


QUESTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"within_s": 30.0},
    {"within_s": 40.0, "price": PRICE},
    {"within_s": 40.0, "min_accuracy": 0.94, "budget": 0.02, "minimize": "cost", "price": PRICE},
    {"budget": 0.01, "price": PRICE},
    {"min_accuracy": 0.95, "confidence": 0.8},
)


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_a_recommendation_is_the_same(twins: tuple[Twin, Twin], question: dict[str, Any]) -> None:
    usual, other = (plain(advice(twin.known, **question)) for twin in twins)
    assert usual == other
    assert len(usual["candidates"]) == 24  # all combinations for the largest data: their size is not chosen
    assert {candidate["configuration"]["data_size"] for candidate in usual["candidates"]} == {4000}
    assert usual["launch"]["properties"]


def test_the_questions_cover_what_limits_cost(twins: tuple[Twin, Twin]) -> None:
    found = [advice(twins[1].known, **question) for question in QUESTIONS]
    assert any(answer.alternatives for answer in found)
    assert any(len(answer.pareto) > 2 for answer in found)
    assert any(0.01 < candidate.probability < 0.99 for answer in found for candidate in answer.candidates)


def test_what_cannot_be_kept_is_explained_in_the_same_way(twins: tuple[Twin, Twin]) -> None:
    told = []
    for twin in twins:
        with pytest.raises(InfeasibleError) as caught:
            advice(twin.known, within_s=4.0, budget=0.001, price=PRICE)
        told.append(plain([caught.value.problem, caught.value.hint]))
    assert told[0] == told[1]


def test_a_model_file_answers_the_same(twins: tuple[Twin, Twin], tmp_path: Path) -> None:
    answers = []
    for twin in twins:
        path = tmp_path / f"{twin.names[0]}.sparkcast"
        learned = api.fit(twin.data, model="ridge")
        api.save_model(learned.model, path)
        again = api.load_model(path)
        predicted = [api.predict(again, twin.at(*at)) for at in ASKED]
        answers.append(plain([learned.responses, predicted, api.recommend(again, within_s=40.0, price=PRICE)]))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("model", ["ridge", "scaling"])
def test_true_minutes_are_sixty_seconds_each(twins: tuple[Twin, Twin], tmp_path: Path, model: str) -> None:
    """Not to the last digit: rounding differs. Forests are left out, whose ties between splits it decides."""
    usual = knowledge_of(twins[0].data, model)
    roles = {**ROLES, "minutes": "time:min"}
    minutes = knowledge_of(
        api.load_data(table(tmp_path / "runs.csv", OTHER, unit_s=60.0), table=api.TableOptions(roles=roles)), model
    )
    for at in ASKED:
        ours = api.predict(minutes, twins[1].at(*at))
        theirs = api.predict(usual, twins[0].at(*at))
        assert ours.mean * 60 == pytest.approx(theirs.mean, rel=1e-9)
        for end in ("value", "low", "high"):
            assert getattr(ours.prediction, end) * 60 == pytest.approx(getattr(theirs.prediction, end), rel=1e-9)


def test_a_deadline_and_a_price_mean_the_same_of_true_minutes(twins: tuple[Twin, Twin], tmp_path: Path) -> None:
    usual = knowledge_of(twins[0].data, "ridge")
    roles = {**ROLES, "minutes": "time:min"}
    minutes = knowledge_of(
        api.load_data(table(tmp_path / "runs.csv", OTHER, unit_s=60.0), table=api.TableOptions(roles=roles)), "ridge"
    )
    for question in QUESTIONS:
        found, expected = (advice(known, **question) for known in (minutes, usual))
        if expected.within_s is not None:
            assert found.within_s == pytest.approx(expected.within_s, rel=1e-9)
            assert found.margin_s == pytest.approx(expected.margin_s, rel=1e-9)
        for ours, theirs in zip(found.candidates, expected.candidates, strict=True):
            assert plain(ours.configuration) == plain(theirs.configuration)
            assert ours.probability == pytest.approx(theirs.probability, abs=1e-9)
            if "price" in question:
                assert ours.predicted("cost").value == pytest.approx(theirs.predicted("cost").value, rel=1e-9)


# ---------------------------------------------------------------- the report


class Cells(HTMLParser):
    """The numbers in the cells of all tables."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.numbers: list[str] = []
        self._depth = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._depth += tag == "td"

    def handle_endtag(self, tag: str) -> None:
        self._depth -= tag == "td"

    def handle_data(self, data: str) -> None:
        if self._depth and not re.fullmatch(r"[0-9a-f]{64}", data):  # the hash of a file, whose headings differ
            self.numbers += re.findall(r"\d[\d.,]*", data)


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> list[ReportContent]:
    """What reports are made of. Pictures are not drawn and one model is tested: all of them take long."""
    seen: list[ReportContent] = []
    write = report.write_report

    def watched(path: Path, content: ReportContent) -> Path:
        seen.append(content)
        return write(path, content)

    monkeypatch.setattr(report, "write_report", watched)
    monkeypatch.setattr("sparkcast.report.page.inline_svg", lambda figure, narrow=False: "")
    monkeypatch.setattr("sparkcast.api.reports.validate", partial(api.validate, models=["ridge"]))
    return seen


def assert_same_report(contents: list[ReportContent], pages: list[Path]) -> None:
    usual, other = ([plain([f.name, f.rows]) for f in content.figures] for content in contents)
    assert usual == other
    assert len(usual) > 10
    for part in ("analyses", "validations", "recommendation"):
        assert plain(getattr(contents[0], part)) == plain(getattr(contents[1], part))
    first, second = (Cells(page.read_text()).numbers for page in pages)
    assert first == second
    assert len(first) > 100


def test_a_report_of_a_table_has_the_same_numbers(
    twins: tuple[Twin, Twin], contents: list[ReportContent], tmp_path: Path
) -> None:
    pages = [tmp_path / f"{twin.names[0]}.html" for twin in twins]
    for twin, page in zip(twins, pages, strict=True):
        api.report(twin.data, page, within_s=40.0)
    assert_same_report(contents, pages)


# ---------------------------------------------------------------- the command line


def test_the_command_line_tells_the_same(call: Call, tmp_path: Path) -> None:
    roles = [part for name, role in ROLES.items() for part in ("--role", f"{name}={role}")]
    told = []
    for names, given in ((USUAL, []), (OTHER, roles)):
        path = table(tmp_path / names[0] / "runs.csv", names)
        at = ",".join(f"{name}={level}" for name, level in zip(names, ASKED[0], strict=False))
        limits = ["--within", "40s", "--limit", f"{names[6]} >= 0.9"]
        answers = [
            call("analyze", path, *given, "--json"),
            call("predict", path, *given, "--model", "ridge", "--at", at, "--json"),
            call("validate", path, *given, "--model", "ridge", "--json"),
            call("recommend", path, *given, "--model", "ridge", *limits, "--price", "core_hour=0.5", "--json"),
        ]
        assert [answer.code for answer in answers] == [0] * 4, answers[-1].err
        told.append([json.loads(answer.out) for answer in answers])
        understood = [answer.pop("understood") for answer in told[-1]]
        assert all(found["is_declared"] == (names is OTHER) for found in understood)
        assert all(["executors", "machines"] in found["settings"] for found in understood if names is USUAL)
    assert plain(told[0]) == plain(told[1])
    meanings = told[1][-1]["vocabulary"]
    assert {"name": "hosts", "role": "machines", "unit": "number"} in meanings["settings"]
    assert {"name": "auc", "kind": "share", "better": "more", "unit": "share"} in meanings["responses"]


# ---------------------------------------------------------------- runs


class Played:
    """A workload that never runs: an engine plays its part."""

    settings: tuple[Setting, ...] = ()
    responses: tuple[Response, ...] = ()
    example: Mapping[str, object] = {}

    def check(self, settings: Configuration) -> None: ...

    def prepare(self, settings: Configuration, data_dir: Path) -> str:
        return ""

    def spark_conf(self, settings: Configuration) -> Mapping[str, str]:
        return {}

    def run(self, job: Job) -> None: ...


class UsualNames(Played):
    settings = (
        Setting("batch_size", 64, role=Role.BATCH),
        Setting("data_size", 1000, role=Role.DATA_SIZE),
        Setting("rate", 0.1, minimum=0),
    )
    responses = (TIME, ACCURACY)


class OtherNames(Played):
    settings = (
        Setting("hosts", 1, minimum=1, role=Role.MACHINES),
        Setting("threads", 1, minimum=1, role=Role.CORES),
        Setting("ram", "1g", is_size=True, role=Role.MEMORY),
        Setting("at_once", 1, minimum=1, role=Role.JOBS),
        Setting("chunk", 64, role=Role.BATCH),
        Setting("volume", 1000, role=Role.DATA_SIZE),
        Setting("rate", 0.1, minimum=0),
    )
    responses = (Response("minutes", kind=Kind.TIME, unit="s", span=TIME.span), Response("auc", kind=Kind.SHARE))


STUDY = """\
study: s
workload: {workload}
settings: {{{0}: [1, 2, 4], {1}: 2, {2}: [1g, 2g], {3}: [64, 256], {4}: 2000, rate: 0.1}}
rules: ["{0} * {3} <= 512"]
responses: [{5}, {6}]
design: {{replicates: 2, seed: 3}}
price: {{core_hour: 36, gib_hour: 3.6}}
spark: {{master: played}}
"""


class Watched(PlayedEngine):
    """Keeps what Spark is told of each run."""

    def submission(self, job: SparkJob) -> Submission:
        self.confs.append({name: value for name, value in job.conf.items() if not name.startswith("spark.eventLog")})
        return super().submission(job)

    def __init__(self, play: Play) -> None:
        super().__init__(play)
        self.confs: list[Mapping[str, str]] = []


class World:
    """A study under its names, its engine, and a clock that only runs move."""

    def __init__(self, folder: Path, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.names, self._patch = folder / names[0], names, monkeypatch
        self.folder.mkdir()
        self._now, self._dice = 1e9, random.Random(2)
        self.engine = Watched(self._play)

    def study(self, **changes: str) -> Path:
        """Its file; changes are words in the usual text and what to write in their place."""
        text = STUDY
        for old, new in changes.items():
            text = text.replace(old, new)
        path = self.folder / "study.yaml"
        path.write_text(text.format(*self.names, workload=f"{self.names[0]}-job"))
        return path

    def do(self, ask: Callable[["World"], Any]) -> Any:
        """With this world's engine and clock."""
        with self._patch.context() as patch:
            patch.setattr(site, "engine_for", lambda options: self.engine)
            patch.setattr(time, "time", lambda: self._now)
            patch.setattr("sparkcast.store.clock.monotonic", lambda: self._now)
            patch.setattr(HostSampler, "series", lambda _: HostSeries("h", "n", 2, 2**30, 100, {}))
            return plain(ask(self))

    def _play(self, given: Settings) -> Mapping[str, float] | str:
        machines, cores, memory, batch, size, rate = (given[name] for name in (*self.names[:5], "rate"))
        if memory == "1g" and machines == 1 and batch == 256:
            self._now += 5
            return "java.lang.OutOfMemoryError"
        seconds, quality = law(machines, cores, batch, size)
        seconds *= math.exp(self._dice.gauss(0, 0.03)) * (1 + abs(math.log10(rate) + 1))
        self._now += seconds + 2
        return {self.names[5]: seconds, self.names[6]: quality + self._dice.gauss(0, 0.002)}


@pytest.fixture
def worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[World, World]]:
    with registered(WORKLOADS, "executors-job", UsualNames), registered(WORKLOADS, "hosts-job", OtherNames):
        yield World(tmp_path, USUAL, monkeypatch), World(tmp_path, OTHER, monkeypatch)


def both(worlds: tuple[World, World], ask: Callable[[World], Any]) -> Any:
    """What both say, which must be the same."""
    usual, other = (world.do(ask) for world in worlds)
    assert usual == other
    return usual


def test_a_plan_is_the_same_and_has_the_same_price(worlds: tuple[World, World]) -> None:
    found = both(worlds, lambda world: api.plan(world.study(spark="limits: {{trial: 30s}}\nspark"), budget_s=400.0))
    assert found["price"] > 0
    assert 0 < found["left_out"] < len(found["trials"])


@pytest.mark.parametrize(
    "options",
    [
        {"searcher": api.SearchMethod("random", seed=4)},
        {"searcher": "random", "minimize": "cost", "budget": api.Budget(max_cost=10.0)},
        {"searcher": "exhaustive", "maximize": 6, "within_s": 25.0, "budget": api.Budget(6)},
        {"searcher": "cherrypick", "minimize": "cost", "within_s": 25.0},
        {"searcher": api.SearchMethod("guided", replicates=2)},
        {"searcher": "guided", "minimize": "cost", "within_s": 25.0},
        {"searcher": "guided", "maximize": 6},
    ],
    ids=str,
)
def test_a_search_is_the_same(worlds: tuple[World, World], options: dict[str, Any]) -> None:
    def tune(world: World) -> Any:
        objective = {"maximize": world.names[6]} if "maximize" in options else {}
        return api.tune(world.study(), **{**options, **objective})

    found = both(worlds, tune)
    assert found["best"]
    assert found["spent_cost"] > 0
    assert len(found["history"]) > 2
    assert any("spark.executor.instances" in line for line in found["conf"])
    assert worlds[0].engine.confs == worlds[1].engine.confs


def test_a_search_that_doubles_is_the_same(worlds: tuple[World, World]) -> None:
    def tune(world: World) -> Any:
        machines, _, memory, batch = world.names[:4]
        fix = Configuration({machines: 2, memory: "2g", batch: 64})
        study = world.study(**{"rate: 0.1": "rate: [0.01, 1.0]"})
        return api.tune(study, searcher=api.SearchMethod("doubling", replicates=1), fix=fix)

    assert 0.05 < both(worlds, tune)["best"]["configuration"]["rate"] < 0.2


def seen(runs: Sequence[Observation]) -> Any:
    """What runs showed, without what is new in every run."""
    return [[run.configuration, sorted(plain(run.responses).items()), run.outcome, run.replicate] for run in runs]


def test_what_runs_give_is_the_same(worlds: tuple[World, World], contents: list[ReportContent]) -> None:
    assert both(worlds, lambda world: seen(api.run(world.study()).new))

    def answers(world: World) -> Any:
        data = api.load_data(world.study())
        told = [api.analyze(data), api.analyze(data, "cost"), api.recommend(data, within_s=25.0, model="ridge")]
        return [seen(data.dataset.observations), *told]

    runs, _, _, recommendation = both(worlds, answers)
    assert len(runs) == 20
    assert {"cost", "time_s", "accuracy"} <= {name for run in runs for name, _ in run[1]}
    assert "oom" in [outcome for _, _, outcome, _ in runs]
    assert recommendation["chosen"]["failure_probability"] is not None
    pages = [world.folder / "r.html" for world in worlds]
    both(worlds, lambda world: api.report(world.study(), world.folder / "r.html", within_s=25.0))
    assert_same_report(contents, pages)


def test_a_store_knows_what_the_names_of_its_workload_mean(worlds: tuple[World, World]) -> None:
    assert both(worlds, lambda world: api.run(world.study()).finished)

    def answers(world: World) -> Any:
        data = api.load_data(results_folder(world.folder / "study.yaml"))
        assert {name for _, name in data.taken_as}.isdisjoint(world.names)
        at = Configuration(zip(world.names, (2, 1, "2g", 64, 2000), strict=False)).only(data.dataset.factors)
        return [
            api.analyze(data),
            api.predict(data, at, model="scaling"),
            api.recommend(data, within_s=25.0, model="ridge"),
        ]

    both(worlds, answers)


def test_a_study_that_names_no_response_is_about_the_time_of_its_workload(worlds: tuple[World, World]) -> None:
    both(worlds, lambda world: api.run(world.study(**{"responses: [{5}, {6}]\n": ""})).finished)
    names = [api.load_data(world.folder / "study.yaml").dataset.responses for world in worlds]
    assert names == [("time_s", "cost"), ("minutes", "cost")]
