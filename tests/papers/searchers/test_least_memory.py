"""The least memory by bisection, on simulated clusters: a combination runs out of memory below what it needs."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkcast.errors import StudyError
from sparkcast.runs import site
from sparkcast.search.base import Cell, Evaluation, Search
from sparkcast.study import Configuration, Outcome, Role, Setting, Vocabulary
from sparkcast.units import parse_bytes
from sparkcast_papers.searchers.least_memory import LeastMemory
from tests_support import Answer, Call, PlayedEngine, Settings

GIB = 2**30
Cluster = Callable[[Configuration], Outcome]


def grid(memory: Sequence[str], **others: Sequence[int | str]) -> tuple[Configuration, ...]:
    found = [Configuration({"memory": level}) for level in memory]
    for name, levels in others.items():
        found = [candidate | {name: level} for level in levels for candidate in found]
    return tuple(found)


def needing(bytes_for: Callable[[Configuration], float]) -> Cluster:
    """A simulated cluster."""
    return lambda c: Outcome.OK if parse_bytes(str(c["memory"])) >= bytes_for(c) else Outcome.OOM


def search(
    candidates: Sequence[Configuration], cluster: Cluster, vocabulary: Vocabulary | None = None
) -> tuple[LeastMemory, list[Configuration]]:
    searcher = LeastMemory(Search(tuple(candidates), vocabulary=vocabulary or Vocabulary()))
    asked: list[Configuration] = []
    while (configuration := searcher.ask()) is not None:
        assert configuration not in asked
        asked.append(configuration)
        outcome = cluster(configuration)
        searcher.tell(Evaluation(configuration, 1.0 if outcome is Outcome.OK else None, None, outcome))
    assert searcher.stopped_because
    return searcher, asked


def answers(searcher: LeastMemory) -> Mapping[Cell, Cell]:
    """The first of the other settings -> the memory."""
    return {row[0]: row[-2] for row in searcher.findings().rows}


# The paper's grid: 7 sizes of memory, 5 of partitions; here an image takes 0.1 GiB and a replica 1.5.
PAPER = grid([f"{n}g" for n in range(2, 15, 2)], partition_size=[20, 40, 60, 80, 100])
PAPER_CLUSTER = needing(lambda c: (1.5 + 0.1 * float(c["partition_size"])) * GIB)


def test_the_grid_of_the_paper_takes_a_third_of_its_runs() -> None:
    searcher, asked = search(PAPER, PAPER_CLUSTER)
    assert answers(searcher) == {20: "4g", 40: "6g", 60: "8g", 80: "10g", 100: "12g"}
    assert len(asked) <= 35 / 3
    findings = searcher.findings()
    assert findings.columns == ("partition_size", "memory", "runs")
    assert findings.note == f"{len(asked)} runs; all 35 combinations of the levels would be a run each"
    assert sum(int(row[-1] or 0) for row in findings.rows) == len(asked)


@given(
    n_levels=st.integers(2, 12),
    needs=st.lists(st.integers(0, 13), min_size=1, max_size=6),
)
def test_the_exact_least_level_is_found_within_the_runs_of_a_bisection(n_levels: int, needs: list[int]) -> None:
    """`needs` in GiB, sorted: a larger partition needs no less. More than all levels: none is enough."""
    needs.sort()
    levels = [f"{n}g" for n in range(1, n_levels + 1)]
    searcher, asked = search(
        grid(levels, partition_size=range(len(needs))), needing(lambda c: needs[int(c["partition_size"])] * GIB)
    )
    for size, need in enumerate(needs):
        least = max(1, need)
        expected = f"{least}g" if least <= n_levels else f"more than {n_levels}g"
        assert answers(searcher)[size] == expected
        n_runs = sum(c["partition_size"] == size for c in asked)
        assert n_runs <= math.ceil(math.log2(n_levels)) + 1
    assert not [warning for warning in searcher.warnings if "did not" in warning]


@given(
    needs=st.dictionaries(
        st.tuples(st.sampled_from(["resnet50", "xception"]), st.integers(1, 3)),
        st.integers(1, 9),
        min_size=6,
        max_size=6,
    )
)
def test_what_is_no_amount_is_searched_on_its_own(needs: dict[tuple[str, int], int]) -> None:
    """Networks and executors say nothing of each other: any needs are found exactly."""
    candidates = grid([f"{n}g" for n in range(1, 8)], executors=[1, 2, 3], network=["resnet50", "xception"])
    words = Vocabulary((Setting("executors", role=Role.MACHINES),))
    searcher, _ = search(candidates, needing(lambda c: needs[str(c["network"]), int(c["executors"])] * GIB), words)
    found = {(row[1], row[0]): row[2] for row in searcher.findings().rows}
    assert found == {key: f"{need}g" if need <= 7 else "more than 7g" for key, need in needs.items()}


def test_levels_that_rules_leave_out_are_not_asked_for_and_their_neighbors_still_tell() -> None:
    candidates = [c for c in PAPER if not (c["partition_size"] == 60 and c["memory"] == "8g")]
    searcher, asked = search(candidates, PAPER_CLUSTER)
    assert set(asked) <= set(candidates)
    assert answers(searcher) == {20: "4g", 40: "6g", 60: "10g", 80: "10g", 100: "12g"}


@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.ERROR, Outcome.LOST])
def test_a_run_that_failed_otherwise_is_not_out_of_memory(outcome: Outcome) -> None:
    candidates = grid([f"{n}g" for n in (1, 2, 3, 4, 5, 6, 7)])
    needs_three = needing(lambda c: 3 * GIB)
    searcher, _ = search(candidates, lambda c: outcome if c["memory"] == "4g" else needs_three(c))
    assert searcher.findings().rows[0][0] == "3g"  # 4g, asked for first, said nothing
    assert searcher.warnings == ()
    searcher, _ = search(candidates, lambda c: outcome if c["memory"] in ("2g", "3g", "4g") else needs_three(c))
    assert searcher.findings().rows[0][0] == "5g"
    assert f"memory = 3g ended as {outcome}, which does not tell whether the memory is enough" in searcher.warnings


def test_memory_that_is_never_enough_and_memory_that_always_is_are_told_apart() -> None:
    candidates = grid(["1g", "2g"], partition_size=[20, 40])
    searcher, _ = search(candidates, needing(lambda c: 0 if c["partition_size"] == 20 else 9 * GIB))
    assert answers(searcher) == {20: "1g", 40: "more than 2g"}
    assert searcher.warnings == ("the lowest level is enough (memory = 1g at partition_size=20): less may be too",)


def test_runs_that_contradict_more_is_enough_are_told() -> None:
    searcher = LeastMemory(Search(grid(["1g", "2g", "4g"], partition_size=[20, 40])))
    for size, memory, outcome in ((40, "2g", Outcome.OK), (20, "2g", Outcome.OOM)):
        configuration = Configuration({"memory": memory, "partition_size": size})
        searcher.tell(Evaluation(configuration, 1.0 if outcome is Outcome.OK else None, None, outcome))
    told = "memory = 2g at partition_size=20 ran out of memory, but memory = 2g at partition_size=40 did not"
    assert [warning for warning in searcher.warnings if warning.startswith(told)]
    asked = searcher.ask()
    assert asked is not None
    assert asked["memory"] == "4g"  # what failed counts: the answer is safe, if not the least


@given(outcomes=st.lists(st.sampled_from(Outcome), min_size=1, max_size=20))
def test_whatever_the_runs_give_it_ends_with_each_asked_once(outcomes: list[Outcome]) -> None:
    turns = iter(outcomes * len(PAPER))
    searcher, asked = search(PAPER, lambda c: next(turns))
    assert len(asked) <= len(PAPER)
    assert len(searcher.findings().rows) == 5


def test_an_unfinished_search_says_what_is_known_so_far() -> None:
    searcher = LeastMemory(Search(grid(["1g", "2g", "4g"])))
    assert searcher.findings().rows == (("unknown", 0),)
    asked = searcher.ask()
    assert asked == {"memory": "2g"}
    searcher.tell(Evaluation(asked, 1.0, 1.0, Outcome.OK))
    assert searcher.findings().rows == (("at most 2g", 1),)
    assert searcher.stopped_because == ""


@pytest.mark.parametrize(
    "candidates", [grid(["1g"], partition_size=[20, 40]), (Configuration({"executors": 1}), Configuration({}))]
)
def test_a_study_that_does_not_vary_memory_is_refused_with_the_way_out(candidates: tuple[Configuration, ...]) -> None:
    with pytest.raises(StudyError, match="needs a memory setting with several levels") as caught:
        LeastMemory(Search(candidates))
    assert "memory: [1g, 2g, 4g]" in caught.value.hint


# ---------------------------------------------------------------- through the loop, with played runs


STUDY = """\
study: s
workload: pi
settings: {memory: [512m, 1g, 2g, 4g], samples: [1000, 2000]}
spark: {master: played}
"""


@pytest.fixture
def tune(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call) -> Callable[..., Answer]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(STUDY)

    def run(needs: Mapping[int, str], *options: str) -> Answer:
        def play(given: Settings) -> Mapping[str, float] | str:
            enough = parse_bytes(given["memory"]) >= parse_bytes(needs[given["samples"]])
            return {"time_s": 1.0, "throughput": 1.0, "error": 0.0} if enough else "MemoryError: no room"

        monkeypatch.setattr(site, "engine_for", lambda options: PlayedEngine(play))
        return call("tune", "s.yaml", "--searcher", "least-memory", *options)

    return run


def test_the_answer_is_a_table(tune: Callable[..., Answer]) -> None:
    answer = tune({1000: "1g", 2000: "3g"})
    assert answer.code == 0, answer.err
    lines = [" ".join(line.split()) for line in answer.out.splitlines()]
    assert lines[:2] == ["least memory that is enough", "samples memory runs"]
    assert lines[3][:-2] == "1000 1g"
    assert lines[4][:-2] == "2000 4g"
    assert "5 runs; all 8 combinations of the levels would be a run each" in lines
    assert "minimize" not in answer.out
    assert "ask on" not in answer.out


def test_the_table_is_part_of_the_json(tune: Callable[..., Answer]) -> None:
    found = json.loads(tune({1000: "1g", 2000: "9g"}, "--json").out)["findings"]
    assert found["columns"] == ["samples", "memory", "runs"]
    assert [row[:2] for row in found["rows"]] == [[1000, "1g"], [2000, "more than 4g"]]


def test_memory_that_is_nowhere_enough_is_infeasible(tune: Callable[..., Answer]) -> None:
    answer = tune({1000: "9g", 2000: "9g"})
    assert answer.code == 5
    assert "all 3 runs ran out of memory, the last at memory=4g" in answer.err
