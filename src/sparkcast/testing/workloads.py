"""What every workload must hold before it is run."""

from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import pytest

from sparkcast.errors import StudyError
from sparkcast.study import Kind, Role, Study
from sparkcast.study.file import parse_study
from sparkcast.workloads import complete, resolve, settings_of, shape_of, workload_of
from sparkcast.workloads.base import WORKLOADS, FromStudy, Submitted, Workload
from sparkcast.workloads.starter import starter_study


class WorkloadSuite:
    """Set `plug` to the registered name of a workload, or override the fixture `name`.

    Nothing is run: that is for a test with a cluster.
    """

    plug: ClassVar[str]

    @pytest.fixture
    def name(self) -> str:
        return self.plug

    @pytest.fixture
    def study(self, name: str, tmp_path: Path) -> Study:
        return resolve(parse_study(starter_study(name), tmp_path / "study.yaml"))

    @pytest.fixture
    def workload(self, study: Study) -> Workload:
        """As its own example of a study makes it."""
        return workload_of(study)

    def test_every_setting_has_a_default_that_it_accepts_and_says_what_it_is(self, workload: Workload) -> None:
        for setting in workload.settings:
            assert setting.default is not None
            setting.check(setting.default)
            assert setting.help

    def test_its_defaults_together_can_be_run(self, workload: Workload) -> None:
        settings = complete(workload, {})
        workload.check(settings)
        assert shape_of(workload, settings).executors >= 1

    def test_it_has_one_setting_for_each_thing_the_cluster_is_asked_for(self, workload: Workload) -> None:
        roles = [setting.role for setting in settings_of(workload)]
        for role in (Role.MACHINES, Role.CORES, Role.MEMORY, Role.JOBS):
            assert roles.count(role) == 1

    def test_it_yields_a_time_and_every_response_has_a_name_of_its_own(self, workload: Workload) -> None:
        names = [response.name for response in workload.responses]
        assert len({*names}) == len(names)
        assert Kind.TIME in [response.kind for response in workload.responses]

    def test_its_example_is_a_study_that_can_be_planned(self, study: Study) -> None:
        from sparkcast.designs import make_plan

        assert make_plan(study).trials

    def test_spark_properties_are_texts(self, workload: Workload) -> None:
        for key, value in workload.spark_conf(complete(workload, {})).items():
            assert key.startswith("spark.")
            assert isinstance(value, str)

    def test_preparing_data_twice_gives_the_same_fingerprint(self, workload: Workload, tmp_path: Path) -> None:
        settings = complete(workload, {})
        first = workload.prepare(settings, tmp_path)
        assert workload.prepare(settings, tmp_path) == first

    def test_a_study_gives_it_settings_and_leaves_the_plug_as_it_was(self, name: str, study: Study) -> None:
        plug = WORKLOADS.get(name)()
        before = plug.settings, plug.responses
        if isinstance(plug, FromStudy):
            made = plug.for_study(study)
            assert made is not plug
            assert made.settings == plug.for_study(study).settings
            given = {*(factor.name for factor in study.factors), *study.fixed}
            assert given <= {setting.name for setting in settings_of(made)}
            assert {*getattr(made, "asked", ())} <= {response.name for response in made.responses}
        assert (plug.settings, plug.responses) == before

    def test_a_program_of_its_own_is_texts_for_spark_submit_or_said_to_be_missing(
        self, workload: Workload, tmp_path: Path
    ) -> None:
        if isinstance(workload, Submitted):
            settings = complete(workload, {})
            with suppress(StudyError):  # the program of an example need not exist
                program = workload.application(settings, tmp_path)
                assert program.file
                assert all(isinstance(word, str) for word in (*program.arguments, *program.options))
                assert "--master" not in program.options
