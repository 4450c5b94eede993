"""The runs of a recurring job as data to ask about."""

from datetime import UTC, datetime

from sparkcast.data.ingest.observations import dataset_of
from sparkcast.data.ingest.sizes import SIZE_NAMES, without_sizes
from sparkcast.data.sources import Data
from sparkcast.errors import NotEnoughDataError
from sparkcast.history.jobs import JobHistory
from sparkcast.study import Dataset, Observation


def data_of_job(job: JobHistory, store: str) -> Data:
    """Its runs that ended, with what they read as a setting.

    Raises:
        NotEnoughDataError: none has.
    """
    found = dataset_of(job.name, job.runs)
    if not found.observations:
        raise NotEnoughDataError(
            f"no run of {job.name!r} has ended yet ({len(job.runs)} known)", hint="ask again when one has"
        )
    last = max(found.observations, key=lambda run: (run.ok, run.started_at or 0.0))
    usual = last.configuration.only(found.factors)
    return Data(found, results=store, usual=usual, notes=(*_sizes(found, job), _ignored(found.observations)))


def _sizes(found: Dataset, job: JobHistory) -> tuple[str, ...]:
    sized = [name for name in SIZE_NAMES if any(name in run.configuration for run in found.observations)]
    if not sized:
        return (f"the logs of {job.name!r} show nothing read from outside, so its data size is not a setting",)
    told = []
    if not any(name in found.factors for name in SIZE_NAMES):
        told.append(f"all runs of {job.name!r} read the same amount, so what another would take is not known")
    if n_without := without_sizes(found.observations):
        told.append(f"{n_without} of {len(found.observations)} logs show nothing read: taken as the usual input")
    n_failed = sum(not run.ok for run in found.observations)
    if n_failed:
        told.append(f"how much {n_failed} failed runs would have read is not known: taken as the usual input")
    return tuple(told)


def _ignored(runs: tuple[Observation, ...]) -> str:
    began = [run.started_at for run in runs if run.started_at]
    when = ""
    if began:
        first, last = (f"{datetime.fromtimestamp(one, UTC):%-d %b %Y}" for one in (min(began), max(began)))
        when = f", of {first}" if first == last else f" from {first} to {last}"
    clusters = sorted({run.fingerprint.cluster for run in runs if run.fingerprint is not None} - {""})
    where = f" on {' and '.join(clusters[:3])}" if clusters else ""
    return f"weekday, hour and cluster are ignored: the {len(runs)} runs{when}{where} count alike"
