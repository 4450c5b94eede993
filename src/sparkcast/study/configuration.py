"""When two settings are the same, however they are written."""

from sparkcast.units import as_number

Level = int | float | str


def same_level(a: Level, b: Level) -> bool:
    """Equal as settings: 2 and 2.0 and "2" are one level, and so are "1g" and "1024m".

    >>> same_level("1g", "1024m"), same_level(2, "2"), same_level("adam", "sgd")
    (True, True, False)
    """
    first, second = as_number(a), as_number(b)
    return str(a) == str(b) if first is None or second is None else first == second
