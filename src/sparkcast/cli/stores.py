"""Looking after stores: store migrate, copy, check, prune."""

from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Json, Verbose, emit, shell, show

if TYPE_CHECKING:
    from sparkcast.store.pruning import StorePruned

DAMAGED = 2  # as for any file that cannot be used as it is

StoreName = Annotated[str, typer.Argument(metavar="STORE", help="A results folder, an SQLite file, a URL, or a STUDY.")]
Studies = Annotated[list[str] | None, typer.Option("--study", metavar="NAME", help="Only this study. Repeatable.")]


def register(app: typer.Typer) -> None:
    app.command("store migrate")(migrate)
    app.command("store copy")(copy)
    app.command("store check")(check)
    app.command("store prune")(prune)


def migrate(store: StoreName, as_json: Json = False, verbose: Verbose = False) -> None:
    """Bring a database that several use up to date with this version of sparkcast.

    Example: sparkcast store migrate postgresql://db.example/sparkcast
    """
    from sparkcast import api

    emit(api.migrate_store(store), as_json, show)


def copy(
    source: StoreName,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The same; a new folder or file is made.")],
    study: Studies = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Copy studies with all their results into another store, SQLite or PostgreSQL.

    Example: sparkcast store copy mnist.results postgresql://db.example/sparkcast
    """
    from sparkcast import api

    emit(api.copy_store(source, target, studies=study or ()), as_json, show)


def check(store: StoreName, details: Details = False, as_json: Json = False, verbose: Verbose = False) -> None:
    """Look for damage: rows that cannot be read, broken references, folders and rows without each other.

    Exit code 2 where there is any. Example: sparkcast store check mnist.yaml
    """
    from sparkcast import api

    found = api.check_store(store)
    emit(found, as_json, lambda result: show(result, details))
    if not found.ok:
        raise typer.Exit(DAMAGED)


def prune(
    store: StoreName,
    older_than: Annotated[str | None, typer.Option(metavar="TIME", help="Runs that ended longer ago: 90d.")] = None,
    keep: Annotated[
        int | None,
        typer.Option(min=0, help="How many results of the same settings, or of an ingested job, stay; default: 1."),
    ] = None,
    study: Studies = None,
    orphans: Annotated[bool, typer.Option("--orphans", help="Folders that belong to no run, too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Remove it; else it is only shown.")] = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Remove old runs with their logs and output; without --yes, show what would be removed.

    Example: sparkcast store prune mnist.results --older-than 90d --keep 3
    """
    from sparkcast import api

    found = api.prune_store(
        store, older_than=older_than, keep=keep, studies=study or (), orphans=orphans, confirmed=yes
    )
    emit(found, as_json, _show_pruned)


def _show_pruned(found: "StorePruned") -> None:
    show(found)
    if not found.done and (found.runs or found.folders):
        shell("remove it:", "the same command with --yes")
