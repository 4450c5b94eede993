"""Courier 2021. The measurements are not ours to ship: all files here are made up, to test reading and reporting."""

from itertools import product
from pathlib import Path

import pytest

from sparkcast.errors import StudyError
from sparkcast.replications import Replicated, Verdict, replicate
from sparkcast.replications.courier2021 import _printed
from sparkcast.replications.courier2021._implied import implied_df
from sparkcast.replications.courier2021._runs import from_cells, undo_recovery

STALE = (11, 30)  # rows of the made-up file that repeat the time of the row before
ALMOST = 31  # one that does so up to 0.0001 s


def _time(cpu: int, batch: int, njobs: int, number: int) -> float:
    noise = 1 + 0.05 * ((number * 7919) % 101 / 101 - 0.5)
    return (30 + 25000 / batch + 4 * cpu * njobs + 8 / cpu) * noise


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
    assert (as_given.ours, as_given.verdict) == (2, Verdict.DIFFERS)
    assert (repaired.ours, repaired.verdict) == (3, Verdict.AGREES)
    assert (wrong.ours, wrong.verdict) == (0, Verdict.AGREES)
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
    from sparkcast.replications.courier2021._runs import replicate_1

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
