"""What to use for a job that was never run, by runs of other workloads with the same settings.

Earlier workloads say how settings compare, not how long this job takes. So the answer is a ratio to the best of the
candidates, with its uncertainty: the job may be like one of them, like their mean, or like none (see `earlier`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.display import Displayed
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.runs.site import Site
from sparkcast.search.belief import Around, covariance
from sparkcast.search.options import TuneOptions, objective_for, runnable_candidates, search_of, submit_lines
from sparkcast.search.searchers.guided import Guided
from sparkcast.study import Configuration, Dataset, Level, Study

_DRAWS = 2000  # jobs, each with what its curve does not know
_MOST_COMPARED = 300  # candidates: the most promising
_LEVEL = 0.9  # of the upper end


@dataclass(frozen=True, slots=True)
class UnrunOption:
    """Settings, and by how much a run with them is expected to lie above the best of all candidates."""

    configuration: Configuration
    over_best: float  # a ratio, in the median
    at_most: float  # the ratio that is kept in 90 % of jobs
    chance_best: float
    chance_fails: float


@dataclass(frozen=True, slots=True)
class UnrunAnswer(Displayed):
    """What to use for a job that was never run."""

    study: str
    objective: str
    chosen: UnrunOption
    runner_up: UnrunOption | None
    candidates: int
    workloads: tuple[str, ...]  # whose runs it rests on
    ignored: tuple[str, ...]  # whose runs have other settings
    conf: tuple[str, ...]  # paste-ready spark-submit options
    notes: tuple[str, ...]


def recommend_unrun(
    study: Study,
    earlier: Sequence[Dataset],
    *,
    minimize: str | None = None,
    fix: Mapping[str, Level] | None = None,
) -> UnrunAnswer:
    """The settings expected to come nearest to the best, without a run of the job."""
    site = Site(study)
    study = site.study
    options = TuneOptions(
        "guided",
        objective_for(study, minimize=minimize),
        fix=Configuration(fix or {}),
        earlier=tuple(earlier),
    )
    found = runnable_candidates(site, options.fix)
    search = search_of(study, options, found.configurations, with_fixed=False)
    if search.per_second is None:
        raise StudyError(
            f"earlier workloads say nothing of {options.objective.response}",
            hint="choose the time, the cost or the resources of a run, e.g. `minimize='cost'`",
        )
    guided = Guided(search)
    workloads = tuple(data.name for data in earlier if data.name not in guided.ignored)
    if not workloads:
        raise NotEnoughDataError(
            f"no earlier workload has runs with settings of study {study.name!r}",
            hint="give runs whose settings have the same names and levels as the study",
        )
    options_found = compared(guided)
    chosen = options_found[0]
    return UnrunAnswer(
        study=study.name,
        objective=str(options.objective),
        chosen=chosen,
        runner_up=options_found[1] if len(options_found) > 1 else None,
        candidates=len(found.configurations),
        workloads=workloads,
        ignored=guided.ignored,
        conf=submit_lines(study, chosen.configuration),
        notes=(*site.notes, *found.notes),
    )


def compared(guided: Guided) -> list[UnrunOption]:
    """The candidates that lose least against the best of each job, in the mean; the first two."""
    before = guided.before()
    places = np.argsort(-before.promise, kind="stable")[:_MOST_COMPARED]
    random = np.random.default_rng(0)
    rows = random.choice(len(before.weights), _DRAWS, p=before.weights)
    values = before.values[np.ix_(rows, places)] + _unknown(before.points[places], random)
    fails = random.random(values.shape) < before.failures[np.ix_(rows, places)]
    least = np.where(fails, np.inf, values).min(axis=1, keepdims=True)
    least = np.where(np.isfinite(least), least, values.min(axis=1, keepdims=True))
    over = np.exp(np.minimum(values - least, 50.0))
    reached = np.where(fails, 0.0, np.minimum(1 / over, 1.0)).mean(axis=0)
    order = np.argsort(-reached, kind="stable")[:2]
    return [
        UnrunOption(
            configuration=guided.candidates[int(places[k])],
            over_best=float(np.median(over[:, k])),
            at_most=float(np.quantile(over[:, k], _LEVEL)),
            chance_best=float(((over[:, k] <= 1.0) & ~fails[:, k]).mean()),
            chance_fails=float(fails[:, k].mean()),
        )
        for k in order
    ]


def _unknown(points: Floats, random: "np.random.Generator") -> Floats:
    """What the curves do not know: smooth over the settings."""
    around = Around()
    within = covariance(points, points, around) + around.noise**2 * np.eye(len(points))
    smooth: Floats = random.standard_normal((_DRAWS, len(points))) @ np.linalg.cholesky(within).T
    return smooth
