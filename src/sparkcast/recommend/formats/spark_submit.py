"""The whole spark-submit line, quoted for a shell; without a program, its options to paste into one."""

import shlex

from sparkcast.recommend import Launch


def words_of(launch: Launch) -> list[str]:
    """The words of the command, each property once."""
    words = ["spark-submit", *(["--master", launch.master] if launch.master else [])]
    for name, value in launch.options.items():
        words += [f"--{name}", value]
    words += [f"--{name}" for name in launch.switches]
    for name, value in launch.properties.items():
        words += ["--conf", f"{name}={value}"]
    return [*words, *([launch.program] if launch.program else []), *launch.arguments]


def written(launch: Launch) -> tuple[str, tuple[str, ...]]:
    assignments = [f"{name}={shlex.quote(value)}" for name, value in launch.environment.items()]
    words = [shlex.quote(word) for word in words_of(launch)]
    if not launch.program:
        words = [shlex.quote(word) for word in words_of(launch)[1:]]
    return _lines([*assignments, *words]), ()


def _lines(words: list[str]) -> str:
    """One option on a line with its value; a backslash before the end of a line keeps it one command."""
    lines: list[str] = []
    for word in words:
        if lines and lines[-1].startswith("--") and " " not in lines[-1] and not word.startswith("-"):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return " \\\n  ".join(lines)
