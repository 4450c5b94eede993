"""Properties, program and arguments as JSON, for programs."""

import json
from dataclasses import asdict

from sparkcast.recommend import Launch


def written(launch: Launch) -> tuple[str, tuple[str, ...]]:
    known = {name: value for name, value in asdict(launch).items() if name != "notes" and value}
    return json.dumps({"properties": {}, **known}, indent=2), ()
