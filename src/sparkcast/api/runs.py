"""Runs on a cluster: those of a plan, or those that a search chooses."""

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sparkcast.api.plans import make_plan
from sparkcast.api.sources import data_of
from sparkcast.data.sources import Source, load_study
from sparkcast.study import Configuration, Level, SparkOptions, Study

if TYPE_CHECKING:
    from sparkcast.runs.campaign import CampaignResult
    from sparkcast.runs.session import OnProgress
    from sparkcast.search.loop import TuneResult
    from sparkcast.search.options import Budget, SearchMethod
    from sparkcast.search.unrun import UnrunAnswer


def run(
    path: Source | Study,
    *,
    resume: bool = False,
    retry: Sequence[str] = (),
    allow_changed: bool = False,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    runners: int | None = None,
    on_progress: "OnProgress" = lambda progress: None,
) -> "CampaignResult":
    """Run the trials of a study that have no result yet.

    Results go to its store, logs and output to the folder next to the study file.

    Args:
        path: A study file, or what `load_study` made of it.
        resume: Continue a study with finished trials.
        retry: Run trials again that ended like this: "error", "timeout", "oom", "lost", or "failed" for all of these.
            The new run counts in place of the old one.
        allow_changed: Keep earlier results that still apply even though the study file has changed.
        master: A cluster to use instead of the study's: "embedded", "spark://host:7077", "yarn", ...
        conf: Spark properties, which override sparkcast's own.
        runners: How many trials to run at once. They claim trials one by one, also from runners of other processes and
            machines on the same store. Without it nobody else may run this study meanwhile.
        on_progress: Called with progress while trials run.

    Returns:
        What was measured, and what a limit or an interruption left out.

    Raises:
        StudyError: The study is malformed, or has results and `resume` is not set.
        StudyChangedError: Its results belong to a different definition.
        CapacityError, RunError: The cluster is too small, or failed.
        BusyError: Another process runs the study, and not with `runners`.

    >>> run("study.yaml", resume=True).finished                        # doctest: +SKIP
    8
    """
    from sparkcast.runs.campaign import retried_outcomes, run_campaign
    from sparkcast.runs.runners import run_together
    from sparkcast.store import results_place

    study = with_spark(load_study(path), master, conf)
    run_all = run_campaign if runners is None else partial(run_together, runners=runners)
    return run_all(
        study,
        make_plan(study),
        results_place(study),
        resume=resume,
        retry=retried_outcomes(retry),
        allow_changed=allow_changed,
        on_progress=on_progress,
    )


def dry_run(path: Source, *, master: str | None = None, conf: Mapping[str, str] | None = None) -> list[str]:
    """The spark-submit lines that `run` would execute, in order.

    Args:
        path: A study file.
        master: As in `run`.
        conf: As in `run`.

    Returns:
        One command per trial.

    Raises:
        StudyError, CapacityError: As in `run`.

    >>> len(dry_run("study.yaml"))
    8
    """
    from sparkcast.runs import campaign
    from sparkcast.store import results_folder

    study = with_spark(load_study(path), master, conf)
    return campaign.dry_run(study, make_plan(study), results_folder(Path(path)))


def with_spark(study: Study, master: str | None, conf: Mapping[str, str] | None) -> Study:
    """The study on another cluster, with more Spark properties.

    Args:
        study: What `load_study` returned.
        master: The cluster; None keeps the study's.
        conf: Properties to add or replace.

    Returns:
        An otherwise identical study.

    >>> with_spark(load_study("study.yaml"), "local[2]", {"spark.ui.enabled": "false"}).spark.master
    'local[2]'
    """
    options = SparkOptions(master or study.spark.master, {**study.spark.conf, **(conf or {})})
    return dataclasses.replace(study, spark=options)


def tune(
    path: Source | Study,
    *,
    minimize: str | None = None,
    maximize: str | None = None,
    within_s: float | None = None,
    fix: Mapping[str, Level] | None = None,
    searcher: "str | SearchMethod | None" = None,
    budget: "Budget | None" = None,
    resume: bool = False,
    allow_changed: bool = False,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    on_progress: "OnProgress" = lambda progress: None,
) -> "TuneResult":
    """Find the best settings of a study in few runs.

    Args:
        path: A study file, or what `load_study` made of it; existing results are reused.
        minimize: A response. By default what `recommend` optimizes: with `within_s` the quality, else the lowest cost
            or fewest resources; without, the time.
        maximize: A response, instead of `minimize`.
        within_s: A run that takes longer does not qualify.
        fix: Settings to hold at a given value.
        searcher: A name of `list_plugs("searchers")`, or `SearchMethod(name, seed, replicates, earlier, limits,
            confidence, stop_late)`; defaults to the registered default.
        budget: The most runs and what all of them may cost at the study's price, and in how many runs of the job
            (instead of which settings) the search must pay for itself, and how many runs are made at once:
            `Budget(max_runs=20, max_cost=None, runs_to_come=None, instead_of=None, runners=1)`.
        resume: Continue a search that was stopped.
        allow_changed: Keep results even though the study or the options have changed.
        master: As in `run`.
        conf: As in `run`.
        on_progress: As in `run`.

    Returns:
        The best settings found, the whole history, and why it stopped.

    Raises:
        StudyError, StudyChangedError: The study or an option is malformed, or has changed.
        InfeasibleError: No run qualifies.
        RunError: The cluster failed.

    >>> tune("study.yaml", minimize="cost", budget=Budget(8)).best     # doctest: +SKIP
    """
    from sparkcast.search.base import SEARCHERS
    from sparkcast.search.loop import Budget, TuneOptions
    from sparkcast.search.loop import tune as search
    from sparkcast.search.options import SearchMethod, limits_for, objective_for, settings_today
    from sparkcast.store import results_place

    study = with_spark(load_study(path), master, conf)
    method = searcher if isinstance(searcher, SearchMethod) else SearchMethod(searcher)
    budget = budget or Budget()
    limits, within_s = limits_for(study, method.limits, within_s)
    options = TuneOptions(
        searcher=method.name or SEARCHERS.default(),
        objective=objective_for(study, maximize=maximize, minimize=minimize, within_s=within_s, limits=limits),
        within_s=within_s,
        seed=method.seed,
        replicates=method.replicates,
        fix=Configuration(fix or {}),
        earlier=tuple(data_of(source).dataset for source in method.earlier),
        limits=limits,
        confidence=method.confidence,
        stop_late=method.stop_late,
        runs_to_come=budget.runs_to_come,
        instead_of=None if budget.instead_of is None else settings_today(study, {**(fix or {}), **budget.instead_of}),
    )
    return search(
        *(study, options, budget, results_place(study)),
        resume=resume,
        allow_changed=allow_changed,
        on_progress=on_progress,
    )


def recommend_unrun(
    path: Source | Study,
    earlier: Sequence[Source],
    *,
    minimize: str | None = None,
    fix: Mapping[str, Level] | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> "UnrunAnswer":
    """The settings of a job that was never run, by runs of other workloads with the same settings.

    Args:
        path: A study file, or what `load_study` made of it; its own runs are not used.
        earlier: Runs of other workloads: paths, DataFrames or what `load_data` returned.
        minimize: The time, the cost or the resources. By default what `tune` minimizes.
        fix: Settings to hold at a given value.
        master: As in `run`.
        conf: As in `run`.

    Returns:
        The settings expected to come nearest to the best, and by how much they may lie above it.

    Raises:
        StudyError: Earlier runs say nothing of the objective.
        NotEnoughDataError: No earlier run has settings of the study.

    >>> import pandas as pd
    >>> other = pd.DataFrame({"samples": [1e5, 2e5, 4e5, 8e5], "partitions": [1, 1, 2, 2], "time_s": [3, 5, 9, 17]})
    >>> found = recommend_unrun("study.yaml", [other], minimize="time_s")
    >>> found.chosen.configuration["samples"], found.chosen.over_best < found.chosen.at_most
    (100000, True)
    """
    from sparkcast.search.unrun import recommend_unrun as recommend

    study = with_spark(load_study(path), master, conf)
    return recommend(study, [data_of(source).dataset for source in earlier], minimize=minimize, fix=fix)
