"""What every engine must hold before its cluster is up."""

from pathlib import Path
from typing import ClassVar

import pytest

from sparkcast.engines import engine_for
from sparkcast.engines.base import ENGINES, Engine, Shape, SparkJob, SparkOptions

JOB = SparkJob(
    Path("app.py"), ("one", "two words"), {"spark.executor.cores": "1", "spark.ssl.keyPassword": "hush"}, "a job"
)


class EngineSuite:
    """Set `plug` to the registered name of an engine and `master` to a master URL that it takes, or override `given`.

    No cluster is started: that is for a test of its own.
    """

    plug: ClassVar[str]
    master: ClassVar[str]

    @pytest.fixture
    def given(self) -> tuple[str, str]:
        return self.plug, self.master

    @pytest.fixture
    def engine(self, given: tuple[str, str]) -> Engine:
        return ENGINES.get(given[0])(SparkOptions(given[1]))

    def test_its_master_url_leads_to_it(self, given: tuple[str, str]) -> None:
        assert type(engine_for(SparkOptions(given[1]))) is ENGINES.get(given[0])

    def test_a_job_is_a_command_with_its_properties_and_arguments(self, engine: Engine) -> None:
        words = engine.submission(JOB).argv
        assert "spark.executor.cores=1" in words
        assert words[-3:] == ("app.py", "one", "two words")

    def test_a_secret_is_given_apart_from_the_command(self, engine: Engine) -> None:
        submission = engine.submission(JOB)
        assert "hush" not in " ".join(submission.argv)
        assert submission.secrets == {"spark.ssl.keyPassword": "hush"}
        assert "hush" not in submission.shell()

    def test_its_own_properties_are_texts(self, engine: Engine) -> None:
        for name, value in engine.defaults().items():
            assert name.startswith("spark.")
            assert isinstance(value, str)

    def test_it_knows_what_fits_or_leaves_it_to_the_cluster(self, engine: Engine) -> None:
        capacity = engine.capacity([Shape(executors=1, cores=1, memory="512m", jobs=1)])
        assert capacity is None or capacity.executors(1, 512 * 2**20) >= 1

    def test_it_tells_what_the_numbers_depend_on(self, engine: Engine) -> None:
        facts = engine.facts()
        assert facts.spark
        assert facts.description
