"""Stages put together, without a cluster."""

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sparkcast import api
from sparkcast.designs import make_plan
from sparkcast.designs.full import FullFactorial
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.models import MODELS
from sparkcast.models.auto import Auto
from sparkcast.store import open_store, results_folder
from sparkcast.study import Configuration, Dataset, Epoch, Listed, Observation, Outcome, Price

STUDY = "study: s\nworkload: pi\nsettings: {executors: [1, 2], samples: 1000}\n"


def _pretend_to_run(path: Path) -> None:
    study = api.load_study(path)
    plan = make_plan(study)
    store = open_store(results_folder(path), create=True)
    store.register(study, plan, allow_changed=True)
    for trial in store.pending("s", plan):
        run_id, _ = store.begin_run("s", trial)
        store.finish_run("s", trial, Observation(trial.configuration, {"time_s": 1.0}, run_id=run_id))
    store.close()


def test_results_with_other_fixed_settings_are_kept_but_not_mixed_in(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(STUDY)
    _pretend_to_run(path)
    path.write_text(STUDY.replace("1000", "2000").replace("[1, 2]", "[1, 2, 4]"))
    _pretend_to_run(path)
    seen = api.load_data(path).dataset.observations
    assert sorted(int(o.configuration["executors"]) for o in seen) == [1, 2, 4]
    assert {o.configuration["samples"] for o in seen} == {2000}
    path.write_text(STUDY)
    assert {o.configuration["samples"] for o in api.load_data(path).dataset.observations} == {1000}


def test_levels_that_a_study_no_longer_varies_still_teach(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(STUDY.replace("[1, 2]", "[1, 2, 4]"))
    _pretend_to_run(path)
    path.write_text(STUDY)
    assert len(api.load_data(path).dataset.observations) == 3


# ---------------------------------------------------------------- learning and asking


def _measured(executors: tuple[int, ...] = (1, 2, 4), last: int = 4, *, with_curves: bool = True) -> api.Data:
    observations = []
    for e in executors:
        for batch in (64, 128, 256):
            epochs = tuple(
                Epoch(k, 2 + k * 900 / e / batch, {"accuracy": 1 - batch / 1000 / k}) for k in range(1, last + 1)
            )
            responses = {"time_s": epochs[-1].time_s, **epochs[-1].values}
            settings = Configuration({"executors": e, "batch_size": batch, "epochs": last, "cores": 2})
            observations.append(Observation(settings, responses, curve=epochs if with_curves else ()))
    return api.Data(Dataset(("executors", "batch_size"), tuple(observations), "made up", ("time_s", "accuracy")))


def _at(**settings: int) -> Configuration:
    return Configuration({"executors": 2, "batch_size": 100, **settings})


def test_another_number_of_epochs_can_be_asked_for_when_runs_have_curves(tmp_path: Path) -> None:
    data = _measured()
    api.save_model(api.fit(data, model="ridge").model, tmp_path / "m.sparkcast")
    for source in (data, api.load_model(tmp_path / "m.sparkcast")):
        told = {e: api.predict(source, _at(epochs=e), model="ridge") for e in (1, 3, 5)}
        assert {answer.model for answer in told.values()} == {"curve"}
        assert told[1].prediction.value < told[3].prediction.value < told[5].prediction.value
        assert told[5].prediction.value == pytest.approx(2 + 5 * 900 / 2 / 100, rel=0.1)
        better = [api.predict(source, _at(epochs=e), response="accuracy", model="ridge").prediction for e in (1, 5)]
        assert better[0].value < better[1].value <= 1
        assert api.predict(source, _at(epochs=5)).failure_probability == pytest.approx(1 / 11)


def test_the_epochs_of_all_runs_are_answered_by_the_usual_model() -> None:
    data = _measured()
    assert (
        api.predict(data, _at(epochs=4), model="ridge").prediction == api.predict(data, _at(), model="ridge").prediction
    )


def test_far_more_epochs_need_insisting() -> None:
    with pytest.raises(NotEnoughDataError, match="epochs = 500 is too far"):
        api.predict(_measured(), _at(epochs=500), model="ridge")
    assert api.predict(_measured(), _at(epochs=500), model="ridge", extrapolate=True).prediction.value > 1000


def test_without_curves_epochs_that_never_varied_are_refused() -> None:
    with pytest.raises(StudyError, match="'epochs' is not a factor of 'made up'"):
        api.predict(_measured(with_curves=False), _at(epochs=5), model="ridge")


def test_recommend_leaves_out_what_is_too_far_and_says_how_many(tmp_path: Path) -> None:
    data = _measured()
    learned = api.fit(data, model="ridge").model
    wide = dataclasses.replace(learned, pool=Listed((*learned.about.candidates, Configuration(_at(executors=900)))))
    careful, bold = (api.recommend(wide, minimize="time_s", extrapolate=insist) for insist in (False, True))
    assert len(bold.candidates) == len(careful.candidates) + 4 == 16  # 900 executors with four batch sizes
    assert "4 candidates: too far from what was measured" in careful.excluded
    assert not bold.excluded


def test_when_every_candidate_is_too_far_the_run_that_would_help_is_named() -> None:
    learned = api.fit(_measured(), model="ridge").model
    far = dataclasses.replace(learned, pool=Listed((Configuration(_at(executors=900)),)))
    with pytest.raises(NotEnoughDataError, match=r"executors = 900 is too far(.|\n)*would help most"):
        api.recommend(far, minimize="time_s")


def test_a_model_file_recommends_with_its_own_price_and_failures(tmp_path: Path) -> None:
    data = _measured()
    broken = Observation({"executors": 4, "batch_size": 512, "epochs": 4, "cores": 2}, {}, outcome=Outcome.OOM)
    data = api.Data(dataclasses.replace(data.dataset, observations=(*data.dataset.observations, broken)))
    learned = api.fit(data, model="ridge").model
    priced = dataclasses.replace(learned, price=Price(core_hour=0.1))
    api.save_model(priced, tmp_path / "m.sparkcast")
    found = api.recommend(api.load_model(tmp_path / "m.sparkcast"), minimize="cost")
    time, cost = found.chosen.predicted("time_s"), found.chosen.predicted("cost")
    assert cost.value == pytest.approx(time.value / 3600 * int(found.chosen.configuration["executors"]) * 2 * 0.1)
    assert "1 candidate: failed every time" in found.excluded
    assert found.models == {"time_s": "ridge", "accuracy": "ridge"}
    assert found.launch.properties["spark.executor.cores"] == "2"


def test_a_response_that_cannot_be_learned_is_noted_unless_it_was_asked_for() -> None:
    data = _measured()
    first, *others = data.dataset.observations
    bare = [dataclasses.replace(run, responses={"time_s": run.responses["time_s"]}, curve=()) for run in others]
    sparse = api.Data(dataclasses.replace(data.dataset, observations=(first, *bare)))
    result = api.fit(sparse, model="ridge")
    assert [learned.response for learned in result.responses] == ["time_s"]
    assert "1 different configurations with accuracy" in result.notes[0]
    with pytest.raises(NotEnoughDataError):
        api.fit(sparse, ["time_s", "accuracy"], model="ridge")


def test_planning_chooses_the_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, chosen = tmp_path / "s.yaml", []
    path.write_text(STUDY + "limits: {total: 30m, trial: 1m}\nprice: {core_hour: 1}\n")
    choose = FullFactorial.choose

    def counted(*arguments: Any) -> Any:
        chosen.append(arguments)
        return choose(*arguments)

    monkeypatch.setattr(FullFactorial, "choose", counted)
    assert api.plan(path, budget_s=600.0).trials
    assert len(chosen) == 1


def test_a_report_learns_each_response_once_with_its_best_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{n},{60 / n + r / 10},{0.9 - n / 100 + r / 1000}" for n in (1, 2, 3, 4) for r in (0, 1)]
    (tmp_path / "runs.csv").write_text("\n".join(["executors,time_s,accuracy", *rows]) + "\n")
    data, learned = api.load_data(tmp_path / "runs.csv"), list[str]()

    def fit(_: object, runs: Dataset, response: str) -> Any:
        learned.extend([response] if len(runs.observations) == len(rows) else [])
        return MODELS.get("ridge")().fit(runs, response)

    monkeypatch.setattr(Auto, "fit", fit)  # the best of the two that are tested
    monkeypatch.setattr("sparkcast.api.reports.validate", partial(api.validate, models=["auto", "median"]))
    monkeypatch.setattr("sparkcast.report.write_report", lambda *_: None)
    api.report(data, tmp_path / "r.html", within_s=60)
    assert sorted(learned) == ["accuracy", "time_s"]
