"""The command line. Each command parses, calls one `api` function, and prints.

This is the only place where an error becomes a message and an exit code.
"""

import sys
from typing import Any

import typer
import typer.core

from sparkcast.cli import (
    analysis,
    gate,
    ingest,
    prediction,
    profile,
    queueing,
    recommendation,
    replicate,
    report,
    running,
    serving,
    stores,
    studies,
    submitting,
    tuning,
    watching,
    whatif,
)
from sparkcast.cli._failures import failure_of
from sparkcast.cli._output import COMMAND, begin_output, emit_error, say_error
from sparkcast.cli._overview import show_overview
from sparkcast.wire.failures import Failure

_SUMMARY = "How long, how accurate and how expensive a machine-learning job on Apache Spark will be, before you run it."


class _TwoWords(typer.core.TyperGroup):
    """Commands may have a name of two words: `queue admit` stands beside `queue`, which takes an argument itself."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        both = " ".join(args[:2])
        return (both, self.commands[both], args[2:]) if both in self.commands else super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_TwoWords,
    help=_SUMMARY,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _group in (
    running,
    tuning,
    studies,
    analysis,
    prediction,
    recommendation,
    queueing,
    ingest,
    watching,
    profile,
    whatif,
    gate,
    replicate,
    report,
    serving,
    submitting,
    stores,
):
    _group.register(app)


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", is_eager=True, help="Print the version and exit."),
) -> None:
    if version:
        from sparkcast import __version__

        print(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        show_overview(_SUMMARY, _helps())
    else:
        COMMAND.set(context.invoked_subcommand)


def main() -> None:
    words = studies.with_pasted_line_apart(sys.argv[1:])
    arguments = words[: words.index("--")] if "--" in words else words
    is_json, is_verbose = "--json" in arguments, "-v" in arguments or "--verbose" in arguments
    begin_output()
    if is_verbose:
        _show_logs()
    try:
        code = app(words, standalone_mode=False, prog_name="sparkcast") or 0
        if code and is_json:
            emit_error(Failure(code, "interrupted", "the same command with --resume continues"))
        sys.stdout.flush()  # a full disk is told as one
        sys.exit(code)
    except BrokenPipeError:  # `sparkcast ... | head`
        sys.stderr.close()
        sys.exit(0)
    except typer.Abort:
        sys.exit(1)
    except Exception as error:
        _print_traceback() if is_verbose else None
        failure = failure_of(error, tuple(_helps()))
        if is_json:
            emit_error(failure)
        say_error(failure.problem, failure.hint)
        sys.exit(failure.code)


def _helps() -> dict[str, str]:
    """Each command that exists, with what its help says."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return {
        name: " ".join([command.help or "", *(getattr(p, "help", None) or "" for p in command.params)])
        for name, command in commands.items()
    }


def _show_logs() -> None:
    import logging

    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("sparkcast").setLevel(logging.DEBUG)


def _print_traceback() -> None:
    import traceback

    from sparkcast.study.redaction import redact_text

    print(redact_text(traceback.format_exc()), file=sys.stderr, end="")
