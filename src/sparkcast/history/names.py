"""The name of a job: that of its applications without what tells their runs apart."""

import re
from collections.abc import Callable

_UUID = r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
_DATE = r"(?:19|20)\d\d[-_./]?(?:0[1-9]|1[0-2])[-_./]?(?:0[1-9]|[12]\d|3[01])"
_TIME = r"[T\s_.:-]*\d{2}[:_.-]?\d{2}(?:[:_.-]?\d{2}(?:[.,]\d+)?)?\s?(?:Z|UTC|[+-]\d{2}:?\d{2})?"
_HOUR = r"[T\s_./-]+(?:[01]\d|2[0-3])(?!\d)"  # and nothing more exact
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_CHANGING = re.compile(
    "|".join(
        (
            _UUID,
            rf"{_DATE}(?:{_TIME}|{_HOUR})?(?!\d)",
            r"(?:19|20)\d\d年\d{1,2}月\d{1,2}日",
            rf"\b\d{{1,2}}[-_ ](?:{_MONTHS})[a-z]*[-_ ]\d{{4}}",  # 03-Nov-2026
            rf"(?<![a-z])(?:{_MONTHS})[a-z]*[-_ ]\d{{1,2}},?[-_ ]\d{{4}}",  # Nov-03-2026
            r"(?<![\d.])(?:0?[1-9]|[12]\d|3[01])(?P<a>[-_./])(?:0?[1-9]|1[0-2])(?P=a)(?:19|20)\d\d(?!\d)",  # 03.11.2026
            r"(?<![\d.])(?:0?[1-9]|1[0-2])(?P<b>[-_./])(?:0?[1-9]|[12]\d|3[01])(?P=b)(?:19|20)\d\d(?!\d)",  # 11/23/2026
            r"(?<!\d)(?:19|20)\d\d[-_]?(?:W\d\d|Q[1-4])(?!\d)",  # 2026-W45
            r"(?<!\d)(?:19|20)\d\d[-_](?:0[1-9]|[1-4]\d|5[0-3])(?!\d)",  # 2026-11, a month or a week
            r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?",
            r"(?<![A-Za-z0-9])(?=[A-Z]*\d)[0-9A-HJKMNP-TV-Z]{26}(?![A-Za-z0-9])",  # a sortable id
            r"(?<![A-Za-z0-9])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}(?![A-Za-z0-9])",  # a commit, a random id
            r"\d{5,}",
        )
    ),
    re.I,
)
_COUNTER = re.compile(
    r"(?:[#(\[_-]\s?|[(\[]?\b(?:run|try|attempt|batch|execution|iteration|no)[\s._#-]*)\d+\)?\]?$",
    re.I,
)
_SEPARATORS = " \t_.:-/#=@,;*"
_EMPTY = re.compile(r"[(\[{][\s*]*[)\]}]")


def job_name(name: str) -> str:
    """The name of the job that an application belongs to, by its name alone.

    >>> job_name("taxi_2025_06_27_03_56_52"), job_name("query 72"), job_name("load 2026-11-03 #17")
    ('taxi', 'query 72', 'load')
    """
    return _shortened(name, lambda text: _COUNTER.sub("*", _CHANGING.sub("*", text)))


def numbered_name(name: str) -> str:
    """The same with a small number at its end, which may be a counter or mean something.

    >>> numbered_name("export_eu_3"), numbered_name("load 2026-11-03 #17")
    ('export_eu_3', 'load-#17')
    """
    return _shortened(name, lambda text: _CHANGING.sub("*", text))


def _shortened(name: str, without_changing: Callable[[str], str]) -> str:
    short, before = name.strip(), ""
    while short != before:  # a counter may stand before a date
        before = short
        short = re.sub(r"\s{2,}", " ", _EMPTY.sub("*", without_changing(short))).strip(_SEPARATORS)
    short = re.sub(r"[\s_.:/=@,;-]*\*[\s_.:/=@,;-]*", "-", short)
    return short or name.strip()
