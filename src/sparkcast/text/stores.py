"""What was done to a store, in words."""

from typing import TYPE_CHECKING

from sparkcast.text._page import Page
from sparkcast.units import show_bytes

if TYPE_CHECKING:
    from sparkcast.store.checking import StoreChecked
    from sparkcast.store.copying import StoreCopied
    from sparkcast.store.migrating import StoreMigrated
    from sparkcast.store.pruning import PrunedStudy, StorePruned


def write_migrated(page: Page, done: "StoreMigrated") -> None:
    if done.before is None:
        page.tell(f"{done.store} was empty and has schema version {done.now} now.")
        return
    has = f"{_many(done.studies, 'study', 'studies')}, {_many(done.runs, 'run')}"
    if done.before == done.now:
        page.tell(f"{done.store} is up to date: schema version {done.now}, {has}.")
    else:
        page.tell(f"{done.store} went from schema version {done.before} to {done.now}: {has}.")


def write_copied(page: Page, done: "StoreCopied") -> None:
    runs, new = sum(one.runs for one in done.studies), sum(one.new for one in done.studies)
    page.tell(
        f"{_many(len(done.studies), 'study', 'studies')} with {_many(runs, 'run')} copied to {done.target}: {new} new"
    )
    rows = [(one.study, one.runs, one.new, one.changed) for one in done.studies]
    page.table("", ("study", "runs", "new", "rows changed"), rows, optional=("rows changed",))
    if under_way := sum(one.under_way for one in done.studies):
        page.say(f"{_many(under_way, 'run')} under way: copy again when they have ended")
    page.say("Logs and output stay where they are.")


def write_checked(page: Page, found: "StoreChecked") -> None:
    has = f"{_many(found.studies, 'study', 'studies')}, {_many(found.runs, 'run')}"
    damage = [one for one in found.findings if not one.is_remark]
    if damage:
        page.tell(f"{found.store} is damaged ({has}).")
    else:
        page.tell(f"{found.store} is whole: {has}.")
    for one in (*damage, *(one for one in found.findings if one.is_remark)):
        shown = one.examples if page.details else one.examples[:2]
        more = ", ..." if one.count > len(shown) else ""
        page.tell(f"{one.count} {one.problem}: {', '.join(shown)}{more}")
        if one.hint:
            page.tell(f"  {one.hint}")
    if not found.looked_at:
        page.say("Logs and output were not looked at: they are on the machines that made the runs.")


def write_pruned(page: Page, found: "StorePruned") -> None:
    verb = "removed" if found.done else "would be removed"
    if not found.runs and not found.folders:
        page.tell("There is nothing to remove.")
        return
    size = f", {_many(found.folders, 'folder')} of logs and output ({show_bytes(found.bytes)})" if found.folders else ""
    page.tell(f"{_many(found.runs, 'run')}{size} {verb}.")
    rows = [(one.study, one.attempts, one.results, one.ingested) for one in found.studies]
    if rows:
        page.table("", ("study", "attempts without a result", "results", "ingested runs"), rows)
    for one in found.studies:
        for text in _remarks(one, found.done):
            page.tell(text)


def _remarks(one: "PrunedStudy", done: bool) -> list[str]:
    said = []
    if one.is_last:
        said.append(f"{one.study}: no result of it {'is left' if done else 'would be left'}.")
    if one.reopened:
        measures = "measures" if done else "would measure"
        trials = _many(one.reopened, "trial")
        said.append(f"{one.study}: `api.run(STUDY, resume=True)` {measures} {trials} again, where its plan has them.")
    return said


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"
