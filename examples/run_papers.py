"""Run the papers in small again, and refresh the results that are kept beside each study.

    python examples/run_papers.py                  all papers
    python examples/run_papers.py myung2020        one of them

Every study file in `examples/PAPER/` is run on an embedded cluster. Its runs go to `examples/PAPER/results/STUDY.csv`,
and what `sparkcast replicate PAPER --part local --details` makes of them to `report.txt` beside them. Work in progress
is in `papers.results/`: an interrupted pass goes on where it stopped, and a paper that is finished is removed from
there, so that the next pass starts anew.
"""

import csv
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from sparkcast import api
from sparkcast.study import Configuration, Level

EXAMPLES = Path(__file__).parent
WORK = EXAMPLES.parent / "papers.results"
PAPERS = ("courier2021", "javaheri2021", "marinos2020", "myung2020", "polimi2019")

# The search of marinos2020: which runs a searcher may make, and how often what it finds is checked.
DESIGN, SEARCH, DOUBLING = "factorial", "search", "doubling"
MOST_RUNS, MOST_DOUBLING_RUNS, DOUBLING_REPLICATES, CHECKS = 6, 12, 2, 2
COST = "cost"


def main(papers: Sequence[str]) -> None:
    unknown = sorted(set(papers) - set(PAPERS))
    if unknown:
        sys.exit(f"no paper named {unknown[0]!r}; known: {', '.join(PAPERS)}")
    begun = time.monotonic()
    for paper in papers or PAPERS:
        run_paper(paper)
    say(f"all of it took {minutes(time.monotonic() - begun)}")


def run_paper(paper: str) -> None:
    begun, source, work = time.monotonic(), EXAMPLES / paper, WORK / paper
    work.mkdir(parents=True, exist_ok=True)
    for study in sorted(source.glob("*.yaml")):
        shutil.copy(study, work)
        if study.stem not in (SEARCH, DOUBLING):  # which are run by their searcher
            run_study(work / study.name)
            keep(work / study.name, source)
    if paper == "marinos2020":
        find_optima(work, source / "results" / "optimum.csv")
    (source / "results" / "report.txt").write_text(report(paper, source / "results"), encoding="utf-8")
    shutil.rmtree(work)
    say(f"{paper} took {minutes(time.monotonic() - begun)}")


def run_study(study: Path) -> None:
    begun = time.monotonic()
    result = api.run(study, resume=True, on_progress=lambda progress: say(f"  {progress.text}"))
    say(f"{study.stem}: {result.finished} of {result.planned} runs, {minutes(time.monotonic() - begun)}")
    if result.finished < result.planned:
        sys.exit(f"{result.reason}; run it again to go on")


def keep(study: Path, target: Path) -> None:
    (target / "results").mkdir(exist_ok=True)
    api.export(api.load_data(study), target / "results" / f"{study.stem}.csv")


def report(paper: str, results: Path) -> str:
    """What these results say beside the paper's numbers."""
    options = ["--part", "local", "--details", "--data", str(results)]
    command = [sys.executable, "-m", "sparkcast", "replicate", paper, *options]
    environment = {**os.environ, "COLUMNS": "140", "NO_COLOR": "1"}
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def find_optima(work: Path, target: Path) -> None:
    """The cheapest settings by `recommend`, by `tune` and by the paper's doubling rule, each checked with real runs."""
    design = work / f"{DESIGN}.yaml"
    advised = api.recommend(api.load_data(design), minimize=COST).chosen
    found: dict[str, tuple[Path, Configuration, float | None, int]] = {
        "recommend": (design, advised.configuration, advised.predicted(COST).value, len(api.plan(design).trials)),
    }
    for name, searcher, replicates, most in (
        (SEARCH, "guided", None, MOST_RUNS),
        (DOUBLING, "doubling", DOUBLING_REPLICATES, MOST_DOUBLING_RUNS),
    ):
        study = work / f"{name}.yaml"
        result = api.tune(
            study,
            minimize=COST,
            searcher=api.SearchMethod(searcher, replicates=replicates),
            budget=api.Budget(most),
            resume=study.with_suffix(".results").exists(),
            on_progress=lambda progress: say(f"  {progress.text}"),
        )
        assert result.best is not None, result.stopped_because
        found[searcher] = (study, result.best.configuration, result.best.value, result.runs)
        say(f"{searcher}: {result.best.configuration} in {result.runs} runs: {result.stopped_because}")
    rows = [
        {"method": method, "runs": runs, "expected": expected, **row}
        for method, (study, settings, expected, runs) in found.items()
        for row in check(study, method, settings)
    ]
    write(rows, target)


def check(origin: Path, method: str, settings: Configuration) -> list[dict[str, Level]]:
    """The settings that a study led to, run again as a study of their own."""
    content = yaml.safe_load(origin.read_text())
    content["study"] = f"check-{method}"
    content["settings"] |= dict(settings)
    content["design"] = {"kind": "full", "replicates": CHECKS, "seed": 1}
    study = origin.with_name(f"check-{method}.yaml")
    study.write_text(yaml.safe_dump(content))
    run_study(study)
    names = [*content["settings"]]
    return [
        {**run.configuration.only(names), "replicate": run.replicate, **responses(run.responses)}
        for run in api.load_data(study).dataset.observations
    ]


def responses(measured: Mapping[str, float]) -> dict[str, float]:
    return {name: measured[name] for name in ("work_s", "accuracy", COST)}


def write(rows: Iterable[Mapping[str, object]], target: Path) -> None:
    rows = list(rows)
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} min"


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
