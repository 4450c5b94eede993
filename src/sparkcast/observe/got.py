"""Asked against got: the settings of a run that its cluster did not give it."""

from collections.abc import Mapping

from sparkcast.facts import ClusterShape
from sparkcast.facts.joined import JoinedFacts
from sparkcast.study import Configuration, Level, Role
from sparkcast.units import shortest_size


def settings_got(asked: Configuration, roles: Mapping[str, Role], facts: JoinedFacts | None) -> dict[str, Level]:
    """What the cluster gave instead, by the names of the study; empty where it gave what was asked for.

    Nothing is compared for a run that never had an executor. With dynamic allocation, Spark decides on their number.
    """
    if facts is None or not facts.shape.executors:
        return {}
    given = _given(facts.shape)
    named = {name: given[role] for name, role in roles.items() if name in asked and role in given}
    got = Configuration(named)
    return {name: got[name] for name in got if got[name] != asked[name]}


def _given(shape: ClusterShape) -> dict[Role, Level]:
    given: dict[Role, Level] = {} if shape.is_dynamic else {Role.MACHINES: shape.executors}
    if shape.cores and shape.is_uniform:
        given[Role.CORES] = shape.cores
    if shape.memory_bytes:
        given[Role.MEMORY] = shortest_size(shape.memory_bytes)
    return given
