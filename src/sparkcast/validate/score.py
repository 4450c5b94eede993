"""Scorecards: each model on runs it has not seen, beside the baseline and the noise of the runs themselves."""

import math
import time
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, median

from sparkcast.analyse.runs import usable_runs
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models import MODELS, Fitted
from sparkcast.study import Dataset, Level, Observation, show_configuration
from sparkcast.validate import Scorecard, TestedRun, Validation
from sparkcast.validate.protocols import PROTOCOLS, Split

BASELINE = "median"


def validate(
    data: Dataset, response: str, protocol: str = "loo", models: Sequence[str] | None = None, level: float = 0.9
) -> Validation:
    """Test models on configurations they have not seen; the baseline is always among them.

    A model that refuses one split is refused as a whole, so that all scorecards are about the same runs.
    """
    if not 0 < level < 1:
        raise StudyError(f"level {level} is not between 0 and 1", hint="write 0.9 for 90 %")
    runs = usable_runs(data, response)
    if not any(o.responses[response] for o in runs):
        raise StudyError(f"{response} is 0 in every run, so there are no percentage errors", hint="choose another")
    splits = PROTOCOLS.get(protocol)().splits(data, response)
    testable = [split for split in splits if _is_testable(split, response)]
    scorecards, refused = [], []
    for name in dict.fromkeys((*(MODELS.names() if models is None else models), BASELINE)):
        MODELS.get(name)  # an unknown name is the caller's mistake, not a refusal
        try:
            scorecards.append(_scorecard(name, testable, response, level))
        except (NotEnoughDataError, StudyError) as error:
            refused.append((name, error.problem))
    return Validation(
        response=response,
        protocol=protocol,
        level=level,
        noise_floor_mape=noise_floor(data, response),
        scorecards=tuple(sorted(scorecards, key=lambda card: (card.mape, card.model))),
        refused=tuple(refused),
        untested=tuple(split.test[0].configuration for split in splits if split not in testable),
    )


def choose(data: Dataset, response: str) -> tuple[str, Fitted]:
    """The model with the smallest error on configurations it has not seen, fitted to everything."""
    return fit_best(data, validate(data, response))


def fit_best(data: Dataset, result: Validation) -> tuple[str, Fitted]:
    """The best model of a validation, fitted to everything."""
    if not result.scorecards:
        name, reason = result.refused[0]
        raise NotEnoughDataError(
            f"no model can be tested on {result.response}; {name}: {reason}",
            hint="run more configurations, or name a model instead of letting it be chosen",
        )
    best = result.scorecards[0].model
    return best, MODELS.get(best)().fit(data, result.response)


def noise_floor(data: Dataset, response: str) -> float | None:
    """The MAPE of predicting each run by the mean of its replicates, in percent; None without replicates.

    No model can be expected to do better.
    """
    groups = defaultdict(list)
    for run in usable_runs(data, response):
        groups[data.key(run)].append(run.responses[response])
    errors = [
        abs(value - (sum(values) - value) / (len(values) - 1)) / abs(value)
        for values in groups.values()
        for value in values
        if len(values) > 1 and value
    ]
    return 100 * fmean(errors) if errors else None


def _is_testable(split: Split, response: str) -> bool:
    """Whether the runs left for learning say anything about the settings of the test.

    The baseline decides: it needs the least, so what it refuses to predict, no model could have learned.
    """
    try:
        fitted = MODELS.get(BASELINE)().fit(split.train, response)
    except NotEnoughDataError:
        return True  # too few runs is for each model to say
    try:
        fitted.predict([_settings(run, split.train) for run in split.test])
    except NotEnoughDataError:
        return False
    return True


def _settings(run: Observation, data: Dataset) -> dict[str, Level]:
    return {name: run.configuration[name] for name in data.factors}


def _scorecard(name: str, splits: Sequence[Split], response: str, level: float) -> Scorecard:
    if not splits:
        raise NotEnoughDataError("every configuration has a level that no other one has", hint="run more combinations")
    tested: list[TestedRun] = []
    build_s = 0.0
    for split in splits:
        begin = time.perf_counter()
        try:
            fitted = MODELS.get(name)().fit(split.train, response)
        except NotEnoughDataError as error:
            without = show_configuration(split.test[0].configuration, split.train.factors)
            raise NotEnoughDataError(f"without {without}: {error.problem}", hint=error.hint) from error
        build_s += time.perf_counter() - begin
        tested += _test(fitted, split, response, level)
    return _score(name, tested, build_s)


def _test(fitted: Fitted, split: Split, response: str, level: float) -> list[TestedRun]:
    at = [_settings(run, split.train) for run in split.test]
    points, intervals = fitted.predict(at), fitted.interval(at, level=level)
    return [
        TestedRun(run.configuration, run.replicate, run.responses[response], point, low, high)
        for run, point, (low, high) in zip(split.test, points, intervals, strict=True)
    ]


def _score(name: str, runs: Sequence[TestedRun], build_s: float) -> Scorecard:
    errors = [abs(run.predicted - run.actual) for run in runs]
    percent = [100 * error / abs(run.actual) for error, run in zip(errors, runs, strict=True) if run.actual]
    if not percent:
        raise StudyError("every tested run has the value 0, so there are no percentage errors", hint="choose another")
    widths = [(run.high - run.low) / abs(run.predicted) for run in runs if run.predicted]
    mean = fmean(run.actual for run in runs)
    total = sum((run.actual - mean) ** 2 for run in runs)
    return Scorecard(
        model=name,
        mape=fmean(percent),
        median_ape=median(percent),
        mae=fmean(errors),
        rmse=math.sqrt(fmean(error**2 for error in errors)),
        r_squared=1 - sum(error**2 for error in errors) / total if total else 0.0,
        coverage=fmean(run.low <= run.actual <= run.high for run in runs),
        relative_width=fmean(widths) if widths else math.inf,
        build_s=build_s,
        runs=tuple(runs),
    )
