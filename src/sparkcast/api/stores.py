"""Looking after stores: bringing them up to date, copying, checking and pruning them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparkcast.data.sources import Source, is_study_file, load_study
from sparkcast.errors import StudyError
from sparkcast.units import parse_seconds

if TYPE_CHECKING:
    from sparkcast.store.checking import StoreChecked
    from sparkcast.store.copying import StoreCopied
    from sparkcast.store.migrating import StoreMigrated
    from sparkcast.store.pruning import StorePruned
    from sparkcast.store.shelf import Shelf


def migrate_store(store: Source) -> "StoreMigrated":
    """Bring the database of a team to the schema of this version of sparkcast, all or nothing.

    A results folder or SQLite file is brought up to date when it is opened; a database that several use, only here.

    Args:
        store: A database URL, a results folder, an SQLite file, or a study file.

    Returns:
        The version before and now, and what the store has.

    Raises:
        BusyError: Somebody is running one of its studies.
        StoreError: It cannot be read or written, or is newer than this version of sparkcast.

    >>> _ = ingest("log.zstd", "migrated.results")
    >>> migrate_store("migrated.results").runs
    1
    """
    from sparkcast.store.migrating import migrate

    return migrate(_shelf(store))


def copy_store(source: Source, target: Source, *, studies: Sequence[str] = ()) -> "StoreCopied":
    """Copy studies with all their rows into another store, from SQLite to PostgreSQL or back.

    Copying again changes nothing, and later brings what is new. Logs and output stay where they are.

    Args:
        source: A results folder, an SQLite file, a database URL, or a study file.
        target: The same; a folder or file that does not exist is made.
        studies: Only these.

    Returns:
        What was copied of each study.

    Raises:
        StudyChangedError: The target has another study of this name.
        StoreError: A trial has one result in each of them, or a store cannot be read or written.
        BusyError: The study is being run in the target.

    >>> _ = ingest("log.zstd", "original.results")
    >>> copy_store("original.results", "copy.results").studies[0].runs
    1
    """
    from sparkcast.store.copying import copy

    return copy(_shelf(source), _shelf(target), studies)


def check_store(store: Source) -> "StoreChecked":
    """Whether a store holds together: every row, every reference, and the folders of its runs. Changes nothing.

    Args:
        store: A results folder, an SQLite file, a database URL, or a study file.

    Returns:
        Findings, none of a store that is whole; `ok` tells whether any is damage.

    Raises:
        StoreError: It cannot be read.

    >>> _ = ingest("log.zstd", "checked.results")
    >>> check_store("checked.results").ok
    True
    """
    from sparkcast.store.checking import check

    return check(_shelf(store))


def prune_store(
    store: Source,
    *,
    older_than: str | float | None = None,
    keep: int | None = None,
    studies: Sequence[str] = (),
    orphans: bool = False,
    confirmed: bool = False,
) -> "StorePruned":
    """Remove old runs with their logs and output, or tell what would be removed.

    Attempts that count for nothing (lost, cut short, superseded) go when they are old enough; of results, the newest
    `keep` of the same settings, or of an ingested job, stay however old they are.

    Args:
        store: A results folder, an SQLite file, a database URL, or a study file.
        older_than: Only runs that ended longer ago: "90d", or seconds. This or `keep` is needed, but with `orphans`.
        keep: How many results stay, by default 1; 0, which removes the last one as well, needs `studies`.
        studies: Only these.
        orphans: Folders that belong to no run, too.
        confirmed: Really remove it.

    Returns:
        What was removed, or would be.

    Raises:
        StudyError: An argument is malformed.
        BusyError: A study is being run.
        StoreError: It cannot be read or written.

    >>> _ = ingest("log.zstd", "pruned.results")
    >>> prune_store("pruned.results", older_than="90d").runs  # the last of a job stays
    0
    """
    from sparkcast.store.pruning import PruneRule, prune

    if older_than is None and keep is None and not orphans:
        raise StudyError("what is to be removed?", hint="for example `older_than='90d'` or `keep=5`, or `orphans=True`")
    age_s = None if older_than is None and keep is None else parse_seconds(older_than or 0.0)
    rule = PruneRule(age_s, 1 if keep is None else keep, orphans)
    return prune(_shelf(store), rule, studies, confirmed=confirmed)


def _shelf(source: Source) -> "Shelf":
    from sparkcast.store import results_place
    from sparkcast.store.shelf import Shelf

    return Shelf.of(results_place(load_study(source))) if is_study_file(source) else Shelf.at(source)
