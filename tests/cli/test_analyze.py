"""`sparkcast analyze` as a user types it: the conclusions on a published table, and every way to get it wrong."""

import csv
import json
import random
import sys
from pathlib import Path

import pytest

from sparkcast import cli
from sparkcast_papers.marinos2020._tables import FACTORS, TABLE_II
from tests_support import Call


@pytest.fixture(scope="module")
def table_ii(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Table II of Marinos et al. (2020) as anybody would save it."""
    path = tmp_path_factory.mktemp("analyze") / "table2.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*FACTORS, "cost"])
        writer.writerows([*setting, cost] for setting, costs in TABLE_II for cost in costs)
    return path


def test_the_published_table_is_read_rightly_without_any_flag(call: Call, table_ii: Path) -> None:
    options = ("--factors", ",".join(FACTORS), "--response", "cost")
    answer = call("analyze", str(table_ii), *options, "--json")
    assert answer.code == 0
    found = json.loads(answer.out)
    assert found["transform"] == "log"
    assert found["proposal"]["transform"] == "log"
    assert found["r_squared"] >= 0.83
    by_share = sorted(found["rows"][:-1], key=lambda row: -row["percent"])
    assert [row["term"] for row in by_share[:2]] == ["lr", "lr:batch"]
    # The specification's shares on the log scale, of all two-factor interactions in 32 rows.
    shares = {row["term"]: round(row["percent"], 1) for row in by_share}
    assert {term: shares[term] for term in ("lr", "lr:batch", "epochs:lr", "epochs:batch", "nodes:lr", "cores")} == {
        "lr": 33.5,
        "lr:batch": 13.9,
        "epochs:lr": 7.4,
        "epochs:batch": 6.8,
        "nodes:lr": 6.7,
        "cores": 4.9,
    }
    assert found["summary"][0].startswith("cost depends most on lr (33%), then lr:batch (14%), epochs:lr (7.4%), ")
    # Its rows are sorted by the settings: ten rows of a configuration need not have run one after the other.
    assert any("Cluster settings matter: nodes, executors, cores" in sentence for sentence in found["summary"])
    assert any(warning.startswith("the rows are sorted by the settings, so") for warning in found["warnings"])
    assert not any("blocks" in warning for warning in found["warnings"])
    assert not any("add it as a factor" in warning for warning in found["warnings"])
    plain = " ".join(check["sentence"] for check in found["untransformed"]["checks"])
    assert "not normal" in plain
    assert "variances differ" in plain


def test_the_published_table_in_a_random_order_of_runs_is_tested_run_by_run(call: Call, table_ii: Path) -> None:
    """The same answer as for rows that are only sorted, and nothing is assumed."""
    header, *rows = table_ii.read_text().splitlines()
    order = random.Random(1).sample(range(1, len(rows) + 1), len(rows))
    noted = [f"{header},position", *(f"{row},{place}" for row, place in zip(rows, order, strict=True))]
    path = table_ii.with_name("noted.csv")
    path.write_text("\n".join(noted) + "\n")
    found = json.loads(call("analyze", str(path), "--json").out)
    assert found["summary"][0].startswith("cost depends most on lr (33%), then lr:batch (14%), epochs:lr (7.4%), ")
    assert found["summary"][2].startswith("Cluster settings matter: nodes, executors, cores, 20% of the variation")
    told = " ".join(found["warnings"])
    assert "blocks" not in told
    assert "changes with time" not in told  # by the noted order, not by that of the rows
    assert "cost is not in the model" not in told


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> "Run":
    return Run(monkeypatch, capsys, tmp_path)


class Run:
    """The command line in this process: these mistakes are found before anything heavy happens."""

    def __init__(self, patch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str], folder: Path) -> None:
        self._patch, self._captured, self.folder = patch, captured, folder

    def __call__(self, table: str, *options: str) -> tuple[int, str, str]:
        path = self.folder / "runs.csv"
        path.write_text(table)
        self._patch.setattr(sys, "argv", ["sparkcast", "analyze", str(path), *options])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        code = ended.value.code
        assert code is None or isinstance(code, int)
        said = self._captured.readouterr()
        return code or 0, said.out, said.err


GOOD = "a,b,time_s\n1,x,3\n2,x,4\n1,y,5\n2,y,9\n1,x,3.5\n2,y,9.5\n"


@pytest.mark.parametrize(
    ("table", "options", "code", "words"),
    [
        (GOOD, ("--factors", "a,c"), 2, ["no column 'c'", "known: a, b"]),
        (GOOD, ("--factors", "a,a"), 2, ["listed twice"]),
        (GOOD, ("--response", "time"), 2, ["no column 'time'", "did you mean 'time_s'"]),
        (GOOD, ("--formula", "a + bb"), 2, ["'bb', which is not a factor", "did you mean 'b'"]),
        (GOOD, ("--formula", "a:b"), 2, ["a:b without", "include the main effects too"]),
        (GOOD, ("--formula", "I(b**2) + b"), 2, ["b is not numeric"]),
        (GOOD, ("--formula", "__import__('os').system('true')"), 2, ["'__import__', which is not a factor"]),
        (GOOD, ("--response", "x = __import__('os')"), 2, ["rejected"]),
        (GOOD, ("--response", "x ="), 2, ["'' is not an expression"]),
        (GOOD, ("--formula", "~"), 2, ["'' on its left", "hint: write a\n"]),
        (GOOD, ("--response", "x = time_s / (time_s - 3)"), 2, ["row 1:", "division by zero"]),
        (GOOD.replace("2,x,4", "2,x,four"), (), 2, ["row 3, column 'time_s': 'four' is not a number"]),
        (GOOD.replace("2,x,4", "2,x,inf"), (), 2, ["row 3, column 'time_s'", "not finite"]),
        (
            GOOD.replace("2,x,4", "2,x,-4"),
            ("--transform", "log"),
            2,
            ["row 3, column 'time_s': '-4' is negative, and a time cannot be", "--na -4"],
        ),
        (
            GOOD.replace("2,x,4", "2,x,-4").replace("time_s", "gain"),
            ("--response", "gain", "--transform", "log"),
            2,
            ["gain = -4 in row 2 (a=2, b=x)"],
        ),
        (GOOD.replace("2,x,4", "2,,4"), (), 2, ["row 3, column 'b': a setting has no value here"]),
        ("a,b,time_s\n1,x,3\n1,y,4\n", ("--factors", "a,b"), 2, ["column 'a' is 1 in every row"]),
        ("a,a,time_s\n1,x,3\n", (), 2, ["appears twice in the header"]),
        ("a,b,time_s\n", (), 2, ["0 rows"]),
        ("a,b,time_s\n1,x,3\n2,x,4\n1,y,5\n", ("--formula", "a*b"), 2, ["4 parameters, more than the 3 runs"]),
        (
            "a,b,time_s\n1,x,3\n2,x,4\n1,y,5\n2,y,9\n",
            ("--formula", "a*b"),
            4,
            ["no degrees of freedom are left", "at least twice"],
        ),
        ("a,b,time_s\n1,x,3\n2,x,3\n1,y,3\n2,y,3\n", (), 2, ["time_s is 3 in all 4 runs"]),
    ],
)
def test_each_mistake_is_named_with_its_place_and_remedy(
    run: Run, table: str, options: tuple[str, ...], code: int, words: list[str]
) -> None:
    returned, out, err = run(table, *options)
    assert returned == code
    assert out == ""
    for word in [*words, "hint: "]:
        assert word in err


def test_a_response_may_be_a_formula_over_columns(run: Run) -> None:
    code, out, _ = run(GOOD, "--response", "rate = 60 / time_s", "--factors", "a,b", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["response"] == "rate"
    assert max(mean["mean"] for mean in found["means"]) > 10


def test_figures_are_written_as_pictures_and_as_data_and_never_over_others(run: Run) -> None:
    folder = run.folder / "figures"
    code, _, err = run(GOOD, "--factors", "a,b", "--figures", str(folder))
    assert code == 0
    assert "wrote" in err
    names = {path.name for path in folder.iterdir()}
    for kind in ("png", "svg", "vl.json"):
        assert {f"variation-time_s.{kind}", f"main-effects-time_s.{kind}", f"residuals-time_s.{kind}"} <= names
    code, _, err = run(GOOD, "--factors", "a,b", "--figures", str(folder))
    assert code == 2
    assert "--force" in err


def test_the_text_ends_with_five_lines(run: Run) -> None:
    code, out, _ = run(GOOD, "--factors", "a,b", "--details")
    assert code == 0
    summary = out[out.index("In short\n") :].strip().split("\n")
    assert len(summary) == 6
    for title in ("Means by level", "Tukey's HSD", "Coefficients in original units", "alone"):
        assert title in out
