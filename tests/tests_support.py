"""What tests share."""

import subprocess
from collections.abc import Callable
from typing import NamedTuple

from sparkcast.report.figures import Figure

Sparkcast = Callable[..., "subprocess.CompletedProcess[str]"]


class Answer(NamedTuple):
    """What the command line gave."""

    code: int
    out: str
    err: str


Call = Callable[..., Answer]


def assert_is_picture(figure: Figure) -> None:
    """Valid Vega-Lite that renders, and narrow enough for a phone where it must be."""
    import altair

    for spec in (figure.spec, figure.narrow_spec):
        altair.Root.validate(spec)
    assert figure.png(scale=1).startswith(b"\x89PNG")
    width = int(figure.svg(narrow=True).split('width="')[1].split('"')[0])
    assert width <= 345, "wider than a phone"
