"""Scorecards: each model on runs it has not seen, beside the baseline and the noise of the runs themselves."""

import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean, median

import numpy as np
from scipy.stats import chi2

from sparkcast.analysis.runs import usable_runs
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.learned.tabulate import table_at
from sparkcast.models import MODELS, Fitted
from sparkcast.study import Configuration, Dataset, Observation, Vocabulary
from sparkcast.units import require_seed
from sparkcast.validate import LARGE_ERROR, FoldProgress, NoiseFloor, OnStep, Scorecard, TestedRun, Validation
from sparkcast.validate.calibration import kept_promises
from sparkcast.validate.fits import FitCache, fit_points
from sparkcast.validate.proper import crps, pinball
from sparkcast.validate.protocols import Split, make_protocol

ALL = "all"


def validate(
    data: Dataset,
    response: str,
    protocol: str = "loo",
    models: Sequence[str] | None = None,
    level: float = 0.9,
    *,
    seed: int = 0,
    on_step: OnStep | None = None,
    fits: FitCache | None = None,
) -> Validation:
    """Test models on configurations they have not seen; the baseline is always among them.

    A model that refuses one split is refused as a whole, so that all scorecards are about the same runs. `seed` is for
    protocols that draw at random; `on_step` is told what is about to be tested; `fits` keeps what figures need again.
    """
    if not 0 < level < 1:
        raise StudyError(f"level {level} is not between 0 and 1", hint="write 0.9 for 90%")
    require_seed(seed)
    chosen = make_protocol(protocol, seed=seed)
    names = tuple(dict.fromkeys((*_wanted(models), baseline())))
    for name in names:
        MODELS.get(name)  # an unknown name is the caller's mistake, not a refusal
    if not any(o.responses[response] for o in usable_runs(data, response)):
        raise StudyError(f"{response} is 0 in every run, so there are no percentage errors", hint="choose another")
    splits, untested = testable(chosen.splits(data, response), response)
    collect_s = _collect_s(splits)
    scorecards, refused = [], []
    fits = fits or FitCache()
    for number, name in enumerate(names, start=1):
        steps = _announced(splits, name, number, len(names), on_step)
        try:
            tested, build_s = _tested(name, steps, response, level, fits)
            card = _score(name, tested, build_s, collect_s, level)
            scorecards.append(replace(card, kept=kept_promises(tested, data.factors)))
        except (NotEnoughDataError, StudyError) as error:
            refused.append((name, error.problem))
    floor = noise_floor(data, response, level)
    return Validation(
        response=response,
        protocol=protocol,
        level=level,
        noise_floor_mape=None if floor is None else floor.mape,
        noise_floor_interval=None if floor is None else (floor.low, floor.high),
        scorecards=tuple(sorted(scorecards, key=lambda card: (card.mape, card.model))),
        refused=tuple(refused),
        untested=untested,
        n_splits=len(splits),
        seed=seed,
        vocabulary=data.vocabulary,
    )


def _wanted(models: Sequence[str] | None) -> tuple[str, ...]:
    if models is None:
        return MODELS.declaring("is_usual")
    return MODELS.names() if ALL in models else tuple(models)


def baseline() -> str:
    """The model that every other must beat."""
    return MODELS.declaring("is_baseline")[0]


def best_of(result: Validation) -> str:
    """The model that did best in a validation; raises NotEnoughDataError when none could be tested."""
    if not result.scorecards:
        name, reason = result.refused[0]
        raise NotEnoughDataError(
            f"no model can be tested on {result.response}; {name}: {reason}",
            hint="run more configurations, or choose a model with `models=`",
        )
    return result.scorecards[0].model


def noise_floor(data: Dataset, response: str, level: float = 0.9) -> NoiseFloor | None:
    """The MAPE that noise alone leaves to a model that knows the mean of every configuration; None without replicates.

    That mean is known from the replicates only. From the mean of all r of them, itself included, a run is nearer than
    from the true mean, by the root of (r - 1) / r; from the mean of the others it is further away, by the root of
    r / (r - 1). The first is corrected for.

    The interval is that of a standard deviation (chi-square), with as many degrees of freedom as if all configurations
    were equally noisy: few, where a few of them have most of the noise. Drawing configurations anew (bootstrap) would
    claim 90 % and hold the floor in 60 % of studies with three of them.
    """
    groups = defaultdict(list)
    for run in usable_runs(data, response):
        groups[data.key(run)].append(run.responses[response])
    repeated = [values for values in groups.values() if len(values) > 1 and any(values)]
    if not repeated:
        return None
    errors = [_errors_about_mean(values) for values in repeated]
    floor = 100 * fmean(error for own in errors for error in own)
    if not floor:
        return NoiseFloor(0.0, 0.0, 0.0)
    parts = [(sum(own), len(values) - 1) for own, values in zip(errors, repeated, strict=True)]
    df = sum(part for part, _ in parts) ** 2 / sum(part**2 / own_df for part, own_df in parts)
    low, high = (floor * math.sqrt(df / chi2.ppf(at, df)) for at in ((1 + level) / 2, (1 - level) / 2))
    return NoiseFloor(floor, low, high)


def _errors_about_mean(values: Sequence[float]) -> list[float]:
    """How far replicates are from their true mean, relative to what was measured: zeros have no such error."""
    mean, n = fmean(values), len(values)
    return [abs(value - mean) / abs(value) * math.sqrt(n / (n - 1)) for value in values if value]


def testable(splits: Sequence[Split], response: str) -> tuple[list[Split], tuple[Configuration, ...]]:
    """The splits without the runs of which nothing can be known, and the configurations that are in none of them.

    The baseline decides: it needs the least, so what it refuses to predict, no model could have learned.
    """
    fits = [_fit_baseline(split, response) for split in splits]
    if not any(fit is not None for fit in fits):
        return list(splits), ()  # too few runs everywhere is for each model to say
    kept: list[Split] = []
    asked: dict[Configuration, Configuration] = {}
    for split, fitted in zip(splits, fits, strict=True):
        asked |= {split.train.key(run): run.configuration for run in split.test}
        known = tuple(run for run in split.test if fitted is not None and _is_known(fitted, run, split.train))
        kept += [replace(split, test=known)] if known else []
    tested = {split.train.key(run) for split in kept for run in split.test}
    return kept, tuple(configuration for key, configuration in asked.items() if key not in tested)


def _fit_baseline(split: Split, response: str) -> Fitted | None:
    try:
        return fit_points(baseline(), split.train, response)
    except NotEnoughDataError:
        return None


def _is_known(fitted: Fitted, run: Observation, data: Dataset) -> bool:
    try:
        fitted.predict([data.key(run)])
    except (NotEnoughDataError, StudyError):  # a StudyError when only numbers are left of a factor that had others
        return False
    return True


def _collect_s(splits: Sequence[Split]) -> float | None:
    """What the runs to learn from took, in the mean of the splits."""
    times = [[_seconds(run, split.train.vocabulary) for run in split.train.observations] for split in splits]
    collect_s = fmean(map(sum, times)) if times else math.nan
    return collect_s if math.isfinite(collect_s) else None


def _seconds(run: Observation, words: Vocabulary) -> float:
    if words.time is None or words.time not in run.responses:
        return math.nan
    return words.response(words.time).seconds(run.responses[words.time])


def _announced(
    splits: Sequence[Split], model: str, number: int, n_models: int, on_step: OnStep | None
) -> Iterator[Split]:
    for at, split in enumerate(splits, start=1):
        if on_step:
            on_step(FoldProgress(model, number, n_models, at, len(splits)))
        yield split


def _tested(
    name: str, splits: Iterable[Split], response: str, level: float, fits: FitCache
) -> tuple[list[TestedRun], float]:
    """Every tested run, and the seconds to fit, mean of the splits."""
    tested: list[TestedRun] = []
    build_s = []
    for split in splits:
        try:
            fitted, fit_s = _timed_fit(name, split.train, response, fits, [split.train.key(run) for run in split.test])
            tested += _test(fitted, split, response, level)
            build_s.append(fit_s)
        except NotEnoughDataError as error:
            raise NotEnoughDataError(f"{_name(split)}: {error.problem}", hint=error.hint) from error
    if not tested:
        raise NotEnoughDataError(
            "every tested configuration has a level that no other configuration has", hint="run more combinations"
        )
    return tested, fmean(build_s)


def _timed_fit(
    name: str, data: Dataset, response: str, fits: FitCache, tested: Sequence[Configuration]
) -> tuple[Fitted, float]:
    """The fitted model and what fitting it took; done again when a library was loaded meanwhile, which takes longer."""
    n_modules = len(sys.modules)
    fitted, seconds = fits.fit(name, data, response, tested)
    return (fitted, seconds) if len(sys.modules) == n_modules else FitCache().fit(name, data, response)


def _name(split: Split) -> str:
    return split.name or f"without {split.test[0].configuration.only(split.train.factors)}"


def _test(fitted: Fitted, split: Split, response: str, level: float) -> list[TestedRun]:
    table = table_at(fitted, [split.train.key(run) for run in split.test])
    actual = np.array([run.responses[response] for run in split.test])
    columns = (actual, table.values, *table.interval(level), table.probability_below(actual), crps(table, actual))
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [TestedRun(run.configuration, run.replicate, *row) for run, row in zip(split.test, rows, strict=True)]


def _score(name: str, runs: Sequence[TestedRun], build_s: float, collect_s: float | None, level: float) -> Scorecard:
    errors = [abs(run.predicted - run.actual) for run in runs]
    percent = [100 * error / abs(run.actual) for error, run in zip(errors, runs, strict=True) if run.actual]
    if not percent:
        raise StudyError("every tested run has the value 0, so there are no percentage errors", hint="choose another")
    widths = [(run.high - run.low) / abs(run.predicted) for run in runs if run.predicted]
    mean = fmean(run.actual for run in runs)
    spread = math.hypot(*(run.actual - mean for run in runs))  # squares of wild predictions would overflow
    return Scorecard(
        model=name,
        mape=fmean(percent),
        median_ape=median(percent),
        mae=fmean(errors),
        rmse=math.hypot(*errors) / math.sqrt(len(errors)),
        r_squared=1 - (math.hypot(*errors) / spread) * (math.hypot(*errors) / spread) if spread else 0.0,
        coverage=fmean(run.low <= run.actual <= run.high for run in runs),
        relative_width=fmean(widths) if widths else math.inf,
        build_s=build_s,
        runs=tuple(runs),
        # Rounding must not decide whether 9.1 instead of 7 is a large error.
        large_errors=100 * fmean(error > LARGE_ERROR or math.isclose(error, LARGE_ERROR) for error in percent),
        collect_s=collect_s,
        total_s=None if collect_s is None else collect_s + build_s,
        crps=fmean(run.crps for run in runs),
        pinball=_upper_pinball(runs, (1 + level) / 2),
    )


def _upper_pinball(runs: Sequence[TestedRun], share: float) -> float:
    """Of the quantile that deadlines are about."""
    actual, high = np.array([(run.actual, run.high) for run in runs]).T
    return float(pinball(actual, high, share).mean())
