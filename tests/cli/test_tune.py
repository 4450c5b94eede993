"""The command `tune`: what it prints and refuses, without a cluster; and once with a real one."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sparkcast.api import load_data, load_study
from sparkcast.cli import main
from sparkcast.runs.session import Stopped
from sparkcast.search.base import SEARCHERS
from sparkcast.store import open_store
from sparkcast.study import Configuration, Observation, Plan
from sparkcast.study.file import parse_study
from sparkcast.workloads import resolve
from tests_support import Sparkcast

STUDY = """\
study: s
workload: pi
settings: {executors: 1, samples: [1000, 2000, 3000, 4000]}
responses: [time_s, error, "slowness = 60 * time_s"]
price: {core_hour: 0.36}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "s.yaml"
    path.write_text(STUDY)
    return path


@dataclass(frozen=True, slots=True)
class Answer:
    returncode: object
    stdout: str
    stderr: str


Tune = Callable[..., Answer]


@pytest.fixture
def tune(study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tune:
    """The command line in this process: starting Python for each mistake would take most of the time."""
    monkeypatch.chdir(study.parent)

    def call(*options: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["sparkcast", "tune", "s.yaml", *options])
        with pytest.raises(SystemExit) as ended:
            main()
        return Answer(ended.value.code, *capsys.readouterr())

    return call


def measure(study: Path, times: dict[int, float]) -> None:
    """Put results into the store, as if `run` had made them."""
    loaded = load_study(study)
    store = open_store(study.with_suffix(".results"), create=True)
    store.register(loaded, Plan("full", 0, ()))
    for samples, time_s in times.items():
        configuration = Configuration({**loaded.fixed, "samples": samples})
        trial = store.add_trial("s", configuration, 1)
        run_id, artifacts = store.begin_run("s", trial)
        responses = {"time_s": time_s, "total_s": time_s + 1, "error": 1 / samples}
        store.finish_run("s", trial, Observation(configuration, responses, run_id=run_id, artifacts=artifacts))
    store.close()


KNOWN = {1000: 4.0, 2000: 3.0, 3000: 2.0, 4000: 5.0}


def test_the_best_of_what_is_known_is_told_with_the_way_on(tune: Tune, study: Path) -> None:
    measure(study, KNOWN)
    answer = tune("--searcher", "exhaustive")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines() == [
        "Use samples=3000.",
        "  Why        lowest time of 4 configurations run",
        "  Time       2.00 s from the first to the last Spark job (1 run); 50% less than the first run, "
        "4.00 s at samples=1000",
        "  Certainty  the best of those run with 98% probability",
        "  Pays       at once: 50% less each than samples=1000, and nothing had to be run",
        "  Runs       0 (0 new, 4 already measured, 0 failed); they took 0.00 s and cost 0 USD",
        "  Stopped    every candidate was run",
        "paste into spark-submit:",
        "  --conf spark.executor.cores=1 \\",
        "  --conf spark.cores.max=1 \\",
        "  --conf spark.executor.instances=1 \\",
        "  --conf spark.executor.memory=1g",
        "ask on: sparkcast recommend s.yaml --minimize time_s",
    ]
    assert "[0/4, about 18.0 s left] samples=2000 -> 3.00 s (already measured)" in answer.stderr


def test_json_is_one_document_with_the_whole_history(tune: Tune, study: Path) -> None:
    measure(study, KNOWN)
    options = (
        "--searcher",
        "exhaustive",
        "--maximize",
        "slowness",
        "--within",
        "4.5s",
        "--fix",
        "executors=1",
        "--json",
    )
    answer = tune(*options)
    assert answer.returncode == 0, answer.stderr
    result = json.loads(answer.stdout)
    assert result["objective"] == "maximize slowness"
    assert result["best"]["configuration"] == {"samples": 1000}
    assert result["best"]["value"] == 240.0
    assert [run["best_so_far"] for run in result["history"]] == [240.0] * 4
    assert [run["was_known"] for run in result["history"]] == [True] * 4
    assert result["history"][0]["cost"] == pytest.approx(5 * 1e-4)  # of 5 s from submission to exit
    assert (result["runs"], result["already_measured"], result["interrupted"]) == (0, 4, False)


def test_a_deadline_that_nothing_meets_exits_with_5_and_names_the_fastest(tune: Tune, study: Path) -> None:
    measure(study, KNOWN)
    answer = tune("--searcher", "exhaustive", "--within", "1s")
    assert answer.returncode == 5
    assert "no run took at most 1.00 s: the fastest took 2.00 s, at samples=3000" in answer.stderr


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--searcher", "gided"], 2, ["no searcher named 'gided'", "did you mean 'guided'"]),
        (["--minimize", "tims_s"], 2, ["no response 'tims_s'", "did you mean 'time_s'"]),
        (["--minimize", "time_s", "--maximize", "error"], 2, ["cannot both"]),
        (["--max-runs", "0"], 2, ["--max-runs 0 is not positive"]),
        (["--max-cost", "0"], 2, ["0 is not a positive amount"]),
        (["--within", "0s"], 2, ["a deadline of 0 s is not positive"]),
        (["--within", "1x"], 2, ["unknown unit 'x'"]),
        (["--replicates", "0"], 2, ["0 replicates"]),
        (["--fix", "executors"], 2, ["'executors' is not name=value"]),
        (["--fix", "executor=1"], 2, ["cannot fix 'executor'", "did you mean 'executors'"]),
        (["--fix", "samples=1000", "--fix", "samples=2000"], 2, ["--fix gives samples twice: 1000 and 2000"]),
        (["--fix", "samples=7"], 5, ["no level samples = 7", "1000, 2000"]),
        (["--earlier", "no.csv"], 2, ["no file 'no.csv'"]),
        (["--searcher", "sampling-rates"], 2, ["fraction of the data", "roles: {NAME: fraction}"]),
    ],
)
def test_a_bad_question_is_refused_before_anything_starts(
    tune: Tune, study: Path, options: list[str], code: int, words: list[str]
) -> None:
    answer = tune(*options)
    assert answer.returncode == code
    assert answer.stdout == ""
    for word in [*words, "hint: "]:
        assert word in answer.stderr
    assert not study.with_suffix(".results").exists()


def test_an_interrupted_search_exits_with_130_and_tells_how_to_go_on(
    tune: Tune, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(study, {samples: time_s for samples, time_s in KNOWN.items() if samples != 4000})

    def interrupted(session: object, trials: object) -> None:
        raise Stopped("interrupted")

    monkeypatch.setattr("sparkcast.runs.session.Session.prepare", interrupted)
    answer = tune("--searcher", "exhaustive", "--within", "1 m", "--resume")
    assert answer.returncode == 130
    assert "Continue with: sparkcast tune s.yaml --searcher exhaustive --within '1 m' --resume\n" in answer.stderr
    assert "ask on" not in answer.stdout


def test_ctrl_c_in_the_last_run_is_not_an_interruption(
    tune: Tune, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(study, KNOWN)
    monkeypatch.setattr("sparkcast.runs.campaign.Session.is_interrupted", True)
    answer = tune("--searcher", "exhaustive")
    assert answer.returncode == 0
    assert "Interrupted" not in answer.stderr
    assert "Stopped    every candidate was run\n" in answer.stdout


def test_two_that_differ_by_less_than_noise_are_told_with_the_runs_that_decide(tune: Tune, study: Path) -> None:
    measure(study, {1000: 4.0, 2000: 2.06, 3000: 2.0, 4000: 5.0})
    lines = tune("--searcher", "exhaustive").stdout.splitlines()
    assert (
        "  Warning    the best differs from the runner-up (2.06 s at samples=2000) by less than runs usually vary (7%)"
        in lines
    )
    assert [line for line in lines if line.startswith("to decide: ")] == [
        f"to decide: sparkcast tune s.yaml --fix samples={n} --searcher exhaustive --minimize time_s --replicates 3 "
        "--allow-changed"
        for n in (3000, 2000)
    ]


def test_a_clear_difference_asks_for_no_further_run(tune: Tune, study: Path) -> None:
    measure(study, KNOWN)
    answer = tune("--searcher", "exhaustive").stdout
    assert "to decide" not in answer
    assert "Warning" not in answer


def test_an_unknown_response_is_told_that_cost_is_known(tune: Tune) -> None:
    answer = tune("--minimize", "price")
    assert answer.returncode == 2
    assert "cost" in answer.stderr.split("hint: ")[1]


@pytest.mark.parametrize("option", [["--minimize", "cost"], ["--max-cost", "1"]])
def test_money_needs_a_price(tune: Tune, study: Path, option: list[str]) -> None:
    study.write_text(STUDY.replace("price: {core_hour: 0.36}\n", ""))
    answer = tune(*option)
    assert answer.returncode == 2
    assert "add a price, e.g. price: {core_hour: 0.05}" in answer.stderr


def test_doubling_with_two_varied_settings_names_them(tune: Tune, study: Path) -> None:
    study.write_text(STUDY.replace("executors: 1", "executors: [1, 2]"))
    answer = tune("--searcher", "doubling")
    assert answer.returncode == 2
    assert "2 settings vary: executors, samples" in answer.stderr
    assert "--fix samples=1000" in answer.stderr


def test_the_guide_names_every_searcher_and_its_study_is_valid() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "tune.md").read_text()
    resolve(parse_study(guide.split("```yaml\n")[1].split("```")[0]))
    told = [name for line in guide.splitlines() if line.startswith("| `") for name in re.findall(r"`([a-z-]+)`", line)]
    assert set(SEARCHERS.names()) <= set(told)


@pytest.mark.slow
def test_doubling_searches_on_a_real_cluster_and_goes_on_where_it_was(
    sparkcast: Sparkcast, tmp_path: Path, no_orphans: None
) -> None:
    (tmp_path / "s.yaml").write_text(
        "study: s\nworkload: pi\nsettings: {samples: [20000, 80000]}\n"
        'responses: [time_s, error, "cost = time_s * error"]\n'
        "limits: {trial: 2m}\n"
    )
    options = ("s.yaml", "--searcher", "doubling", "--minimize", "cost", "--replicates", "1")
    first = _result(sparkcast("tune", *options, "--max-runs", "1", "--json"))
    assert [run["configuration"] for run in first["history"]] == [{"samples": 20000}]
    assert first["stopped_because"] == "the limit on the number of runs, 1"
    second = _result(sparkcast("tune", *options, "--max-runs", "2", "--resume", "--json"))
    assert second["history"][:1] == first["history"]
    assert second["history"][1]["configuration"] == {"samples": 40000}
    assert (second["runs"], second["new"], second["failed"]) == (2, 1, 0)
    assert len(load_data(tmp_path / "s.yaml").dataset.observations) == 2


def _result(answer: "subprocess.CompletedProcess[str]") -> Any:
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)
