"""One rule says what is optimized, for `recommend` and for `tune`."""

from pathlib import Path

import pytest

from sparkcast import api
from sparkcast.designs import make_plan
from sparkcast.errors import StudyError
from sparkcast.recommend.question import objective_of
from sparkcast.search.options import objective_for, value_of
from sparkcast.store import open_store, results_folder
from sparkcast.study import Kind, Observation, Response, Vocabulary

TIME = Response("took", kind=Kind.TIME)
QUALITY = Response("auc", kind=Kind.SHARE)
MONEY = Response("bill", kind=Kind.MONEY)


@pytest.mark.parametrize(
    ("responses", "options", "expected"),
    [
        ((TIME, QUALITY, MONEY), {}, "minimize took"),
        ((TIME, QUALITY, MONEY), {"limited": ["took"]}, "maximize auc"),
        ((TIME, QUALITY, MONEY), {"limited": ["bill"]}, "maximize auc"),
        ((TIME, QUALITY), {"limited": ["auc"]}, "minimize took"),
        ((TIME, MONEY), {"limited": ["took"], "resources": "core_seconds"}, "minimize bill"),
        ((TIME,), {"limited": ["took"], "resources": "core_seconds"}, "minimize core_seconds"),
        ((TIME,), {"limited": ["took"]}, "minimize took"),
        ((TIME, MONEY), {"limited": ["bill"]}, "minimize took"),
        ((TIME, QUALITY), {"limited": ["took"], "minimize": "took"}, "minimize took"),
        ((TIME, QUALITY), {"maximize": "took"}, "maximize took"),
    ],
)
def test_what_is_said_goes_before_quality_money_resources_and_time(
    responses: tuple[Response, ...], options: dict[str, object], expected: str
) -> None:
    assert str(objective_of(Vocabulary(responses=responses), **options)) == expected  # type: ignore[arg-type]


def test_two_objectives_are_refused() -> None:
    with pytest.raises(StudyError, match="cannot both maximize auc and minimize took"):
        objective_of(Vocabulary(responses=(TIME, QUALITY)), maximize="auc", minimize="took")


MNIST = "study: s\nworkload: mnist-training\nsettings: {executors: [1, 2], batch_size: [64, 128, 256]}\n"
PI = "study: s\nworkload: pi\nsettings: {executors: [1, 2], samples: [1000, 2000, 4000]}\n"
FIXED = "study: s\nworkload: pi\nsettings: {executors: 2, samples: [1000, 2000, 4000], partitions: [1, 2]}\n"


@pytest.mark.parametrize(
    ("study", "within_s", "expected"),
    [
        (MNIST, 100.0, "maximize accuracy"),
        (MNIST, None, "minimize time_s"),
        (PI + "price: {core_hour: 1}\n", 100.0, "minimize cost"),
        (PI, 100.0, "minimize core_seconds"),
        (FIXED, 100.0, "minimize time_s"),
        (PI, None, "minimize time_s"),
    ],
)
def test_tune_and_recommend_optimize_the_same(
    study: str, within_s: float | None, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(study)
    loaded = api.load_study(path)
    plan = make_plan(loaded)
    store = open_store(results_folder(path), create=True)
    store.register(loaded, plan)
    for trial in plan.trials:
        run_id, _ = store.begin_run("s", trial)
        seconds = 5 + 20 / int(trial.configuration["executors"]) + trial.position / 10
        responses = {"time_s": seconds, **({"accuracy": 0.9} if study == MNIST else {"error": 0.1})}
        store.finish_run("s", trial, Observation(trial.configuration, responses, run_id=run_id))
    store.close()
    assert str(objective_for(loaded, within_s=within_s)) == expected
    assert api.recommend(path, within_s=within_s, model="ridge").objective == expected


def test_resources_are_counted_in_each_run_of_a_search(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(PI.replace("samples: [", "cores: 2, samples: ["))
    study = api.load_study(tmp_path / "s.yaml")
    objective = objective_for(study, within_s=60.0)
    run = Observation({"executors": 2, "samples": 1000, **study.fixed}, {"time_s": 10.0})
    assert value_of(study, objective, run) == (40.0, "")
