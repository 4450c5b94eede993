"""A table of several jobs: which of them is meant, and how much data it has, is for people to say."""

from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.errors import StudyError

ROWS = """app,execs,memory,input,elapsed
etl,4,8g,100GB,600
etl,8,8g,100GB,360
etl,4,16g,100GB,570
etl,8,16g,100GB,340
report,4,8g,10GB,120
report,8,8g,10GB,100
report,4,16g,10GB,125
report,8,16g,10GB,95
"""


def table(folder: Path, rows: str = ROWS) -> Path:
    path = folder / "runs.csv"
    path.write_text(rows)
    return path


def test_the_quickest_of_several_jobs_is_not_recommended(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"app says which job ran \(etl, report\)") as caught:
        api.recommend(table(tmp_path), within_s=1200, model="ridge")
    assert "`where={'app': 'etl'}`" in caught.value.hint


def test_the_data_of_the_job_that_is_meant_are_taken_and_not_those_of_another(tmp_path: Path) -> None:
    found = api.recommend(table(tmp_path), within_s=1200, model="ridge", fix={"app": "report"})
    assert found.chosen.configuration["input"] == "10g"
    rows = api.TableOptions(where={"app": "report"})
    assert api.recommend(table(tmp_path), within_s=1200, model="ridge", table=rows).held == {}


@pytest.mark.parametrize("name", ["network", "codec", "job_7"])
def test_other_categories_and_numbers_are_chosen_as_ever(tmp_path: Path, name: str) -> None:
    rows = ROWS.replace("app,", f"{name},").replace("10GB", "100GB")
    assert api.recommend(table(tmp_path, rows), within_s=1200, model="ridge").chosen.configuration[name]
