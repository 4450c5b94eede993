"""Settings, checks and Spark properties of every workload; no Spark here."""

import itertools
import subprocess
import sys
from typing import Any

import pytest

from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Factor, Study
from sparkcast.study.file import parse_study
from sparkcast.workloads import CLUSTER_SETTINGS, WORKLOADS, Workload, complete, resolve, settings_of, workload_of
from sparkcast.workloads.starter import starter_study


@pytest.fixture(params=WORKLOADS.names())
def study(request: pytest.FixtureRequest) -> Study:
    return resolve(parse_study(starter_study(request.param)))


@pytest.fixture
def workload(study: Study) -> Workload:
    return workload_of(study)


def test_listing_workloads_imports_no_heavy_library() -> None:
    heavy = ["pyspark", "bigdl", "torch", "sklearn", "mlxtend", "pandas"]
    code = (
        "import sys; from sparkcast.workloads import WORKLOADS; print(*WORKLOADS.names()); "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == [" ".join(WORKLOADS.names()), "[]"]


def test_the_defaults_of_a_workload_can_run(workload: Workload) -> None:
    settings = complete(workload, {})
    for setting in settings_of(workload):
        setting.check(settings[setting.name])
    workload.check(settings)


def test_the_names_of_a_workloads_settings_are_its_own(workload: Workload) -> None:
    names = [s.name for s in (*CLUSTER_SETTINGS, *workload.settings)]
    assert len(names) == len(set(names))
    assert "time_s" in [response.name for response in workload.responses]


def test_every_combination_of_the_example_can_run(workload: Workload, study: Study) -> None:
    levels: dict[str, list[Any]] = {
        name: value if isinstance(value, list) else [value] for name, value in workload.example.items()
    }
    for combination in itertools.product(*levels.values()):
        workload.check(complete(workload, dict(zip(levels, combination, strict=True))))
    factors = tuple(Factor(name, tuple(value)) for name, value in levels.items() if len(value) > 1)
    fixed = Configuration({name: value[0] for name, value in levels.items() if len(value) == 1})
    resolve(Study("example", study.workload, factors, fixed, options=study.options))


def test_a_workload_has_a_line_for_the_list(workload: Workload) -> None:
    assert (type(workload).__doc__ or "").strip()


def test_pi_refuses_partitions_without_samples() -> None:
    pi = WORKLOADS.get("pi")()
    with pytest.raises(StudyError, match="leaves some of the 20 partitions empty"):
        pi.check(complete(pi, {"samples": 10, "partitions": 20}))
