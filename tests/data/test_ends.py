"""How runs of a table ended: words, flags, codes and times that were cut short."""

from pathlib import Path
from typing import Any

import pytest

from sparkcast import api
from sparkcast.data.censored import split_bounds
from sparkcast.data.outcomes import read_word
from sparkcast.errors import StudyError
from sparkcast.study import Outcome
from tests_support import Call

KILLED = "executors,memory,status,minutes\n" + "".join(
    f"{executors},{memory},{'KILLED' if (executors, memory) == (4, '8g') else 'FINISHED'},"
    f"{'' if (executors, memory) == (4, '8g') else 40 / executors + 3 + rep / 2}\n"
    for executors in (1, 2, 4)
    for memory in ("4g", "8g")
    for rep in (0, 1)
)


def read(tmp_path: Path, text: str, **options: Any) -> api.Data:
    path = tmp_path / "runs.csv"
    path.write_text(text, encoding="utf-8")
    return api.load_data(path, table=api.TableOptions(**options))


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        *((word, Outcome.OK) for word in ("FINISHED", "SUCCEEDED", "Completed", "done", "OK", "réussi", "no errors")),
        *((word, Outcome.OK) for word in ("erfolgreich", "completado", "riuscito", "concluído", "成功")),
        *((word, Outcome.ERROR) for word in ("KILLED", "CANCELLED", "Canceled", "CANCELLED by 1001", "preempted")),
        *((word, Outcome.ERROR) for word in ("aborted", "evicted", "not ok", "completed with errors", "NODE_FAIL")),
        *(
            (word, Outcome.ERROR)
            for word in ("abgebrochen", "échoué", "annulé", "fallido", "fallito", "falhou", "失败")
        ),
        *((word, Outcome.OOM) for word in ("OOMKilled", "failed (OOM)", "OUT_OF_MEMORY", "Java heap space")),
        *((word, Outcome.TIMEOUT) for word in ("TIMEOUT", "Timed out", "TIMED_OUT", "Zeitüberschreitung")),
        *((word, None) for word in ("RUNNING", "pending", "in progress", "UP_FOR_RETRY")),
    ],
)
def test_a_word_says_how_a_run_ended(word: str, outcome: Outcome | None) -> None:
    end = read_word(word)
    assert end is not None
    assert end.outcome is outcome


def test_a_word_that_nobody_knows_says_nothing() -> None:
    assert read_word("parked") is None
    assert read_word("us-east-1") is None


def test_a_killed_configuration_is_never_recommended(tmp_path: Path) -> None:
    data = read(tmp_path, KILLED)
    killed = [run for run in data.dataset.observations if not run.ok]
    assert [(dict(run.configuration), run.outcome, run.cause) for run in killed] == [
        ({"executors": 4, "memory": "8g"}, Outcome.ERROR, "KILLED")
    ] * 2
    found = api.recommend(data, within_s=20 * 60, minimize="minutes", model="ridge")
    assert found.chosen.configuration == {"executors": 4, "memory": "4g"}


def test_an_unknown_word_is_asked_about(tmp_path: Path) -> None:
    text = "executors,time_s,status\n1,9,done\n2,5,parked\n4,3,done\n"
    with pytest.raises(StudyError, match=r"row 3, column 'status': unknown outcome 'parked'(.|\n)*`outcomes={'parked'"):
        read(tmp_path, text)
    assert [run.outcome for run in read(tmp_path, text, outcomes={"parked": "timeout"}).dataset.observations] == [
        Outcome.OK,
        Outcome.TIMEOUT,
        Outcome.OK,
    ]
    assert len(read(tmp_path, text, outcomes={"parked": "running"}).dataset.observations) == 2
    with pytest.raises(StudyError, match=r"'parked' cannot mean 'eror'(.|\n)*did you mean 'error'"):
        read(tmp_path, text, outcomes={"parked": "eror"})


def test_a_status_of_numbers_is_asked_about(tmp_path: Path) -> None:
    text = "executors,time_s,status\n1,9,0\n2,5,1\n4,3,0\n"
    with pytest.raises(StudyError, match="unknown outcome '0', '1'"):
        read(tmp_path, text)
    assert not read(tmp_path, text, outcomes={"0": "ok", "1": "error"}).dataset.observations[1].ok


@pytest.mark.parametrize(
    ("states", "outcomes"),
    [
        (("COMPLETED", "TERMINATED"), (Outcome.OK, Outcome.ERROR)),
        (("TERMINATED", "TERMINATED_WITH_ERRORS"), (Outcome.OK, Outcome.ERROR)),
    ],
)
def test_what_terminated_means_is_told_by_the_words_beside_it(
    tmp_path: Path, states: tuple[str, str], outcomes: tuple[Outcome, Outcome]
) -> None:
    runs = read(tmp_path, f"executors,time_s,state\n1,9,{states[0]}\n2,5,{states[1]}\n").dataset.observations
    assert tuple(run.outcome for run in runs) == outcomes


def test_messages_stand_where_runs_failed(tmp_path: Path) -> None:
    text = "executors,time_s,error_message\n1,9,\n2,5,java.lang.OutOfMemoryError: Java heap space\n4,3,\n"
    assert [run.outcome for run in read(tmp_path, text).dataset.observations][1] is Outcome.OOM


def test_what_is_left_of_a_time_is_its_number_and_how_the_run_ended() -> None:
    cells = ["55m", "> 2h", "≥ 3600 s", "2h+", "timeout (2h)", "7200 (killed)", "failed after 30 min", "OOM", "fast"]
    left, ends = split_bounds(cells, is_time=True)
    assert left == ["55m", "2h", "3600 s", "2h", "2h", "7200", "30 min", "", "fast"]
    assert [ends[cell].outcome for cell in cells if cell in ends] == [
        *([Outcome.TIMEOUT] * 4),
        *(Outcome.ERROR, Outcome.ERROR, Outcome.OOM),
    ]


def test_a_lower_bound_is_kept_but_not_learned_from(tmp_path: Path) -> None:
    data = read(tmp_path, "executors,runtime\n1,> 2h\n2,100 min\n4,50 min\n8,25 min\n")
    first = data.dataset.observations[0]
    assert (first.outcome, first.responses) == (Outcome.TIMEOUT, {"runtime": 7200.0})
    assert len(data.dataset.successful("runtime")) == 3
    assert data.understood is not None
    assert "the runtime of 1 stopped run is only a lower bound" in data.understood.notes


TIES = (
    "executors,rows,time_s\n1,1,2000\n1,2,7200\n1,3,7200\n2,1,1000\n2,2,5000\n2,3,7200\n4,1,500\n4,2,2500\n4,3,5100\n"
)


def test_three_runs_at_exactly_the_longest_time_are_pointed_out(tmp_path: Path) -> None:
    understood = read(tmp_path, TIES).understood
    assert understood is not None
    assert any("3 runs took exactly 7200 s" in note and "`time_limit='7200s'`" in note for note in understood.notes)
    limited = read(tmp_path, TIES, time_limit="2h").dataset
    assert [run.outcome for run in limited.observations].count(Outcome.TIMEOUT) == 3
    assert max(run.responses["time_s"] for run in limited.successful("time_s")) == 5100
    two = read(tmp_path, TIES.replace("2,3,7200", "2,3,7100")).understood
    assert two is not None
    assert not any("exactly" in note for note in two.notes)


def test_a_column_that_nobody_asked_about_does_not_stop_an_answer(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "runs.csv"
    rows = [f"{e},{60 / e + r},{'$3' if e > 1 else 'see invoice'}" for e in (1, 2, 4, 8) for r in (0.0, 0.5)]
    path.write_text("executors,minutes,cost_usd\n" + "\n".join(rows) + "\n")
    answer = call("analyze", str(path), "--response", "minutes")
    assert answer.code == 0, answer.err
    assert "cost_usd (cannot be read" in answer.err
    assert call("analyze", str(path), "--response", "cost_usd").code != 0


def test_rows_without_a_setting_are_left_out_when_asked(tmp_path: Path, call: Call) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("executors,codec,time_s\n1,lz4,9\n2,,5\n4,lz4,3\n1,zstd,8\n2,zstd,4\n4,zstd,2\n")
    refused = call("analyze", str(path))
    assert "--complete-rows" in refused.err
    data = api.load_data(path, table=api.TableOptions(complete_rows=True))
    assert len(data.dataset.observations) == 5
    assert data.understood is not None
    assert "1 of 6 rows left out: a setting has no value there" in data.understood.notes


def test_a_time_that_would_be_days_in_seconds_is_asked_about(tmp_path: Path) -> None:
    text = "executors,duration\n1,900000\n2,460000\n4,250000\n8,140000\n"
    with pytest.raises(StudyError, match=r"duration has no unit(.|\n)*`time_unit='ms'`"):
        read(tmp_path, text)
    assert read(tmp_path, text, time_unit="ms").dataset.vocabulary.response("duration").unit == "ms"


def test_options_of_tables_are_refused_elsewhere_and_where_they_are_malformed(tmp_path: Path, call: Call) -> None:
    (tmp_path / "runs.csv").write_text(TIES)
    refused = call("analyze", str(tmp_path / "runs.csv"), "--where", "executors")
    assert "--where 'executors' is not NAME=VALUE" in refused.err
    narrowed = call("analyze", str(tmp_path / "runs.csv"), "--where", "executors=4")
    assert "3 of 9 rows have executors=4" in narrowed.err
