"""Studies and plans: which runs to make, and what they can estimate."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.data.sources import Source, load_study, stored_observations
from sparkcast.errors import StudyError
from sparkcast.study import Plan, Study

if TYPE_CHECKING:
    from sparkcast.designs.summary import PlanSummary


def plan(path: Source, *, budget_s: float | None = None, effect: str = "1") -> "PlanSummary":
    """The runs of a study in order, how long they take, and what they can estimate.

    Args:
        path: A study file.
        budget_s: The most seconds all runs may take; defaults to the study's limit.
        effect: The size of effect to detect: "1.5" standard deviations of the noise, or "10%".

    Returns:
        The plan with its estimated time and price, the trials that the budget leaves out, aliases and power.

    Raises:
        StudyError: The study file or `effect` is malformed, or settings vary that the master ignores.
        NotEnoughDataError: An effect in percent needs replicates, and there are none yet.

    >>> summary = plan("study.yaml")
    >>> len(summary.trials), summary.design
    (8, 'full')
    """
    from sparkcast.designs import make_plan
    from sparkcast.designs.summary import summarize_plan
    from sparkcast.learned.run_time import run_times

    study = load_study(path)
    times = run_times(study)
    made, seen = make_plan(study, times.predicted), stored_observations(study)
    notes = (*_impossible_centers(study, made), *_ineffective_settings(study, made))
    return summarize_plan(study, made, seen, budget_s=budget_s, effect=effect, time_of=times.given, notes=notes)


def make_plan(study: Study) -> Plan:
    """The trials of a study in run order. Never depends on the study's own results, which come in while it runs."""
    from sparkcast.designs import make_plan
    from sparkcast.learned.run_time import run_times

    return make_plan(study, run_times(study).predicted)


def _ineffective_settings(study: Study, made: Plan) -> tuple[str, ...]:
    """What the study's master does not heed; raises StudyError when that is among what varies."""
    from sparkcast.runs.control import require_cluster
    from sparkcast.runs.stream import configurations_of
    from sparkcast.workloads import workload_of

    jobs = [job for trial in made.trials for job in configurations_of(study, trial.configuration)]
    return require_cluster(study, workload_of(study), jobs)


def _impossible_centers(study: Study, made: Plan) -> tuple[str, ...]:
    """Center points that the workload will refuse: nobody listed these levels, so nobody has seen them run."""
    from sparkcast.workloads import complete, workload_of

    workload = workload_of(study)
    notes: dict[str, None] = {}
    for trial in made.trials:
        if trial.kind == "center":
            try:
                workload.check(complete(workload, trial.configuration))
            except StudyError as error:
                notes[f"a center point cannot be run: {error.problem}; {error.hint}"] = None
    return tuple(notes)


def write_plan(summary: "PlanSummary", target: Source) -> int:
    """Write the runs of a plan to a CSV in run order.

    Args:
        summary: What `plan` returned.
        target: The CSV file; an existing one is replaced.

    Returns:
        How many runs were written.

    Raises:
        StoreError: The file cannot be written.

    >>> write_plan(plan("study.yaml"), "plan.csv")
    8
    """
    from sparkcast.designs.summary import write_runs

    write_runs(summary, Path(target))
    return len(summary.trials)


def starter_study(workload: str) -> str:
    """The text of a commented study file.

    Args:
        workload: See `list_plugs("workloads")`.

    Returns:
        YAML, with every setting of the workload explained.

    Raises:
        UnknownNameError: No such workload.

    >>> starter_study("pi").splitlines()[2]
    'study: pi-study'
    """
    from sparkcast.workloads.starter import starter_study as make

    return make(workload)


def study_of_line(words: Sequence[str]) -> str:
    """The text of a commented study file for a job of your own, from the line that starts it.

    Args:
        words: The words of a `spark-submit` line, as a program gets them: no shell is involved.

    Returns:
        YAML: what Spark knows and the options of the job as settings, everything else kept as it is.

    Raises:
        StudyError: `spark-submit` would refuse the line, or it submits no job.

    >>> study_of_line(["spark-submit", "train.py", "--rows", "1000"]).splitlines()[9].strip()
    'arguments: [--rows, "{rows}"]'
    """
    from sparkcast.workloads.pasted import study_of_line as make

    return make(words)
