"""Responses that follow from measured ones: formulas of the study, and money."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import inf
from statistics import fmean
from typing import Any

import numpy as np

from sparkcast.arrays import Array, Floats
from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study.application import BILLED_TIME, CORE_HOURS, GIB_HOURS, TOTAL_TIME
from sparkcast.study.configuration import Configuration, Level, Levels
from sparkcast.study.expression import Expression
from sparkcast.study.model import DOLLARS, Price, Study
from sparkcast.study.names import COST
from sparkcast.study.observation import Dataset, Observation
from sparkcast.study.response import Kind, Response
from sparkcast.study.setting import Role
from sparkcast.study.space import Candidates
from sparkcast.study.vocabulary import Vocabulary
from sparkcast.units import as_number

_GIVE_A_PRICE = (
    "like core_hour=0.05,gib_hour=0.01,currency=EUR or m4.large=0.1,c4.xlarge=0.199 or hour = executors * 0.12"
)
_Read = Callable[[str, Callable[[Level], float]], Floats | float]  # a setting, and the amount behind a level of it


def run_cost(responses: Mapping[str, float], configuration: Levels, price: Price, words: Vocabulary) -> float | None:
    """What a run cost: the cores and memory that its executors held, as `profile` counts them.

    Machines, and runs of which only a time is known, are paid for from submission to exit. None without a time.
    """
    held = held_cost(responses, price)
    if held is not None:
        return held
    name = _paid_time(responses, words)
    if name is None:
        return None
    return time_cost(words.response(name).seconds(responses[name]), configuration, price, words)


def held_cost(responses: Mapping[str, float], price: Price) -> float | None:
    """The price of what executors held; None where it is not priced, or not known."""
    if price.machine_hours or price.hour is not None or CORE_HOURS not in responses:
        return None
    if price.gib_hour and GIB_HOURS not in responses:  # as in runs of earlier versions
        return None
    return price.core_hour * responses[CORE_HOURS] + price.gib_hour * responses.get(GIB_HOURS, 0.0)


def total_cost(run: Observation, price: Price, words: Vocabulary) -> float | None:
    """What a run cost with all its jobs. None without a time."""
    jobs = [run_cost(job.responses, job.configuration, price, words) for job in run.jobs]
    costs = [cost for cost in jobs if cost is not None]
    return sum(costs) if costs else run_cost(run.responses, run.configuration, price, words)


def time_cost(time_s: float, configuration: Levels, price: Price, words: Vocabulary) -> float:
    """What so much time costs with these settings. Memory that is not among the settings costs nothing."""
    return time_s / 3600 * hourly(configuration, price, words)


def _paid_time(measured: Collection[str], words: Vocabulary) -> str | None:
    """The time that is paid for, where nothing else is known: from submission to exit, or else the time of a run."""
    is_total = TOTAL_TIME in measured and words.response(TOTAL_TIME).kind is Kind.TIME
    return TOTAL_TIME if is_total else words.time if words.time in measured else None


def billed(runs: Dataset, price: Price) -> tuple[Dataset, str | None]:
    """Runs, and the time of theirs that costs their price per hour: a cost is predicted as that time is.

    That makes a predicted cost what a measured one is. None where no run has a time.
    """
    words = runs.vocabulary
    if not any(held_cost(run.responses, price) is not None for run in runs.observations):
        return runs, _paid_time(runs.measured, words)
    made = tuple(_billed(run, price, words) for run in runs.observations)
    told = words.declaring(Vocabulary(responses=(Response(BILLED_TIME, kind=Kind.TIME),)))
    return replace(runs, observations=made, vocabulary=told), BILLED_TIME


def _billed(run: Observation, price: Price, words: Vocabulary) -> Observation:
    cost, rate = _job_cost(run, price, words), time_cost(1.0, run.configuration, price, words)
    if cost is None or not rate:
        return run
    return replace(run, responses={**run.responses, BILLED_TIME: cost / rate})


def _job_cost(run: Observation, price: Price, words: Vocabulary) -> float | None:
    """What a run cost; of several jobs, what one of them cost in the mean."""
    jobs = [run_cost(job.responses, job.configuration, price, words) for job in run.jobs]
    costs = [cost for cost in jobs if cost is not None]
    return fmean(costs) if costs else run_cost(run.responses, run.configuration, price, words)


def hourly(configuration: Levels, price: Price, words: Vocabulary) -> float:
    """Money per hour of a run with these settings.

    >>> from sparkcast.study import Setting
    >>> words = Vocabulary((Setting("hosts", role=Role.MACHINES), Setting("cores", role=Role.CORES)))
    >>> hourly({"hosts": 2, "cores": 4}, Price(core_hour=0.5), words)
    4.0
    """
    if price.hour is not None:
        value = price.hour.evaluate({name: _formula_value(level) for name, level in configuration.items()})
        return _checked(value, price.hour, Configuration(configuration))
    return float(_held(price, words.only(configuration), lambda name, amount: amount(configuration[name])))


def hourly_columns(candidates: Candidates, fixed: Levels, price: Price, words: Vocabulary) -> Floats:
    """Money per hour of each candidate, beside settings that all of them share: `hourly` of each, as an array."""

    def column(name: str, amount: Callable[[Level], Any]) -> Any:
        return _by_level(candidates, name, amount) if name in candidates.levels else amount(fixed[name])

    names = (*candidates.levels, *fixed)
    if not len(candidates):
        return np.zeros(0)
    if price.hour is None:
        return np.full(len(candidates), _held(price, words.only(names), column), dtype=float)
    price.hour.require_names(names)
    settings = {name: column(name, _formula_value) for name in names if name in price.hour.names}
    values = np.asarray(price.hour.evaluate_columns(settings))
    if values.dtype.kind in "if" and ((values >= 0) & (values < inf)).all():
        return np.full(len(candidates), values, dtype=float)
    return np.array([hourly({**fixed, **configuration}, price, words) for configuration in candidates.configurations()])


def _by_level(candidates: Candidates, name: str, amount: Callable[[Level], Level]) -> Array:
    """The amount behind each candidate's level, asked once for each level that occurs."""
    position = candidates.position(name)
    used = np.flatnonzero(np.bincount(position, minlength=len(candidates.levels[name])))
    amounts = {code: amount(candidates.levels[name][code]) for code in used.tolist()}
    is_number = all(isinstance(value, float) for value in amounts.values())
    table = np.empty(len(candidates.levels[name]), dtype=float if is_number else object)
    table[used] = list(amounts.values())
    return table[position]


def _held(price: Price, words: Vocabulary, read: _Read) -> Floats | float:
    """Money per hour of the machines, or of the cores and memory of each. `read` gives the amount behind a setting."""
    machines = _read(words.first(Role.MACHINES), words, read, 1.0)
    if price.machine_hours:
        return machines * read(machine_type_setting(price, words), lambda level: machine_hour(level, price))
    cores = _read(words.first(Role.CORES), words, read, 1.0)
    memory = words.first(Role.MEMORY)
    gib = 0.0 if memory is None else read(memory, lambda level: words.setting(memory).bytes(level) / 2**30)
    return machines * (cores * price.core_hour + gib * price.gib_hour)


def _read(name: str | None, words: Vocabulary, read: _Read, otherwise: float) -> Floats | float:
    return otherwise if name is None else read(name, words.setting(name).number)


def machine_type_setting(price: Price, words: Vocabulary) -> str:
    """The setting that tells the type of the machines; raises StudyError when there is none."""
    found = words.first(Role.MACHINE_TYPE)
    if found is None:
        raise StudyError(
            f"a price of {', '.join(price.machine_hours)} needs a setting for the machine type",
            hint=(
                f"declare it with roles: {{NAME: {Role.MACHINE_TYPE}}}, or "
                f"`roles={{NAME: {Role.MACHINE_TYPE.value!r}}}`; or give the price as core_hour, gib_hour or hour"
            ),
        )
    return found


def machine_hour(kind: Level, price: Price) -> float:
    known = tuple(price.machine_hours)
    if str(kind) not in known:
        raise StudyError(f"there is no price for the machine type {str(kind)!r}", hint=did_you_mean(str(kind), known))
    return float(price.machine_hours[str(kind)])


def _formula_value(level: Level) -> Level:
    """In the formula of a price a size is its bytes."""
    number = as_number(level)
    return level if number is None else number


def _checked(value: Any, formula: Expression, configuration: Configuration) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < inf:
        raise StudyError(
            f"the price per hour {formula.text!r} gives {value!r} at {configuration}",
            hint="a price must be a number, 0 or more, for every combination of settings",
        )
    return float(value)


def parse_price(text: str) -> Price:
    """A price as it is given on a command line; a name that is no key of a price is a type of machine.

    >>> parse_price("m4.large=0.1, c4.xlarge=0.199").machine_hours
    {'m4.large': 0.1, 'c4.xlarge': 0.199}
    >>> parse_price("hour = executors * 0.12").hour.text
    'executors * 0.12'
    """
    text, currency = _without_currency(text)
    if formula := re.fullmatch(r"\s*hour\s*=(.*)", text, re.DOTALL):
        return Price(hour=Expression(formula[1].strip()), currency=currency)
    amounts: dict[str, float] = {}
    for part in text.split(","):
        name, _, amount = (piece.strip() for piece in part.partition("="))
        name = "gib_hour" if name == "memory_hour" else name
        number = _written_number(amount)
        if not name or number is None:
            raise StudyError(f"{part.strip()!r} is not a price", hint=f"write it {_GIVE_A_PRICE}")
        if name in amounts:
            raise StudyError(f"the price {text!r} gives {name} twice", hint=f"write it {_GIVE_A_PRICE}")
        amounts[name] = number
    return Price(amounts.pop("core_hour", 0.0), amounts.pop("gib_hour", 0.0), amounts, currency=currency)


def _without_currency(text: str) -> tuple[str, str]:
    """The rest of a price, and the currency that it names at its beginning or end."""
    named = r"currency\s*=\s*(\w*)"
    found = re.fullmatch(rf"\s*{named}\s*,(?P<rest>.*)", text, re.DOTALL) or re.fullmatch(
        rf"(?P<rest>.*),\s*{named}\s*", text, re.DOTALL
    )
    return (
        (found["rest"], next(group for group in found.groups() if group != found["rest"])) if found else (text, DOLLARS)
    )


def _written_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def make_dataset(study: Study, observations: tuple[Observation, ...]) -> Dataset:
    """The observations of a study with its formulas and its price applied."""
    names = dict.fromkeys(response.name for response in study.responses)
    if study.price is not None:
        names[COST] = None
    derived = tuple(replace(o, responses=_derived(study, o)) if o.ok else o for o in observations)
    factors = tuple(factor.name for factor in study.factors)
    measured = {name for observation in observations for name in observation.responses}
    words = study.vocabulary
    if (time := words.of_kind(Kind.TIME, among=measured)) is not None and words.time not in measured:
        words = words.meaning_by_time(time)  # runs of earlier versions have fewer
    return Dataset(factors, derived, study.name, tuple(names), words)


def parse_response(text: str) -> Response:
    """A response by name, or with its formula.

    >>> parse_response("cost = time_s / accuracy").needs
    ('accuracy', 'time_s')
    """
    name, equals, formula = (part.strip() for part in text.partition("="))
    return Response(name, Expression(formula) if equals else None)


def derive_responses(data: Dataset, wanted: Sequence[Response]) -> Dataset:
    """The data with the responses that are formulas computed for every run that measured what they need."""
    made = [response for response in wanted if response.formula is not None]
    if not made:
        return data
    known = {name for o in data.observations for name in o.responses}
    for response in made:
        assert response.formula is not None
        response.formula.require_names(tuple(sorted(known)))
    observations = tuple(replace(o, responses=_with_formulas(o, made)) if o.ok else o for o in data.observations)
    names = dict.fromkeys((*data.responses, *(response.name for response in made)))
    return replace(data, observations=observations, responses=tuple(names))


def _with_formulas(observation: Observation, responses: Sequence[Response]) -> Mapping[str, float]:
    values = dict(observation.responses)
    for response in responses:
        try:
            value = response.value(values)
        except StudyError as error:
            raise StudyError(f"row {observation.position}: {error.problem}", hint="correct or drop the row") from error
        if value is not None:
            values[response.name] = value
    return values


def _derived(study: Study, observation: Observation) -> Mapping[str, float]:
    values, words = dict(observation.responses), study.vocabulary
    cost = None if study.price is None else _job_cost(observation, study.price, words)
    if cost is not None:
        values[COST] = cost
    return _with_formulas(replace(observation, responses=values), study.responses)
