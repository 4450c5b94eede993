"""May this job be submitted now?"""

import shlex
from pathlib import Path

import pytest

from history_support import DAY, GIB, MONDAY, a_history, a_run, write_store
from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.history import JobHistory
from sparkcast.history.gate import GateAnswer, Verdict
from sparkcast.study import Outcome, Price

LINE = "spark-submit --master yarn --name nightly --num-executors 4 --executor-cores 4 nightly.py"
NEXT = MONDAY + 40 * DAY  # a Saturday


def _history(**changes: object) -> JobHistory:
    return JobHistory("nightly", "nightly", tuple(a_history(**changes)))  # type: ignore[arg-type]


def _ask(line: str = LINE, **question: object) -> GateAnswer:
    given = {"history": _history(), "at_s": NEXT, "input_size": 100 * GIB, **question}
    return api.check(line, **given)  # type: ignore[arg-type]


def test_a_deadline_that_the_runs_meet_admits_and_one_between_them_does_not() -> None:
    assert _ask(within_s=900).verdict is Verdict.ADMIT
    assert _ask(within_s=900).exit_code == 0
    tight = _ask(within_s=600)
    assert tight.verdict is Verdict.CHANGE
    assert tight.exit_code == 5
    assert tight.probability is not None
    assert tight.probability < 0.5


def test_the_forecast_is_near_what_the_law_says_at_this_input() -> None:
    found = _ask(within_s=900, input_size=60 * GIB)
    assert found.time is not None
    assert found.work is not None
    assert found.time.median == pytest.approx(380, rel=0.05)
    assert found.work.median == pytest.approx(360, rel=0.05)
    low, high = found.time.interval(0.9)
    assert 1.1 < high / low < 1.5


def test_more_executors_are_named_with_the_line_to_paste_and_nothing_else_of_it_changes() -> None:
    found = _ask(within_s=500)
    assert found.verdict is Verdict.CHANGE
    executors = int(found.settings["spark.executor.instances"])
    assert 5 <= executors <= 8
    expected = LINE.replace("--num-executors 4 ", "").replace(
        "spark-submit", f"spark-submit --conf spark.executor.instances={executors}"
    )
    assert shlex.split(found.command) == shlex.split(expected)
    assert found.changed_probability is not None
    assert found.changed_probability >= 0.95


def test_a_deadline_that_nothing_known_meets_is_refused_and_names_what_comes_nearest() -> None:
    found = _ask(within_s=30)
    assert found.verdict is Verdict.REFUSE
    assert found.exit_code == 5
    assert not found.command


def test_too_few_runs_an_input_never_seen_and_an_unknown_job_are_not_known() -> None:
    assert _ask(within_s=900, history=_history(n=2)).verdict is Verdict.UNKNOWN
    far = _ask(within_s=900, input_size=5000 * GIB)
    assert far.verdict is Verdict.UNKNOWN
    assert far.exit_code == 4
    assert "never read so much" in far.reason


def test_a_budget_counts_with_its_price_and_without_one_is_refused_as_a_question() -> None:
    price = Price(core_hour=0.1)
    assert _ask(budget=1.0, price=price).verdict is Verdict.ADMIT
    assert _ask(budget=0.05, price=price).verdict is Verdict.REFUSE
    with pytest.raises(StudyError, match="price"):
        _ask(budget=1.0)


def test_a_job_that_failed_lately_is_not_admitted() -> None:
    runs = a_history()
    broken = [a_run(40 + n, outcome=Outcome.OOM, cause="java.lang.OutOfMemoryError") for n in range(5)]
    found = _ask(within_s=3000, history=JobHistory("nightly", "nightly", (*runs, *broken)))
    assert found.verdict is not Verdict.ADMIT
    assert found.probability is not None
    assert found.probability < 0.9


def test_executors_of_the_line_count_and_the_usual_ones_where_it_has_none() -> None:
    twice = _ask(LINE.replace("--num-executors 4", "--num-executors 8"), within_s=3600)
    usual = _ask(LINE.replace("--num-executors 4 ", ""), within_s=3600)
    assert twice.time is not None
    assert usual.time is not None
    assert twice.time.median == pytest.approx(usual.time.median / 2, rel=0.1)
    assert any("4 assumed" in told for told in usual.basis)


def test_free_cores_limit_the_executors() -> None:
    found = _ask(within_s=700, free_cores=8)
    assert found.verdict is not Verdict.ADMIT
    assert found.time is not None
    assert found.time.median > 1000


def test_another_setting_than_the_last_run_had_makes_the_forecast_wider() -> None:
    changed = LINE.replace("--master yarn", "--conf spark.sql.shuffle.partitions=800")
    usual, wider = _ask(within_s=900), _ask(changed, within_s=900)
    assert usual.time is not None
    assert wider.time is not None
    assert wider.time.interval()[1] > usual.time.interval()[1]
    assert any("shuffle.partitions=800 (was 200)" in told for told in wider.basis)


@pytest.mark.parametrize(
    "question",
    [{}, {"within_s": -1}, {"within_s": 60, "confidence": 1.0}, {"within_s": 60, "free_cores": 0}, {"budget": 0}],
)
def test_limits_that_cannot_be_are_named(question: dict[str, object]) -> None:
    with pytest.raises(StudyError):
        _ask(**question)  # type: ignore[arg-type]


# ---------------------------------------------------------------- in a store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("gate") / "fleet.results"
    return write_store(place, a_history(), a_history(job="hourly clean", work_s=60.0), a_history(job="score"))


def test_the_job_is_found_by_its_name_and_else_by_its_program(store: Path) -> None:
    by_name = api.check("spark-submit --name 'nightly 00099' x.py", store, within_s=900, at_s=NEXT)
    assert by_name.job == "nightly"
    assert by_name.verdict is Verdict.ADMIT
    by_file = api.check("spark-submit nightly.py", store, within_s=900, at_s=NEXT)
    assert by_file.job == "nightly"
    by_program = api.check("spark-submit jobs/hourly_clean.py", store, within_s=900, at_s=NEXT)
    assert by_program.job == "hourly clean"
    told = api.check("spark-submit other.py", store, within_s=900, at_s=NEXT, job="score")
    assert told.job == "score"


def test_a_job_that_the_store_does_not_have_is_not_known(store: Path) -> None:
    found = api.check("spark-submit other.py", store, within_s=900)
    assert found.verdict is Verdict.UNKNOWN
    assert "other.py" in found.reason


def test_a_store_that_is_not_there_is_named() -> None:
    with pytest.raises(StudyError, match="no store"):
        api.check(LINE, "nowhere.results", within_s=900)
