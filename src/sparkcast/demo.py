"""The whole loop in minutes: design, run, analyze, predict, recommend, and check the recommendation by running it."""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from statistics import median_high

from sparkcast import api
from sparkcast.errors import RunError
from sparkcast.recommend import Prediction, Recommendation
from sparkcast.recommend.lines import answer_lines
from sparkcast.report import CheckRun
from sparkcast.runs.campaign import CampaignResult
from sparkcast.runs.session import OnProgress, Progress
from sparkcast.study import Configuration
from sparkcast.study.application import TIME
from sparkcast.units import show_level

_STUDY = """\
# How do batch size and executors change the time and the accuracy of training LeNet-5?
study: demo
workload: mnist-training
settings:
  executors: [1, 2]
  batch_size: {batch_sizes}
  network: lenet5
  epochs: 2
  sampling_rate: {sampling_rate}
rules:
  - batch_size % (executors * cores) == 0
design: {{kind: full, replicates: {replicates}, seed: 1}}
responses: [time_s, accuracy]
limits: {{total: 15m, trial: 3m}}
spark:
  master: embedded
  conf:
    # Runs this short would mostly measure Java's second compiler at work; leave these out for longer ones.
    spark.driver.extraJavaOptions: -XX:TieredStopAtLevel=1
    spark.executor.extraJavaOptions: -XX:TieredStopAtLevel=1
price: {{core_hour: 0.05, currency: USD}}
"""
_FULL = {"batch_sizes": "[64, 128, 256, 512]", "sampling_rate": 0.5, "replicates": 2}
_QUICK = {"batch_sizes": "[64, 256]", "sampling_rate": 0.25, "replicates": 1}


@dataclass(frozen=True, slots=True)
class DemoResult:
    report: Path
    runs: int
    recommendation: Recommendation
    check: CheckRun
    lines: tuple[str, ...]  # the story, for people


def run_demo(out: Path, *, quick: bool = False, on_progress: OnProgress = lambda progress: None) -> DemoResult:
    """Everything in `out`: the study file, its results, the check run and the report. Run again, it resumes."""
    out.mkdir(parents=True, exist_ok=True)
    study_file = out / ("quick.yaml" if quick else "demo.yaml")
    study_file.write_text(_STUDY.format(**(_QUICK if quick else _FULL)))
    result = api.run(study_file, resume=True, on_progress=on_progress)
    if result.interrupted:
        raise KeyboardInterrupt
    data = api.load_data(study_file)
    deadline = _middling_deadline(api.recommend(data, minimize=TIME))
    recommendation = api.recommend(data, within_s=deadline)
    check = _check_run(study_file, recommendation, on_progress)
    report = out / "report.html"
    api.report(study_file, report, within_s=deadline, check=check)
    return DemoResult(
        report, result.finished, recommendation, check, _story(result, data, recommendation, check, study_file, report)
    )


def _middling_deadline(fastest: Recommendation) -> float:
    """A deadline that about half of the settings meet: neither trivial nor impossible."""
    return float(math.ceil(median_high(candidate.predicted(TIME).high for candidate in fastest.candidates)))


def _check_run(study_file: Path, recommendation: Recommendation, on_progress: OnProgress) -> CheckRun:
    """Run the recommended settings once more, as a study of its own, and set it beside the prediction."""
    chosen = recommendation.chosen
    file = study_file.with_name(f"{study_file.stem}-check.yaml")
    file.write_text(_check_study(study_file, chosen.configuration))
    on_progress(Progress(0, 1, "checking the recommendation with a real run", is_note=True))
    if api.run(file, resume=True, allow_changed=True, on_progress=on_progress).interrupted:
        raise KeyboardInterrupt
    observed = api.load_data(file).dataset.observations[-1]
    if not observed.ok:
        raise RunError(f"the check run failed: {observed.cause}", hint=f"see the log in {observed.artifacts}")
    predicted: Prediction = chosen.predicted(TIME)
    return CheckRun(
        settings=chosen.configuration,
        response=recommendation.vocabulary.response(TIME),
        predicted=predicted.value,
        low=predicted.low,
        high=predicted.high,
        level=predicted.level,
        measured=observed.responses[TIME],
    )


def _check_study(study_file: Path, chosen: Configuration) -> str:
    """The study file with the chosen settings in place of the factors."""
    lines = []
    for line in study_file.read_text().splitlines():
        name = line.strip().partition(":")[0]
        lines.append(f"  {name}: {chosen[name]}" if line.startswith("  ") and name in chosen else line)
    text = "\n".join(lines) + "\n"
    return re.sub(r"replicates: \d+", "replicates: 1", text).replace("study: demo", "study: demo-check")


def _story(
    result: CampaignResult,
    data: api.Data,
    recommendation: Recommendation,
    check: CheckRun,
    study_file: Path,
    report: Path,
) -> tuple[str, ...]:
    analysis = api.analyze(data)
    matters = any(verdict.matters is not False for verdict in analysis.factors)
    inside = "inside" if check.inside else "outside"
    return (
        f"Measured     {result.finished} of {result.planned} planned training runs, on a real Spark cluster",
        *(f"Matters      {sentence}" for sentence in analysis.summary[: 2 if matters else 1]),
        f"Recommended  {recommendation.chosen.configuration}",
        *(f"{label:<12} {text}" for label, text in answer_lines(recommendation)),
        f"Check run    predicted {check.predicted:.1f} s ({check.low:.1f} to {check.high:.1f}), "
        f"measured {check.measured:.1f} s: {inside} the {show_level(check.level)} interval",
        f"Report       {report}",
        f"Next         sparkcast recommend {study_file} --within {recommendation.within_s:g}s",
        f"Look         sparkcast serve {study_file}   (the same as a page at http://127.0.0.1:8080)",
    )
