"""Courier 2021. The measurements are not ours to ship: all files here are made up, to test reading and reporting."""

from functools import partial
from itertools import product
from pathlib import Path

import pytest

from sparkcast.errors import StudyError
from sparkcast.replications import Agreement, CorrectedFigure, PartResult, Replicated, replicate
from sparkcast.study import Configuration, Dataset, Observation
from sparkcast_papers.courier2021 import _laws, _printed, models_auto
from sparkcast_papers.courier2021._implied import implied_df
from sparkcast_papers.courier2021._runs import evaluation, from_cells, replicate_1, times_only, undo_recovery
from sparkcast_papers.courier2021._splits import by_rows, by_settings, draw, score, scores, settings, times
from sparkcast_papers.courier2021._techniques import FACTORS, OURS, columns, linear, our_techniques, ours
from sparkcast_papers.courier2021.mistakes import Mistakes, table_of_means
from sparkcast_papers.courier2021.models import Models

STALE = (11, 30)  # rows of the made-up file that repeat the time of the row before
ALMOST = 31  # one that does so up to 0.0001 s
EVALUATION = "courier_eval_5jobs_3reps.csv"
PREDICTED = (
    "rf_time_paper_table9,rf_time_bug_all_simplenet,gb_time_correct_network,gb_time_bug_all_simplenet,"
    "rf_acc_paper_table9,gb_acc_correct_network"
)


def _time(cpu: int, batch: int, njobs: int, number: int) -> float:
    noise = 1 + 0.05 * ((number * 7919) % 101 / 101 - 0.5)
    return (30 + 25000 / batch + 4 * cpu * njobs + 8 / cpu) * noise


def _write_evaluation(folder: Path) -> None:
    """Two jobs three times: the first always in time, the second in the mean and in two of three runs."""
    lines = [f"cpu,batch,njobs,network,time_s,slo_s,accuracy,{PREDICTED}"]
    lines += [f"2,128,1,lenet5,{time},150,0.94,110,140,105,130,0.93,0.94" for time in (90, 100, 110)]
    lines += [f"4,128,1,simplenet,{time},215,0.92,200,200,200,200,0.92,0.92" for time in (190, 200, 220)]
    (folder / EVALUATION).write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made-up")
    settings = list(product(("lenet5", "simplenet"), (1, 3, 5), (64, 128, 256, 512), (1, 2, 4, 8)))
    lines = ["cpu,batch,njobs,network,time_s,time_equals_previous_row"]
    last = 0.0
    for number, (network, njobs, batch, cpu) in enumerate(settings, start=1):
        is_stale = number in (*STALE, ALMOST)
        time = last + 1e-4 * (number == ALMOST) if is_stale else round(_time(cpu, batch, njobs, number), 7)
        lines.append(f"{cpu},{batch},{njobs},{network},{time!r},{is_stale}")
        last = time
    (folder / "fullfact_rep1.csv").write_text("\n".join(lines) + "\n")
    cells = ["cpu,batch,njobs,N,time_mean,time_sd"]
    cells += [
        f"{cpu},{batch},{njobs},6.0,{_time(cpu, batch, njobs, i)},{5 + i % 7}"
        for i, (cpu, batch, njobs) in enumerate(product((1, 2, 4, 8), (64, 128, 256, 512), (1, 3, 5)))
    ]
    (folder / "fullfact_cells_time_3reps_n6.csv").write_text("\n".join(cells) + "\n")
    _write_evaluation(folder)
    return folder


@pytest.fixture(scope="module")
def result(made_up: Path) -> Replicated:
    return replicate("courier2021", "anova", made_up)


def test_the_shape_of_the_result(result: Replicated) -> None:
    assert [len(section.rows) for section in result.sections] == [4, 4, 4, 3]
    assert [mistake.number for mistake in result.mistakes] == [5, 6, 7, 9, 10]
    # Made-up times do not give the paper's F.
    assert not result.agrees


def test_stale_rows_are_those_that_analyze_names(result: Replicated) -> None:
    as_given, repaired, wrong = result.sections[3].rows
    assert (as_given.ours, as_given.verdict) == (2, Agreement.DIFFERS)
    assert (repaired.ours, repaired.verdict) == (3, Agreement.AGREES)
    assert (wrong.ours, wrong.verdict) == (0, Agreement.AGREES)
    assert any("not named: 31;" in note for note in result.sections[3].notes)


def test_clusters_that_go_with_the_network_make_analyze_warn(result: Replicated) -> None:
    confounded = next(m for m in result.mistakes if m.number == 6)
    assert next(f for f in confounded.figures if f.what.startswith("warnings")).right == 1
    assert "network" in confounded.truth


def test_cells_become_runs_with_their_mean_and_deviation(made_up: Path) -> None:
    from statistics import fmean, stdev

    runs = from_cells(made_up)
    assert len(runs.observations) == 288
    first = [o.responses["time_s"] for o in runs.observations[:6]]
    assert fmean(first) == pytest.approx(_time(1, 64, 1, 0))
    assert stdev(first) == pytest.approx(5)


def test_times_within_the_error_of_recovery_become_equal(made_up: Path) -> None:
    times = [o.responses["time_s"] for o in undo_recovery(replicate_1(made_up)).observations]
    assert times[ALMOST - 1] == times[ALMOST - 2]
    assert len(set(times)) == 96 - 3


def test_printed_tests_give_away_how_many_runs_they_are_of() -> None:
    assert implied_df(_printed.TABLE_3) == [240 - 16]
    assert implied_df(_printed.TABLE_2) == [48 - 8]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("fullfact_rep1.csv", "cpu,batch,njobs,network,time_s\n1,64,1,lenet5,3\n", "time_equals_previous_row"),
        ("fullfact_rep1.csv", "cpu,batch,njobs,time_s\n1,64,1,3\n", "network"),
        ("fullfact_cells_time_3reps_n6.csv", "cpu,batch,njobs,N,time_mean\n1,64,1,6,3\n", "time_sd"),
        ("fullfact_cells_time_3reps_n6.csv", "cpu,batch,njobs,N,time_mean,time_sd\n1,64,1,6,3,\n", "row 1"),
    ],
)
def test_a_file_without_what_is_needed_is_refused(
    made_up: Path, tmp_path: Path, name: str, text: str, message: str
) -> None:
    for file in made_up.iterdir():
        (tmp_path / file.name).write_text(text if file.name == name else file.read_text())
    with pytest.raises(StudyError, match=message):
        replicate("courier2021", "anova", tmp_path)


@pytest.fixture(scope="module")
def runs(made_up: Path) -> Dataset:
    return times_only(replicate_1(made_up))


def test_drawing_rows_leaves_replicates_on_both_sides_and_drawing_settings_does_not(made_up: Path) -> None:
    cells = from_cells(made_up)

    def shared(train: Dataset, test: Dataset) -> int:
        return len({train.key(run) for run in train.observations} & {test.key(run) for run in test.observations})

    rows, whole = by_rows(cells, 0), by_settings(cells, 0)
    assert shared(rows.train, rows.test) > 30
    assert shared(whole.train, whole.test) == 0
    assert len(whole.train.observations) + len(whole.test.observations) == len(cells.observations)


def test_without_replicates_both_ways_to_split_are_the_same(runs: Dataset) -> None:
    assert by_rows(runs, 42) == by_settings(runs, 42)


def test_the_authors_draw_asks_twenty_of_ninety_six_rows() -> None:
    learned, asked = draw(96, 42)
    assert (len(learned), len(asked)) == (76, 20)
    assert sorted(learned + asked) == list(range(96))


def test_models_see_nothing_but_settings_and_time(made_up: Path, runs: Dataset) -> None:
    assert {name for run in runs.observations for name in run.responses} == {"time_s"}
    assert [run.position for run in runs.observations] == list(range(1, 97))


def test_columns_are_those_of_the_paper() -> None:
    at = [
        Configuration({"cpu": 4, "batch": 128, "njobs": 3, "network": "lenet5"}),
        Configuration({"cpu": 1, "batch": 64, "njobs": 5, "network": "simplenet"}),
    ]
    assert columns(at, ("processes", "batch", "network")).tolist() == [[12, 128, 1], [5, 64, -1]]


def _lawful(spare: float, cpu_s: float = _laws.CPU_S) -> Dataset:
    """Runs that follow the law exactly, with a disk that serves `spare` more requests than come."""
    at = [
        Configuration({"cpu": cpu, "batch": batch, "njobs": 1, "network": "lenet5"})
        for cpu, batch in product((1, 2), (64, 128, 256))
    ]
    found = _laws.passes(at) * (cpu_s + 1 / spare)
    rows = zip(at, found, strict=True)
    return Dataset(FACTORS, tuple(Observation(own, {"time_s": float(time)}) for own, time in rows))


def test_the_inverted_law_gives_back_the_rate_and_the_times_it_came_from() -> None:
    lawful = _lawful(spare=50.0)
    at = settings(lawful)
    assert _laws.disk_rate(lawful) == pytest.approx(50 + _laws.arrival_rate(at))
    assert _laws.laws(lawful, at) == pytest.approx(times(lawful))


def test_the_printed_sign_takes_the_time_at_the_disk_away() -> None:
    lawful = _lawful(spare=50.0)
    at = settings(lawful)
    both = _laws.laws(lawful, at) + _laws.laws_as_printed(lawful, at)
    assert both == pytest.approx(2 * _laws.CPU_S * _laws.passes(at))


def test_a_run_faster_than_the_cpu_alone_inverts_to_a_negative_rate() -> None:
    assert (_laws.disk_rate(_lawful(spare=1000.0, cpu_s=0.040)) < 0).all()


def test_the_linear_model_has_all_interactions(runs: Dataset) -> None:
    def exact(at: Configuration) -> float:
        cpu, batch, njobs = (float(at[name]) for name in FACTORS[:3])
        return 500 + cpu * batch * njobs * (1 if at["network"] == "lenet5" else -1) / 100 - batch

    observations = tuple(
        Observation(run.configuration, {"time_s": exact(run.configuration)}) for run in runs.observations
    )
    split = by_settings(Dataset(FACTORS, observations), 1)
    assert linear(split.train, settings(split.test)) == pytest.approx(times(split.test))


def test_r2_is_relative_to_what_was_measured() -> None:
    import numpy as np

    measured, predicted = np.array([1.0, 2.0, 3.0]), np.array([1.5, 2.0, 2.5])
    assert score(predicted, measured).r2 == pytest.approx(0.75)
    assert score(measured, predicted).r2 == pytest.approx(0)


def test_a_table_of_means_knows_settings_it_has_seen_and_no_others(made_up: Path) -> None:
    cells = from_cells(made_up)
    at = [
        Configuration({"cpu": 1, "batch": 64, "njobs": 1}),
        Configuration({"cpu": 3, "batch": 64, "njobs": 1}),
    ]
    assert table_of_means(cells, at) == pytest.approx([_time(1, 64, 1, 0), times(cells).mean()])


def test_every_model_of_ours_is_asked_the_same_splits(runs: Dataset) -> None:
    found = scores(our_techniques(), runs, seeds=(0,))
    assert found.keys() == OURS.keys()
    assert all(len(each) == 1 and each[0].mse > 0 for each in found.values())


@pytest.fixture(scope="module")
def found(made_up: Path) -> PartResult:
    grid = {"n_estimators": (5,), "max_depth": (4, 6)}
    return Models(seeds=(0, 1), trees=5, fewer_trees=5, grid=grid).run(made_up)


def test_the_models_part_has_the_papers_models_and_ours(found: PartResult) -> None:
    authors, tables, medians, without, evaluated = found.sections
    both = {*_printed.AUTHORS_SPLIT, *OURS}
    assert {row.item for row in authors.rows} == {*both, "random forest, reduced grid"}
    assert {row.item for row in tables.rows} == {*_printed.TIME}
    assert {row.item for row in medians.rows} == {row.item for row in without.rows} == both
    assert {row.item for row in evaluated.rows} >= {"Courier", *OURS}
    assert "without the 3 stale rows" in without.title


def test_only_numbers_of_the_same_data_are_held_against_ours(found: PartResult) -> None:
    authors, tables, medians, *others = found.sections
    judged = {row.item for row in (*authors.rows, *medians.rows) if row.verdict is not Agreement.SHOWN}
    assert judged == {*_printed.AUTHORS_SPLIT}
    assert {row.verdict for section in (tables, *others) for row in section.rows} == {Agreement.SHOWN}


def test_the_evaluation_is_beside_what_the_means_themselves_would_miss(found: PartResult) -> None:
    shown = {row.item: row.ours for row in found.sections[-1].rows if row.quantity == "MSE"}
    assert shown["Courier"] == pytest.approx((20**2 + 10**2 + 0 + 10**2 + 0 + 20**2) / 6)
    assert shown["mean of each job's three runs"] == pytest.approx((200 + 466.667) / 6, rel=1e-4)


def test_auto_is_asked_beside_others(made_up: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # `auto` itself takes seconds for each split.
    monkeypatch.setitem(models_auto._TECHNIQUES, "auto", partial(ours, model="median"))
    authors, without = models_auto.ModelsAuto(seeds=(0,)).run(made_up).sections
    assert {row.item for row in authors.rows} == {row.item for row in without.rows} == {*models_auto._TECHNIQUES}


@pytest.fixture(scope="module")
def mistakes(made_up: Path) -> dict[int, dict[str, CorrectedFigure]]:
    shown = Mistakes(seeds=(0, 1)).run(made_up)
    return {m.number: {figure.what: figure for figure in m.figures} for m in shown.mistakes}


def test_mistakes_come_with_numbers_of_the_measurements(mistakes: dict[int, dict[str, CorrectedFigure]]) -> None:
    assert list(mistakes) == [1, 2, 3, 4, 7]
    network = mistakes[1]["MSE of boosting, wrong and right network"]
    assert network.paper == pytest.approx((40**2 + 30**2 + 20**2 + 10**2 + 0 + 20**2) / 6)
    assert network.right == pytest.approx((15**2 + 5**2 + 5**2 + 10**2 + 0 + 20**2) / 6)
    assert (mistakes[1]["MSE of the accuracy, boosting"].right or 0) == pytest.approx(0)


def test_slos_are_met_by_means_more_often_than_by_runs(mistakes: dict[int, dict[str, CorrectedFigure]]) -> None:
    met = mistakes[7]["% of SLOs met, means and single runs"]
    assert met.paper == 100
    assert met.right == pytest.approx(100 * 5 / 6)
    slo = next(figure for what, figure in mistakes[7].items() if what.startswith("SLO in s of cpu=4"))
    assert (slo.paper, slo.right) == (254, 215)


def test_the_constrained_law_has_no_negative_rate(mistakes: dict[int, dict[str, CorrectedFigure]]) -> None:
    figures = mistakes[4]
    assert figures["runs with a negative mu, by inversion and constrained"].right == 0
    assert all(figure.right == 0 for what, figure in figures.items() if what.startswith("% of predictions"))
    assert figures["s on the CPU for 10 epochs in batches of 64, per record and per batch"].paper == pytest.approx(
        27_000
    )


def test_rows_of_known_settings_are_easier_than_new_settings(mistakes: dict[int, dict[str, CorrectedFigure]]) -> None:
    seen = mistakes[2]["% of test rows whose configuration is in the training data, split by row and by configuration"]
    assert (seen.paper, seen.right) == (100, 0)
    forest = mistakes[2]["MSE of a forest, split by row and by configuration, median of 2 splits"]
    assert forest.paper is not None
    assert forest.right is not None
    assert forest.paper < forest.right


def test_without_measurements_the_papers_own_numbers_show_some_mistakes() -> None:
    shown = replicate("courier2021", "mistakes")
    assert [mistake.number for mistake in shown.mistakes] == [2, 3, 4]
    assert shown.agrees
    assert [row.compared for row in shown.sections[0].rows] == ["0.635", "0.959"]
    assert EVALUATION in shown.notes[0]


@pytest.mark.parametrize("part", ["models", "models-auto"])
def test_models_cannot_be_learned_without_measurements(part: str) -> None:
    with pytest.raises(StudyError, match=f"`data=DIR` with fullfact_rep1.csv and {EVALUATION}"):
        replicate("courier2021", part)


@pytest.mark.parametrize(
    ("old", "new", "message"), [("slo_s", "slo", "slo_s"), (",150,0.94,", ",,0.94,", "row 1 has no slo_s")]
)
def test_an_evaluation_without_what_is_needed_is_refused(
    made_up: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    (tmp_path / EVALUATION).write_text((made_up / EVALUATION).read_text().replace(old, new))
    with pytest.raises(StudyError, match=message):
        evaluation(tmp_path)
