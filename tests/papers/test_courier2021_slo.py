"""Deadlines in courier2021. The measurements are not ours to ship: all files here are made up."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sparkcast.errors import StudyError
from sparkcast.replications import Agreement, PartResult, Row, replicate
from sparkcast.study import Configuration, Dataset
from sparkcast_papers.courier2021 import slo
from sparkcast_papers.courier2021._runs import evaluation, flagged_rows, replicate_1, without_rows
from sparkcast_papers.courier2021._slo_evaluation import (
    Asked,
    ask,
    boostings_batches,
    chosen_section,
    known_before,
)
from sparkcast_papers.courier2021._slo_models import COURIERS, OURS, Answers, Task, answer, both_responses, learn
from sparkcast_papers.courier2021._slo_played import COURIERS_RULE, ORACLE
from sparkcast_papers.courier2021._slo_rules import (
    REFUSED,
    by_limits,
    couriers_rule,
    oracles_rule,
    our_rule,
    recommended,
    upper_limits_s,
)
from sparkcast_papers.courier2021._slo_simulation import (
    Draws,
    Job,
    Outcome,
    chosen,
    count_jobs,
    draw,
    job_of,
    judge,
    playable,
    without_job,
)
from sparkcast_papers.courier2021._slo_table9 import TABLE_9, chance_in_time
from sparkcast_papers.courier2021.slo import Slo

BATCHES = (64, 128, 256, 512)
STALE = 5  # a row of lenet5 whose time is that of the row before
SLO = {(2, 1, "lenet5"): 400, (4, 2, "simplenet"): 200}
HEADER = "cpu,batch,njobs,network,time_s,accuracy,time_equals_previous_row"
MODEL = "ridge"  # `auto` takes seconds to learn


def _time(cpu: int, batch: int, njobs: int) -> float:
    return (20 + 28000 / batch) * (1 + 0.02 * cpu * njobs)


def _rows() -> list[str]:
    """Four jobs for each network; accuracies are known of lenet5, and of few others."""
    rows = []
    for number, (network, njobs, batch, cpu) in enumerate(
        product(("lenet5", "simplenet"), (1, 2), BATCHES, (2, 4)), start=1
    ):
        wobble = 1 + 0.04 * ((number * 7919) % 101 / 101 - 0.5)
        time = round(_time(cpu, batch, njobs) * wobble, 4)
        accuracy = 0.98 - batch / 8000 + 0.0001 * ((number * 31) % 7)
        known = network == "lenet5" or number % 9 == 0
        rows.append(f"{cpu},{batch},{njobs},{network},{time},{accuracy if known else ''},{number == STALE}")
    return rows


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made-up")
    rows = _rows()
    (folder / "fullfact_rep1.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    more = ["4,512,1,simplenet,80,0.91,False", "4,256,1,simplenet,80,0.92,True"]
    (folder / "fullfact_all_known_rows.csv").write_text("\n".join([HEADER, *rows, *more]) + "\n")
    said = (
        "rf_time_paper_table9,rf_time_bug_all_simplenet,gb_time_correct_network,gb_time_bug_all_simplenet,"
        "rf_acc_paper_table9,gb_acc_correct_network"
    )
    lines = [f"cpu,batch,njobs,network,time_s,slo_s,accuracy,{said}"]
    lines += [f"2,128,1,lenet5,{time},400,0.96,250,250,260,270,0.96,0.96" for time in (240, 250, 260)]
    lines += [f"4,512,2,simplenet,{time},200,0.92,90,90,90,90,0.92,0.92" for time in (80, 100, 201)]
    (folder / "courier_eval_5jobs_3reps.csv").write_text("\n".join(lines) + "\n")
    boosted = ["job_set,cpu,njobs,network,chosen_batch"]
    boosted += ["courier_exp,2,1,lenet5,128", "courier_exp,4,2,simplenet,512", "courier_exp2,4,2,simplenet,64"]
    (folder / "authors_gb_predictions.csv").write_text("\n".join(boosted) + "\n")
    return folder


@pytest.fixture(scope="module")
def clean(made_up: Path) -> Dataset:
    return both_responses(without_rows(replicate_1(made_up), flagged_rows(made_up)))


# ---------------------------------------------------------------- rules


def test_couriers_rule_takes_the_fastest_when_nothing_is_in_time_and_the_oracle_refuses() -> None:
    times, accuracies = [500.0, 300.0, 100.0], [0.95, 0.94, 0.90]
    deadlines = np.array([50.0, 100.0, 299.0, 300.0, 1000.0])
    assert couriers_rule(times, accuracies).choose(deadlines).tolist() == [2, 2, 2, 1, 0]
    assert oracles_rule(times, accuracies).choose(deadlines).tolist() == [REFUSED, 2, 2, 1, 0]


def test_a_slower_batch_that_is_less_accurate_is_never_taken() -> None:
    assert oracles_rule([200.0, 100.0], [0.90, 0.95]).choose(np.array([150.0, 250.0])).tolist() == [1, 1]


def test_our_rule_is_what_recommend_says_at_every_deadline(clean: Dataset) -> None:
    import numpy as np

    [(key, job), *_] = playable(clean).items()
    model = learn(without_job(clean, key), MODEL)
    deadlines = np.array([10, 60, 140, 330, 700])
    answers = [recommended(model, job.candidates, float(deadline)) for deadline in deadlines]
    said = [REFUSED if a is None else BATCHES.index(int(a.chosen.configuration["batch"])) for a in answers]
    assert our_rule(model, job.candidates).choose(deadlines).tolist() == said
    assert by_limits(model, job.candidates).choose(deadlines).tolist() == said
    assert said[0] == REFUSED
    assert said[-1] == 0


def test_ours_asks_for_more_time_than_is_predicted(clean: Dataset) -> None:
    model, at = learn(clean, MODEL), next(iter(playable(clean).values())).candidates
    predicted = model.model_of("time_s")[1].predict(at)
    assert all(limit > time for limit, time in zip(upper_limits_s(model, at), predicted, strict=True))


# ---------------------------------------------------------------- the simulation


def test_jobs_are_played_when_all_their_times_and_accuracies_are_good(made_up: Path, clean: Dataset) -> None:
    jobs = playable(clean)
    assert len(jobs) == 3
    assert all(key[2] == "lenet5" for key in jobs)
    assert all([c["batch"] for c in job.candidates] == [*BATCHES] for job in jobs.values())
    counted = count_jobs(replicate_1(made_up), flagged_rows(made_up))
    assert (counted.everything, counted.accuracies_known, counted.stale, counted.any_stale) == (8, 4, 1, 1)


def test_without_any_accuracy_nothing_can_be_played(clean: Dataset) -> None:
    with pytest.raises(StudyError, match="no job has all accuracies"):
        playable(without_rows(clean, tuple(range(1, 17))))


def test_leaving_a_job_out_leaves_all_its_batch_sizes_out(clean: Dataset) -> None:
    job = (4, 1, "lenet5")
    left = without_job(clean, job)
    assert len(left.observations) == len(clean.observations) - len(BATCHES)
    assert job not in {job_of(run.configuration) for run in left.observations}


def test_deadlines_are_positive_and_the_same_for_the_same_seed() -> None:
    draws = draw(20_000, n_jobs=3, n_candidates=4, seed=5)
    assert (draws.deadlines_s > 0).all()
    assert draws.redrawn > 0
    assert draws.deadlines_s.mean() == pytest.approx(300, abs=3)
    assert set(draws.jobs.tolist()) == {0, 1, 2}
    assert set(draws.random.tolist()) == {0, 1, 2, 3}
    again = draw(20_000, n_jobs=3, n_candidates=4, seed=5)
    assert (draws.deadlines_s == again.deadlines_s).all()


JOB = Job((Configuration({"batch": 64}), Configuration({"batch": 128})), (200.0, 100.0), (0.95, 0.90))


def _draws(deadlines: list[float]) -> Draws:
    import numpy as np

    zeros = np.zeros(len(deadlines), dtype=int)
    return Draws(zeros, np.array(deadlines), zeros, 0)


def _judged(taken: list[int], deadlines: list[float]) -> Outcome:
    import numpy as np

    return judge(np.array(taken), [JOB], _draws(deadlines))


def test_a_feasible_deadline_that_is_refused_counts_only_in_the_stricter_share() -> None:
    found = _judged([REFUSED, 1, 0, REFUSED], [150, 150, 250, 50])
    assert found.met_of_promised == 1
    assert found.met_of_feasible == pytest.approx(2 / 3)
    assert found.refused == 0.5
    assert found.refused_feasible == pytest.approx(1 / 3)
    assert found.accuracy_gap == 0


def test_a_broken_deadline_buys_accuracy_that_is_not_counted_where_it_was_met() -> None:
    found = _judged([0, 1], [150, 250])
    assert (found.met_of_promised, found.kept, found.larger) == (0.5, 0.5, 0.5)
    assert found.accuracy_gap == pytest.approx(0)
    assert found.gap_where_met == pytest.approx(-0.05)


def test_a_promise_that_nobody_can_keep_is_broken() -> None:
    found = _judged([1, 1], [50, 150])
    assert (found.met_of_promised, found.kept) == (1, 0.5)


def test_the_oracle_meets_all_that_it_promises() -> None:
    draws = _draws([50.0, 150.0, 250.0])
    found = judge(chosen([JOB.oracle], draws), [JOB], draws)
    assert (found.met_of_feasible, found.accuracy_gap) == (1, 0)
    assert found.refused == pytest.approx(1 / 3)


# ---------------------------------------------------------------- the evaluation


def test_what_was_known_before_has_no_stale_times(made_up: Path) -> None:
    known = known_before(made_up)
    assert len(known.observations) == 32 + 2 - 2
    assert {name for run in known.observations for name in run.responses} == {"time_s", "accuracy"}


@pytest.fixture(scope="module")
def asked(made_up: Path) -> list[Asked]:
    known = known_before(made_up)
    return ask(evaluation(made_up), known, learn(known, MODEL), boostings_batches(made_up))


def test_every_job_of_the_evaluation_is_asked_about_with_its_own_deadline(asked: list[Asked]) -> None:
    assert [job.slo_s for job in asked] == [*SLO.values()]
    assert [job.boostings_batch for job in asked] == [128, 512]
    assert all([c["batch"] for c in job.candidates] == [*BATCHES] for job in asked)


def test_another_choice_than_what_was_run_is_judged_by_the_full_factorial(asked: list[Asked]) -> None:
    same, other = asked
    assert same.ran_ours
    assert len(same.actual) == 3
    assert other.answer is not None
    assert other.answer.chosen.configuration["batch"] == 256
    assert not other.ran_ours
    assert len(other.actual) == 1
    notes = " ".join(chosen_section(asked, 32).notes)
    assert "ours would choose 256; the full factorial that it was trained on has" in notes


def test_a_job_without_a_choice_of_boosting_is_refused(made_up: Path) -> None:
    known = known_before(made_up)
    with pytest.raises(StudyError, match="has no line for"):
        ask(evaluation(made_up), known, learn(known, MODEL), {})


def test_a_list_of_known_runs_without_the_flag_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fullfact_all_known_rows.csv").write_text("cpu,batch,njobs,network,time_s\n1,64,1,lenet5,3\n")
    with pytest.raises(StudyError, match="time_equals_previous_row"):
        known_before(tmp_path)


# ---------------------------------------------------------------- the part


@pytest.fixture(scope="module")
def played(made_up: Path) -> tuple[PartResult, list[Task]]:
    tasks: list[Task] = []

    def remember(each: Task) -> Answers:
        tasks.append(each)
        return answer(each)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slo, "answer_all", lambda all_tasks, workers: [remember(task) for task in all_tasks])
        found = Slo(model=MODEL, beside="median", trees=5, n_draws=300).run(made_up)
    return found, tasks


def _value(rows: tuple[Row, ...], item: str, quantity: str) -> float:
    [value] = [row.ours for row in rows if row.item == item and row.quantity == quantity]
    assert value is not None
    return value


def test_no_model_has_seen_the_job_that_it_is_asked_about(played: tuple[PartResult, list[Task]]) -> None:
    *left_out, everything, _ = played[1]
    assert len(left_out) == 3
    for task in left_out:
        [question] = task.questions
        [job] = {job_of(configuration) for configuration in question}
        assert job not in {job_of(run.configuration) for run in task.train.observations}
        assert STALE not in {run.position for run in task.train.observations}
    assert len(everything.train.observations) == 31


def test_the_simulation_has_every_method_and_both_shares_of_ours(played: tuple[PartResult, list[Task]]) -> None:
    *_, strict, easy = played[0].sections
    ours = f"ours ({MODEL}, 0.95)"
    items = {row.item for row in strict.rows}
    assert {"random batch", COURIERS_RULE, ours, "median, 0.95", ORACLE} <= items
    promised = _value(strict.rows, ours, "% of feasible SLOs met, of those promised")
    assert promised >= _value(strict.rows, ours, "% of feasible SLOs met, of all")
    assert _value(strict.rows, ORACLE, "% of feasible SLOs met, of all") == 100
    assert _value(strict.rows, COURIERS_RULE, "% declared infeasible") == 0
    assert strict.notes[0].startswith("the bar for ours")
    assert "not a test" in easy.notes[0]
    assert ORACLE not in {row.item for row in easy.rows}


def test_the_evaluation_counts_single_runs(played: tuple[PartResult, list[Task]]) -> None:
    _, _, summary, _, _ = played[0].sections
    assert _value(summary.rows, "Courier", "of 2 means of three runs on time") == 2
    assert _value(summary.rows, "Courier and boosting", "of 6 single runs on time") == 5
    wrong = {row.item for row in summary.rows if row.verdict is Agreement.DIFFERS}
    assert wrong == {"Courier", "boosting", "boosting, given the wrong network"}  # these runs are not the paper's


def test_an_slo_that_nothing_meets_is_a_mistake_of_the_paper_with_its_share(
    played: tuple[PartResult, list[Task]],
) -> None:
    [mistake] = played[0].mistakes
    assert mistake.number == 8
    impossible, declared = mistake.figures
    assert impossible.right is not None
    assert declared.paper == 0


def test_answers_keep_to_their_questions(clean: Dataset) -> None:
    first, second = list(playable(clean).values())[:2]
    task = Task(clean, (first.candidates, second.candidates), MODEL, trees=5)
    together = answer(task)
    alone = together.model.model_of("time_s")[1].predict(second.candidates)
    assert together.said[1][OURS].times_s == pytest.approx(alone)
    assert len(together.said[0][COURIERS].accuracies) == len(BATCHES)
    assert together.beside is None


def test_without_measurements_table_9_is_held_against_the_papers_own_error() -> None:
    found = replicate("courier2021", "slo")
    [section] = found.sections
    assert [mistake.number for mistake in found.mistakes] == [8]
    expected = _value(section.rows, "all jobs", "expected runs on time, of 15")
    assert expected == pytest.approx(3 * sum(map(chance_in_time, TABLE_9)))
    assert expected < 15
    assert "authors_gb_predictions.csv" in found.notes[0]
