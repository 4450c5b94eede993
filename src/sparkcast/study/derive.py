"""Responses that follow from measured ones: formulas of the study, and money."""

from collections.abc import Mapping
from dataclasses import replace

from sparkcast.study.model import Configuration, Price, Study
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


def _derived(study: Study, observation: Observation) -> Mapping[str, float]:
    values = dict(observation.responses)
    if study.price is not None and "time_s" in values:
        values["cost"] = run_cost(values["time_s"], observation.configuration, study.price)
    for response in study.responses:
        value = response.value(values)
        if value is not None:
            values[response.name] = value
    return values
