"""What `sparkcast` alone shows: the ways in, and the commands by what they are for.

Only commands that exist are shown: a line that names another one is left out, and a command that no group names is
shown under "other".
"""

from collections.abc import Mapping, Sequence

from sparkcast.cli._output import shell, tell

_WAYS = {
    "Your own job, run by sparkcast": (
        ("init", "sparkcast init -- spark-submit ... > job.yaml"),
        ("init", "sparkcast init WORKLOAD > job.yaml"),
        ("run", "sparkcast run job.yaml"),
    ),
    "Event logs of past runs": (
        ("profile", "sparkcast profile LOG"),
        ("whatif", "sparkcast whatif LOG --executors 2,4,8"),
        ("ingest", "sparkcast ingest LOGS --into runs.csv"),
    ),
    "A CSV of past runs, one per row": (
        ("analyze", "sparkcast analyze runs.csv"),
        ("predict", "sparkcast predict runs.csv --at NAME=VALUE,NAME=VALUE"),
        ("recommend", "sparkcast recommend runs.csv --within 5m"),
    ),
}
_GROUPS = {
    "try it": ("demo",),
    "measure": ("init", "design", "run", "tune", "ingest"),
    "understand": ("analyze", "profile", "whatif", "report"),
    "predict": ("fit", "predict", "validate"),
    "decide": ("recommend", "submit", "queue", "queue admit"),
    "look up": ("list", "export", "replicate", "serve", "serve token", "mcp"),
    "look after stores": ("store check", "store copy", "store prune", "store migrate"),
}


def show_overview(summary: str, commands: Mapping[str, str]) -> None:
    """Print it; `commands` are the names that exist with their whole help."""
    tell(f"{summary}\n")
    for way, lines in _WAYS.items():
        if known := [line for name, line in lines if _is_known(name, line, commands)]:
            tell(way)
            for line in known:
                shell(" ", line)
    tell("\nCommands")
    for group, names in _grouped(commands).items():
        tell(f"  {group:<11} {', '.join(names)}", hang=" " * 12)
    tell("\nsparkcast COMMAND --help shows an example; sparkcast demo runs the whole loop in minutes.")


def _is_known(name: str, line: str, commands: Mapping[str, str]) -> bool:
    # `init` may or may not take a pasted line yet: its help tells.
    return name in commands and ("spark-submit" not in line or "spark-submit" in commands[name])


def _grouped(commands: Mapping[str, str]) -> dict[str, Sequence[str]]:
    found = {group: [name for name in names if name in commands] for group, names in _GROUPS.items()}
    named = {name for names in found.values() for name in names}
    found["other"] = sorted(set(commands) - named)
    return {group: names for group, names in found.items() if names}
