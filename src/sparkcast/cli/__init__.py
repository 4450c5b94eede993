"""The command line. Each command parses, calls one `api` function, and prints.

This is the only place where an error becomes a message and an exit code.
"""

import sys
from typing import Any

import typer
import typer.core

from sparkcast.cli import analysis, answers, queueing, recommendation, replicate, report, running, studies, tuning
from sparkcast.cli._output import say
from sparkcast.errors import SparkcastError


class _TwoWords(typer.core.TyperGroup):
    """Commands may have a name of two words: `queue admit` stands beside `queue`, which takes an argument itself."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        both = " ".join(args[:2])
        return (both, self.commands[both], args[2:]) if both in self.commands else super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_TwoWords,
    help="How long, how accurate and how expensive a machine-learning job on Apache Spark will be, before you run it.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _group in (running, tuning, studies, analysis, answers, recommendation, queueing, replicate, report):
    _group.register(app)


@app.callback(invoke_without_command=True)
def _options(
    version: bool = typer.Option(False, "--version", is_eager=True, help="Print the version and exit."),
) -> None:
    if version:
        from sparkcast import __version__

        print(__version__)
        raise typer.Exit


def main() -> None:
    is_verbose = "-v" in sys.argv or "--verbose" in sys.argv
    if is_verbose:
        _show_logs()
    try:
        app()
    except SparkcastError as error:
        if is_verbose:
            _print_traceback()
        say(f"Error: {error}")
        sys.exit(error.exit_code)
    except BrokenPipeError:  # `sparkcast ... | head`
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        _print_traceback() if is_verbose else None
        say(f"Error: {type(error).__name__}: {error}\n  hint: this is a bug in sparkcast; -v shows where")
        sys.exit(1)


def _show_logs() -> None:
    import logging

    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("sparkcast").setLevel(logging.DEBUG)


def _print_traceback() -> None:
    import traceback

    traceback.print_exc()
