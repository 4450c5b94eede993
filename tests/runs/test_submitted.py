"""Running programs that know nothing of sparkcast, with an engine that starts them without Spark."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest

from sparkcast import api
from sparkcast.designs import make_plan
from sparkcast.engines import Exit, Handle, SparkJob, Submission
from sparkcast.engines._family import ChildProcess, Family
from sparkcast.engines.handle import wait_for
from sparkcast.errors import StudyChangedError, StudyError
from sparkcast.runs import site
from sparkcast.runs.campaign import CampaignResult, retried_outcomes, run_campaign
from sparkcast.store import ResultsPlace
from sparkcast.study import Observation, Outcome
from sparkcast.study.file import parse_study
from sparkcast.units import show_seconds
from sparkcast.workloads import resolve
from tests_support import PlayedEngine

PROGRAM = """\
import json, os, sys, time
with open(os.environ["EVENTS"] + "/app-1", "w") as log:
    for name, field, after in (("Start", "Submission", 0), ("End", "Completion", 2500)):
        at = int(time.time() * 1000) + after
        print(json.dumps({"Event": "SparkListenerJob" + name, "Job ID": 0, field + " Time": at}), file=log)
print("arguments:", json.dumps(sys.argv[1:]), "in", os.getcwd())
print("to be read", file=sys.stderr)
print('sparkcast: {"epoch": 1, "loss": 2}', flush=True)
print("AUC = " + sys.argv[1])
"""
STUDY = """\
study: s
workload: command
command:
  application: job.py
  arguments: ["{score}", "two 'words' \\"é\\"", "$HOME", "; rm -rf x", ""]
  responses: {auc: 'AUC = (.+)'}
settings: {score: [0.5, 0.75], jobs: 2}
design: {replicates: 1, seed: 1}
"""


class WithoutSpark(PlayedEngine):
    """Starts the program itself."""

    def __init__(self) -> None:
        super().__init__(lambda settings: {})

    def submission(self, job: SparkJob) -> Submission:
        env = {**job.environment, "EVENTS": urlparse(job.conf["spark.eventLog.dir"]).path}
        argv = (sys.executable, str(job.application), *job.arguments)
        return Submission(argv, env, directory=job.directory, output=job.output)

    def start(self, submission: Submission, log: Path) -> Handle:
        assert submission.output is not None
        with submission.output.open("ab") as output, log.open("ab") as errors:
            process = subprocess.Popen(
                submission.argv,
                env={**os.environ, **submission.env},
                cwd=submission.directory,
                stdout=output,
                stderr=errors,
            )
        return ChildProcess(process, log)


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, program: str = PROGRAM, text: str = STUDY) -> list[Observation]:
    (folder / "job.py").write_text(program)
    study = resolve(parse_study(text, folder / "s.yaml"))
    monkeypatch.setattr(site, "engine_for", lambda options: WithoutSpark())
    return [*run_campaign(study, make_plan(study), ResultsPlace.local(folder / "s.results")).new]


def test_a_program_is_run_as_it_is_and_what_it_tells_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = run(tmp_path, monkeypatch)
    assert [r.outcome for r in runs] == [Outcome.OK, Outcome.OK]
    for observation in runs:
        assert observation.responses["auc"] == observation.configuration["score"]
        assert 2.4 < observation.responses["time_s"] < 2.6
        assert observation.responses["loss"] == 2
        assert [point.number for point in observation.curve] == [1]
        assert observation.curve[0].time_s >= 0
        printed = tmp_path / "s.results" / observation.artifacts / "job-2" / "stdout.log"
        words = json.dumps([str(observation.configuration["score"]), "two 'words' \"é\"", "$HOME", "; rm -rf x", ""])
        assert f"arguments: {words} in {tmp_path}" in printed.read_text()
        assert (printed.parent / "driver.log").read_text() == "to be read\n"


WRONG = STUDY.replace("'AUC = (.+)'", "'accuracy (.+)'")


def campaign(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, *, program: str = PROGRAM, **options: Any
) -> tuple[CampaignResult, list[str]]:
    (folder / "job.py").write_text(program)
    (folder / "s.yaml").write_text(text)
    study = api.load_study(folder / "s.yaml")
    monkeypatch.setattr(site, "engine_for", lambda options: WithoutSpark())
    seen: list[str] = []
    result = run_campaign(
        study,
        make_plan(study),
        ResultsPlace.local(folder / "s.results"),
        on_progress=lambda progress: seen.append(progress.text) if progress.is_note else None,
        **options,
    )
    return result, seen


def test_a_pattern_that_matches_nothing_costs_no_run_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, seen = campaign(tmp_path, monkeypatch, WRONG)
    assert [run.outcome for run in result.new] == [Outcome.OK, Outcome.OK]
    assert all("auc" not in run.responses and run.responses["time_s"] > 2 for run in result.new)
    assert (result.finished, result.failed, result.missing) == (2, 0, {"auc": 2})
    assert "trial 1: no auc: the pattern 'accuracy (.+)' matches nothing that the job printed" in seen
    assert any(text.startswith("run 1 of 2: score=") and " s, no auc" in text for text in seen)


def test_a_metric_is_shown_from_the_first_run_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result, seen = campaign(tmp_path, monkeypatch, STUDY)
    first = result.new[0]
    score, total_s = first.configuration["score"], show_seconds(first.responses["total_s"])
    assert seen[0].startswith(f"run 1 of 2: score={score}, replicate 1: {total_s}, auc {score}")


def test_when_only_the_pattern_is_corrected_the_stored_output_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign(tmp_path, monkeypatch, WRONG)
    (tmp_path / "s.yaml").write_text(STUDY)
    for _ in range(2):  # what was found is kept
        runs = api.load_data(tmp_path / "s.yaml").dataset.observations
        assert [run.responses["auc"] for run in runs] == [run.configuration["score"] for run in runs]
        assert all(run.responses["time_s"] > 2 and run.responses["loss"] == 2 for run in runs)
        assert all(job.responses["auc"] == run.responses["auc"] for run in runs for job in run.jobs)
    [line] = (tmp_path / "s.results" / runs[0].artifacts / "readings.jsonl").read_text().splitlines()
    assert json.loads(line)["responses"] == {"auc": "AUC = (.+)"}
    assert json.loads(line)["changes"]["auc"] == [None, runs[0].responses["auc"]]


def test_run_reads_stored_output_again_and_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign(tmp_path, monkeypatch, WRONG)
    result, seen = campaign(tmp_path, monkeypatch, STUDY)
    assert (result.finished, result.new, result.missing) == (2, (), {})
    assert seen == ["the output of 2 stored runs was read again: auc in 2 of 2"]


def test_a_number_that_the_old_pattern_found_does_not_stay_when_the_new_one_finds_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign(tmp_path, monkeypatch, STUDY)
    (tmp_path / "s.yaml").write_text(WRONG)
    runs = api.load_data(tmp_path / "s.yaml").dataset.observations
    assert all("auc" not in run.responses and run.responses["loss"] == 2 for run in runs)


def test_any_other_change_of_the_study_is_still_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign(tmp_path, monkeypatch, WRONG)
    with pytest.raises(StudyChangedError, match="arguments"):
        campaign(tmp_path, monkeypatch, STUDY.replace("$HOME", "$PWD"))


FAILING = "import sys\nif sys.argv[1] == '0.5': raise ValueError('no rows')\n" + PROGRAM


def test_what_failed_is_repeated_on_request_and_its_failure_does_not_count_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, _ = campaign(tmp_path, monkeypatch, STUDY, program=FAILING)
    assert (result.finished, result.failed, result.planned) == (2, 1, 2)
    kept, _ = campaign(tmp_path, monkeypatch, STUDY, retry={Outcome.TIMEOUT})
    assert (kept.new, kept.failed) == ((), 1)
    result, _ = campaign(tmp_path, monkeypatch, STUDY, retry={Outcome.ERROR})
    assert [run.configuration["score"] for run in result.new] == [0.5]
    assert (result.finished, result.failed) == (2, 0)
    runs = api.load_data(tmp_path / "s.yaml").dataset.observations
    assert [run.outcome for run in runs] == [Outcome.OK, Outcome.OK]
    again, _ = campaign(tmp_path, monkeypatch, STUDY, retry={Outcome.ERROR})
    assert again.new == ()


def test_outcomes_to_repeat_are_named(tmp_path: Path) -> None:
    assert retried_outcomes(["failed"]) == {Outcome.ERROR, Outcome.TIMEOUT, Outcome.OOM, Outcome.LOST}
    with pytest.raises(StudyError, match="no outcome") as caught:
        retried_outcomes(["eror"])
    assert "error" in caught.value.hint


def test_a_program_that_fails_shows_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = STUDY.replace("[0.5, 0.75]", "0.5")
    [observation] = run(tmp_path, monkeypatch, program="print('hello')\nraise ValueError('no rows')\n", text=text)
    assert observation.outcome is Outcome.ERROR
    assert observation.cause.splitlines()[0] == "ValueError: no rows"


@pytest.mark.parametrize("secrets", [{}, {"spark.my.password": "hush"}])
def test_a_properties_file_of_the_user_is_given_to_spark_with_the_secrets(
    tmp_path: Path, secrets: dict[str, str]
) -> None:
    (tmp_path / "p.conf").write_text("spark.a 1\n")
    show = "import sys; print(sys.argv[1], open(sys.argv[2]).read())"
    (tmp_path / "show").write_text(f"#!{sys.executable}\n{show}\n")
    (tmp_path / "show").chmod(0o700)
    family = Family()
    try:
        argv: tuple[Any, ...] = (str(tmp_path / "show"), "app.py")
        submission = Submission(argv, {}, secrets, tmp_path / "p.conf", tmp_path, tmp_path / "out.log")
        assert wait_for(family.submit(submission, tmp_path / "log")) == Exit(0)
    finally:
        family.close()
    shown = (tmp_path / "out.log").read_text()
    assert shown.startswith("--properties-file spark.a 1\n")
    assert ("spark.my.password=hush" in shown) == bool(secrets)
    assert "hush" not in submission.shell()
    assert submission.shell().startswith(f"cd {tmp_path} && ")


def test_a_spark_property_is_tuned_like_any_other_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = STUDY.replace("jobs: 2", '"spark.sql.shuffle.partitions": [50, 200]')
    (tmp_path / "job.py").write_text(PROGRAM)
    (tmp_path / "s.yaml").write_text(text)
    monkeypatch.setattr(site, "engine_for", lambda options: WithoutSpark())
    result = api.tune(tmp_path / "s.yaml", searcher="exhaustive", maximize="auc", budget=api.Budget(4))
    assert result.best is not None
    assert result.best.configuration["score"] == 0.75
    assert "--conf spark.sql.shuffle.partitions=" in " ".join(result.conf)
    found = api.predict(
        api.load_data(tmp_path / "s.yaml"), {"score": 0.5, "spark.sql.shuffle.partitions": 100}, response="auc"
    )
    assert found.prediction.value == pytest.approx(0.5, abs=0.2)
