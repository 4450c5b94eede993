"""What is kept of an application for its job's history."""

from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.errors import StoreError, StudyError
from sparkcast.history import histories_of, history_of
from sparkcast.store import open_store
from sparkcast.store.records import pack_record, unpack_record
from sparkcast.study import AppRecord

LOG = Path(__file__).parents[1] / "data" / "eventlog-3.5-pi.zstd"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> AppRecord:
    target = tmp_path_factory.mktemp("records") / "fleet.results"
    api.ingest(LOG, target)
    store = open_store(target)
    (history,) = histories_of(store)
    store.close()
    (run,) = history.runs
    assert run.record is not None
    return run.record


def test_a_record_has_the_life_of_its_application_and_its_stages(record: AppRecord) -> None:
    profile = api.profile(LOG)
    assert record.wall_s == pytest.approx(profile.wall_s)
    assert record.n_stages == len(record.stages) == len(profile.stages)
    assert [stage.n_tasks for stage in record.stages] == [stage.n_tasks for stage in profile.stages]
    assert record.properties["spark.master"].startswith("spark:")


def test_a_record_is_the_same_after_it_was_packed(record: AppRecord) -> None:
    assert unpack_record(pack_record(record)) == record


def test_a_damaged_record_is_named_and_one_of_a_later_version_asks_for_an_upgrade(record: AppRecord) -> None:
    with pytest.raises(StoreError, match="damaged"):
        unpack_record(pack_record(record)[:-5])
    with pytest.raises(StoreError, match="upgrade"):
        unpack_record(b"record9")


def test_a_run_read_from_the_store_without_records_keeps_its_record_when_it_is_written_again(tmp_path: Path) -> None:
    api.ingest(LOG, tmp_path / "fleet.results")
    store = open_store(tmp_path / "fleet.results")
    (study,) = store.study_names()
    store.keep_ingested(study, {}, store.ingested(study))
    (run,) = store.ingested(study, with_records=True)
    store.close()
    assert run.record is not None


def test_a_job_that_the_store_does_not_have_is_named(tmp_path: Path) -> None:
    api.ingest(LOG, tmp_path / "fleet.results")
    store = open_store(tmp_path / "fleet.results")
    histories = histories_of(store)
    store.close()
    assert history_of(histories, histories[0].name) is histories[0]
    with pytest.raises(StudyError, match="no job 'nightli'"):
        history_of(histories, "nightli")
