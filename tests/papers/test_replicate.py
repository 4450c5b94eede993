"""What all papers share: their parts say what they do, and what cannot be found is named."""

import json
from pathlib import Path

import pytest

from sparkcast.errors import SparkcastError, UnknownNameError
from sparkcast.replications import REPLICATIONS, replicate
from tests_support import Sparkcast


@pytest.mark.parametrize("paper", REPLICATIONS.names())
def test_every_paper_has_a_title_and_parts_that_say_what_they_do(paper: str) -> None:
    replication = REPLICATIONS.get(paper)
    assert replication.title
    assert replication.parts.names()
    assert all(replication.parts.summaries().values())


def test_an_unknown_part_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match="no part of courier2021 named 'anova2'") as error:
        replicate("courier2021", "anova2")
    assert error.value.hint == "did you mean 'anova'?"


@pytest.mark.parametrize(
    ("paper", "part", "data", "message"),
    [
        ("marinos", None, None, "did you mean 'marinos2020'?"),
        ("marinos2020", "queues", "nowhere", "results.csv"),
        ("marinos2020", "local", "nowhere", "there is no folder 'nowhere'"),
        ("marinos2020", "queues", ".", "there is no file 'results.csv'"),
        ("courier2021", "anova", None, "`data=DIR` with fullfact_rep1.csv"),
        ("courier2021", None, ".", "there is no file 'fullfact_rep1.csv'"),
        ("javaheri2021", None, "nothing.csv", "no file 'nothing.csv'"),
        ("javaheri2021", None, ".", "is a folder"),
    ],
)
def test_what_cannot_be_found_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paper: str, part: str | None, data: str | None, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SparkcastError) as error:
        replicate(paper, part, None if data is None else Path(data))
    assert error.value.exit_code == 2
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["marinos2020", "--part", "queue"], "did you mean 'queues'?"),
        (["courier2021", "--data", "."], "there is no file 'fullfact_rep1.csv'"),
    ],
)
def test_the_command_refuses_what_it_cannot_find(sparkcast: Sparkcast, words: list[str], message: str) -> None:
    answer = sparkcast("replicate", *words)
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert message in answer.stderr


def test_the_command_prints_tables_mistakes_and_a_count(sparkcast: Sparkcast) -> None:
    answer = sparkcast("replicate", "marinos2020", "--part", "queues", "--details")
    assert answer.returncode == 0, answer.stderr
    assert "7. Paper: M/M/4" in answer.stdout
    assert answer.stdout.splitlines()[-1].startswith("marinos2020 (queues): ")


def test_the_command_gives_the_whole_result_as_json(sparkcast: Sparkcast) -> None:
    answer = sparkcast("replicate", "marinos2020", "--part", "search", "--json")
    result = json.loads(answer.stdout)
    assert result["agrees"] is True
    assert result["parts"] == ["search"]
    assert result["known_parts"] == ["anova", "design", "local", "queues", "search"]
    row = result["sections"][0]["rows"][0]
    assert (row["printed"], row["verdict"], row["rule"]) == ("9.011", "agrees", "4 printed digits")
    assert result["mistakes"][0]["number"] == 8
