"""`{name}` in a text, to be replaced by a setting; `{{` and `}}` are the braces themselves."""

import re
from collections.abc import Iterator, Mapping

from sparkcast.errors import StudyError

_PART = re.compile(r"(\{\{|\}\})|\{([^{}]*)\}|([{}])")


def names_in(text: str) -> Iterator[str]:
    """The placeholders of a text. Raises StudyError for a brace that is neither one's nor doubled.

    >>> list(names_in("--rows={rows} {{literal}}"))
    ['rows']
    """
    for match in _PART.finditer(text):
        if match[3] or match[2] == "":
            raise StudyError(
                f"{text!r} has a single {match[3] or '{}'}", hint="write {{ and }} for braces, and {name} for a setting"
            )
        if match[2] is not None:
            yield match[2]


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders replaced.

    >>> fill("--rows={rows} {{x}}", {"rows": "5"})
    '--rows=5 {x}'
    """
    return _PART.sub(lambda match: match[1][0] if match[1] else values[match[2]], text)


def escape(text: str) -> str:
    """A text that `fill` gives back as it is."""
    return text.replace("{", "{{").replace("}", "}}")
