"""A Spark properties file: for spark-submit --properties-file, or to add to spark-defaults.conf."""

from sparkcast.engines.conf import property_line
from sparkcast.recommend import Launch


def written(launch: Launch) -> tuple[str, tuple[str, ...]]:
    properties = {**({"spark.master": launch.master} if launch.master else {}), **launch.properties}
    lines = [property_line(name, value) for name, value in properties.items()]
    notes = ["the program and its arguments are not part of a properties file"] if launch.program else []
    return "\n".join(lines), tuple(notes)
