"""Write the reference pages that follow from the code: commands, plugs, workloads.

    python docs/generate.py

A test fails when the pages in the repository differ from what this writes.
"""

from pathlib import Path

from sparkcast import api
from sparkcast.workloads import CLUSTER_SETTINGS, WORKLOADS, Setting

REFERENCE = Path(__file__).parent / "reference"
KINDS = ("designs", "workloads", "engines", "models", "protocols", "searchers", "grids", "replications")


def pages() -> dict[str, str]:
    """File name -> text."""
    return {"commands.md": _commands(), "plugs.md": _plugs(), "workloads.md": _workloads()}


def _help(*words: str) -> str:
    from typer.testing import CliRunner

    from sparkcast.cli import app

    answer = CliRunner().invoke(app, [*words, "--help"], prog_name="sparkcast", terminal_width=78, color=False)
    return answer.stdout.strip()


def _command_names() -> list[str]:
    import typer

    from sparkcast.cli import app

    return sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def _commands() -> str:
    parts = ["# Commands", "Every command has `--help` with an example.", f"```text\n{_help()}\n```"]
    for name in _command_names():
        parts += [f"## {name}", f"```text\n{_help(name)}\n```"]
    return "\n\n".join(parts) + "\n"


def _plugs() -> str:
    parts = ["# Plugs", "What `sparkcast list KIND` prints. Packages of others join through entry points."]
    for kind in KINDS:
        rows = [f"| `{name}` | {text} |" for name, text in api.list_plugs(kind).items()]
        parts += [f"## {kind.capitalize()}", "\n".join(["| name | what it is |", "|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def _workloads() -> str:
    parts = ["# Workloads", "## Settings of every workload", _settings(CLUSTER_SETTINGS)]
    for name in WORKLOADS.names():
        workload = WORKLOADS.get(name)()
        measured = ", ".join(f"`{response}`" for response in workload.responses)
        parts += [f"## {name}", WORKLOADS.summaries()[name], f"Measures {measured}.", _settings(workload.settings)]
    return "\n\n".join(parts) + "\n"


def _settings(settings: tuple[Setting, ...]) -> str:
    rows = []
    for setting in settings:
        choices = f" ({', '.join(setting.choices)})" if setting.choices else ""
        rows.append(f"| `{setting.name}` | `{setting.default}` | {setting.help}{choices} |")
    return "\n".join(["| setting | default | what it is |", "|---|---|---|", *rows])


if __name__ == "__main__":
    for name, text in pages().items():
        (REFERENCE / name).write_text(text)
