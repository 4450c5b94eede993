"""The whole spark-submit line, quoted for a shell; without a program, its options to paste into one."""

import shlex

from sparkcast.recommend import Launch


def words_of(launch: Launch) -> list[str]:
    """The words of the command, each property once."""
    return [word for part in _parts(launch) for word in part]


def shell_parts(launch: Launch) -> list[str]:
    """The command for a shell, an option with its value together; without a program only its options."""
    assignments = [f"{name}={shlex.quote(value)}" for name, value in launch.environment.items()]
    parts = _parts(launch) if launch.program else _parts(launch)[1:]
    return [*assignments, *(shlex.join(part) for part in parts)]


def written(launch: Launch) -> tuple[str, tuple[str, ...]]:
    return " ".join(shell_parts(launch)), ()


def _parts(launch: Launch) -> list[list[str]]:
    options = {**({"master": launch.master} if launch.master else {}), **launch.options}
    return [
        ["spark-submit"],
        *([f"--{name}", value] for name, value in options.items()),
        *([f"--{name}"] for name in launch.switches),
        *(["--conf", f"{name}={value}"] for name, value in launch.properties.items()),
        *([[launch.program]] if launch.program else []),
        *_arguments(launch.arguments),
    ]


def _arguments(words: tuple[str, ...]) -> list[list[str]]:
    """An option of the job with the word behind it, which looks like its value."""
    parts: list[list[str]] = []
    for word in words:
        is_value = parts and len(parts[-1]) == 1 and parts[-1][0].startswith("--") and "=" not in parts[-1][0]
        if is_value and not word.startswith("-"):
            parts[-1].append(word)
        else:
            parts.append([word])
    return parts
