"""How long the runs of a plan take, from a model of earlier runs or as the design says itself."""

from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path

from sparkcast.data.table import read_csv
from sparkcast.designs import TimeOf, make_design
from sparkcast.designs.run_time import RunTime
from sparkcast.errors import SparkcastError, StudyError
from sparkcast.learned.predict import mean_of
from sparkcast.learned.sample import sample_of
from sparkcast.models import MODELS
from sparkcast.study import Configuration, Study

_MAX_TIMES = 50_000  # predicted at once


@dataclass(frozen=True, slots=True)
class RunTimes:
    """What a design's option `time` tells of its runs, in seconds; None where it tells nothing."""

    predicted: TimeOf | None = None  # by a model of earlier runs
    given: TimeOf | None = None  # by that, or as the option says itself


def run_times(study: Study) -> RunTimes:
    text = getattr(make_design(study), "time", None)
    if text is None:
        return RunTimes()
    option = RunTime(text)
    if not option.file:
        return RunTimes(given=lambda configuration: option.of(study, configuration))
    try:
        learned = _learned_time(study, option.file)
    except SparkcastError as error:
        raise type(error)(f"{study.where('design', 'time')}{error.problem}", hint=error.hint) from error
    return RunTimes(learned, learned)


def _learned_time(study: Study, name: str) -> TimeOf:
    folder = study.path.parent if study.path else Path()
    data = read_csv(folder / name)
    known = {**{f.name: f.levels for f in study.factors}, **{n: (v,) for n, v in study.fixed.items()}}
    missing = [factor for factor in data.factors if factor not in known]
    if missing:
        raise StudyError(
            f"{name} varies {', '.join(missing)}, which the study does not define",
            hint="give it a value under settings, or remove the column from the file",
        )
    time = data.vocabulary.required_time()
    learned, seconds = sample_of(data, time).runs, data.vocabulary.response(time).seconds
    fitted = MODELS.get(MODELS.default())().fit(learned, time)
    times: dict[Configuration, float] = {}
    if prod(len(known[factor]) for factor in data.factors) <= _MAX_TIMES:
        levels = product(*(known[factor] for factor in data.factors))
        points = [Configuration(zip(data.factors, own, strict=True)) for own in levels]
        times = dict(zip(points, mean_of(fitted, points), strict=True))

    def time_of(configuration: Configuration) -> float:
        point = configuration.only(data.factors)
        if point not in times:
            [times[point]] = mean_of(fitted, [point])
        return max(seconds(times[point]), 1e-3)  # a model of anything may leave the range of times

    return time_of
