"""Responses that follow from measured ones: formulas of the study, and money."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sparkcast.errors import StudyError
from sparkcast.study.expression import Expression
from sparkcast.study.model import Configuration, Price, Response, Study
from sparkcast.study.observation import Dataset, Observation
from sparkcast.units import parse_bytes


def run_cost(time_s: float, configuration: Configuration, price: Price) -> float:
    """What the executors of a run cost while it worked. Memory that is not among the settings costs nothing."""
    executors = float(configuration.get("executors", 1))
    cores = float(configuration.get("cores", 1))
    gib = parse_bytes(configuration.get("memory", 0)) / 2**30
    return time_s / 3600 * executors * (cores * price.core_hour + gib * price.gib_hour)


def make_dataset(study: Study, observations: tuple[Observation, ...]) -> Dataset:
    """The observations of a study with its formulas and its price applied."""
    names = dict.fromkeys(response.name for response in study.responses)
    if study.price is not None:
        names["cost"] = None
    derived = tuple(replace(o, responses=_derived(study, o)) if o.ok else o for o in observations)
    return Dataset(tuple(f.name for f in study.factors), derived, study.name, tuple(names))


def parse_response(text: str) -> Response:
    """A response by name, or with its formula.

    >>> parse_response("cost = time_s / accuracy").needs
    ('accuracy', 'time_s')
    """
    name, _, formula = (part.strip() for part in text.partition("="))
    return Response(name, Expression(formula) if formula else None)


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
    values = dict(observation.responses)
    if study.price is not None and "time_s" in values:
        values["cost"] = run_cost(values["time_s"], observation.configuration, study.price)
    return _with_formulas(replace(observation, responses=values), study.responses)
