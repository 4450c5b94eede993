"""Cells of a CSV file that a spreadsheet opens as they are: a text that begins like a formula would be run there.

https://owasp.org/www-community/attacks/CSV_Injection: such a text gets an apostrophe in front, which reading undoes.
"""

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def escaped(cell: object) -> object:
    """A cell as it is written. Numbers stay numbers.

    >>> escaped("=1+1"), escaped("-3"), escaped(-3), escaped("-Xmx1g"), escaped("a=b")
    ("'=1+1", '-3', -3, "'-Xmx1g", 'a=b')
    """
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) and not _is_number(cell) else cell


def unescaped(text: str) -> str:
    """A cell as it was before it was written.

    >>> unescaped("'=1+1"), unescaped("'quoted'")
    ('=1+1', "'quoted'")
    """
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
