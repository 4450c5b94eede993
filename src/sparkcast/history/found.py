"""Which job of a store a spark-submit line starts, and what it takes to answer for it: few reads of a large store."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.history.jobs import JobHistory, histories_of, history_of, with_speeds
from sparkcast.history.names import job_name
from sparkcast.history.points import RunPoint, points_of
from sparkcast.history.rules import rules_of
from sparkcast.store import Store
from sparkcast.study import AppRecord
from sparkcast.workloads.lines import SubmitLine, program_of

_MOST_RUNS = 400  # of the job: older ones say little of the next
_OTHERS, _THEIR_RUNS = 12, 45  # jobs that say what jobs of this store are like, and runs of each
_MOST_RUNNING = 20  # runs of a job, the latest, among which one that goes on is looked for
_LAST = 3  # runs of each job, which a new one may resemble
_MOST_STUDIES = 400  # of which the command line of the last run is looked at


@dataclass(frozen=True, slots=True)
class FoundJob:
    """The job that a line starts; `candidates` where it may be one of several."""

    history: JobHistory | None
    how: str = ""  # it was found
    candidates: tuple[str, ...] = ()


def job_of_line(line: SubmitLine, histories: Sequence[JobHistory]) -> FoundJob:
    """The job among these that a line starts: by its name, else by its program."""
    name = line.kept.get("name", "")
    if name:
        named = [one for one in histories if _base(one) in (name, job_name(name))]
        if named:
            return _only(named, f"by its name, {job_name(name)!r}")
    program = program_of(line)
    stem = PurePath(program).stem
    named = [one for one in histories if _base(one) in (program, stem, job_name(program), job_name(stem))]
    if named:
        return _only(named, f"by its program, {program}")
    return _only([one for one in histories if _starts(one, program)], f"by the program of its last run, {program}")


def find_in_store(store: Store, line: SubmitLine, job: str | None = None) -> FoundJob:
    """The same in a store, of which only what may be meant is read."""
    studies = store.study_names()
    if job is not None:
        names = [one for one in studies if job in (one, job_name(one)) or job_name(job) == job_name(one)]
        histories = _read(store, names or studies)
        return FoundJob(history_of(histories, job), "as it was named")
    name, program = line.kept.get("name", ""), program_of(line)
    wanted = {*(job_name(one) for one in (name, program, PurePath(program).stem) if one)}
    likely = [one for one in studies if job_name(one) in wanted]
    if likely:
        found = job_of_line(line, _read(store, likely))
        if found.history is not None or found.candidates:
            return found
    last = [run for one in studies[:_MOST_STUDIES] for run in store.ingested(one, with_records=True, last=1)]
    alike = job_of_line(line, histories_of(last, rules=rules_of(store)))
    names = [alike.history.name] if alike.history else list(alike.candidates)
    if not names:
        return alike
    read = _read(store, [one for one in studies if job_name(one) in {job_name(name) for name in names}])
    return job_of_line(line, read)


def running_record(store: Store, app: str | None) -> AppRecord:
    """An application of a store that has not ended, as far as its log was read; the only one where none is named.

    Raises:
        StudyError: it has ended, is not there, or several are meant.
    """
    running, ended = [], False
    for study in store.study_names():
        for run in store.ingested(study, with_records=True, last=_MOST_RUNNING):
            is_over = run.origin is None or run.origin.is_complete
            if run.record is not None and app in (None, run.record.app_id):
                ended = ended or (is_over and app is not None)
                running += [] if is_over else [run.record]
    if len(running) == 1:
        return running[0]
    if ended and not running:
        raise StudyError(f"{app} has ended", hint="give the id of an application in progress")
    listed = ", ".join(record.app_id for record in running[:5])
    if not running:
        named = "an application in progress" if app is None else f"the application {app}"
        raise StudyError(
            f"the store does not have {named}", hint="it may have ended; else give its event log, or `watch` its folder"
        )
    raise StudyError(f"{len(running)} applications are in progress: {listed}", hint=f"add `app={running[0].app_id!r}`")


def history_of_record(store: Store, record: AppRecord) -> JobHistory:
    """The job that an application belongs to: by its name, and of several by what they are made of.

    Raises:
        NotEnoughDataError: the store has no runs of it.
    """
    name = job_name(record.name)
    found = _read(store, [study for study in store.study_names() if job_name(study) == name])
    if not found:
        raise NotEnoughDataError(f"the store has no runs of {name}", hint="ingest logs of earlier runs of it")
    return max(found, key=lambda one: (_overlap(one, record), len(one.runs)))


def _overlap(history: JobHistory, record: AppRecord) -> float:
    """The share of what the application is made of so far that the job has too."""
    last = next((run.record for run in reversed(history.complete) if run.record is not None), None)
    if last is None or not record.shape:
        return 0.0
    return len({*record.shape} & {*last.shape}) / len(record.shape)


def some_jobs(store: Store, *, besides: JobHistory | None = None) -> dict[str, tuple[RunPoint, ...]]:
    """Runs of some jobs of a store, that say what its jobs are like."""
    studies: dict[str, list[str]] = {}  # a date in its name makes a study of each run
    for one in store.study_names():
        studies.setdefault(job_name(one), []).append(one)
    step = max(1, len(studies) // _OTHERS)
    some = [one for names in [*studies.values()][::step][:_OTHERS] for one in names[-_THEIR_RUNS:]]
    runs = [run for one in some for run in store.ingested(one, last=_THEIR_RUNS)]
    own = {run.run_id for run in besides.runs} if besides is not None else set()
    histories = histories_of((run for run in runs if run.run_id not in own), rules=rules_of(store))
    return {one.name: points_of(one.runs) for one in histories}


def all_jobs(store: Store) -> dict[str, tuple[RunPoint, ...]]:
    """The last runs of every job, with what they are made of: one of them may resemble a job that never ran."""
    studies = store.study_names()[:_MOST_STUDIES]
    runs = [run for one in studies for run in store.ingested(one, with_records=True, last=_LAST)]
    return {one.name: points_of(one.runs) for one in histories_of(runs, rules=rules_of(store))}


def _read(store: Store, studies: Sequence[str]) -> tuple[JobHistory, ...]:
    runs = (run for study in studies for run in store.ingested(study, with_records=True, last=_MOST_RUNS))
    return histories_of(with_speeds(store, runs))


def _base(history: JobHistory) -> str:
    """The name of the applications, without what tells jobs apart that share it."""
    record = next((run.record for run in reversed(history.runs) if run.record is not None), None)
    return job_name(record.name) if record is not None else history.name


def _starts(history: JobHistory, program: str) -> bool:
    record = next((run.record for run in reversed(history.runs) if run.record is not None), None)
    return record is not None and program in (PurePath(word).name for word in record.command_line.split())


def _only(found: Sequence[JobHistory], how: str) -> FoundJob:
    if len(found) == 1:
        return FoundJob(found[0], how)
    return FoundJob(None, how, tuple(one.name for one in found))
