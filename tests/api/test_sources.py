"""Every verb takes a path, a DataFrame, data or a model alike."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sparkcast import api
from sparkcast.errors import StudyError

AT = {"executors": 2, "batch_size": 96}
SMALL = api.Effort(1000, 2)


def frame() -> pd.DataFrame:
    noise = np.random.default_rng(1)
    rows = [
        {
            "executors": executors,
            "batch_size": batch_size,
            "time_s": (4 + 24 / executors) * (1 + 64 / batch_size) * noise.uniform(0.97, 1.03),
            "accuracy": 0.96 - batch_size / 5000 + noise.uniform(-0.005, 0.005),
        }
        for executors in (1, 2, 4)
        for batch_size in (64, 128, 256)
        for _ in range(2)
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "runs.csv"
    frame().to_csv(target, index=False)
    return target


VERBS: dict[str, Any] = {
    "analyze": lambda data: api.analyze(data, "time_s"),
    "validate": lambda data: [card.mape for card in api.validate(data, "time_s", models="ridge").scorecards],
    "fit": lambda data: api.fit(data, "time_s", model="ridge").responses,
    "predict": lambda data: api.predict(data, AT, model="ridge"),
    "recommend": lambda data: api.recommend(data, within_s=60, model="ridge").chosen,
    "queue": lambda data: api.queue(data, api.Load(0.001, at={"executors": 1, "batch_size": 64}), effort=SMALL),
    "samples": api.samples,
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_path_a_frame_and_data_give_the_same_answer(verb: str, path: Path) -> None:
    ask = VERBS[verb]
    of_data = ask(api.load_data(path))
    assert ask(path) == ask(str(path)) == of_data
    of_frame = ask(frame())
    if verb == "analyze":  # which bears the name of its data
        assert (of_frame.rows, of_frame.effects) == (of_data.rows, of_data.effects)
    else:
        assert of_frame == of_data


@pytest.mark.parametrize("verb", ["predict", "recommend", "queue"])
def test_a_model_and_the_path_of_its_file_give_the_same_answer(verb: str, path: Path, tmp_path: Path) -> None:
    model = api.fit(path, ["time_s", "accuracy"], model="ridge").model
    api.save_model(model, tmp_path / "m.sparkcast")
    assert VERBS[verb](model) == VERBS[verb](tmp_path / "m.sparkcast")


def test_a_report_and_an_export_take_a_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Testing all models takes long.
    monkeypatch.setattr("sparkcast.api.reports.validate", partial(api.validate, models=["ridge"]))
    api.report(frame(), tmp_path / "r.html", within_s=60)
    assert "<h1>DataFrame</h1>" in (tmp_path / "r.html").read_text()
    assert api.export(frame(), tmp_path / "copy.csv") == 18
    again = api.load_data(tmp_path / "copy.csv").dataset
    assert again.factors == ("executors", "batch_size")


@pytest.mark.parametrize("verb", ["analyze", "validate", "fit", "samples"])
def test_what_needs_runs_refuses_a_model(verb: str, path: Path) -> None:
    model = api.fit(path, "time_s", model="ridge").model
    with pytest.raises(StudyError, match="needs runs, and a model has none"):
        VERBS[verb](model)


def test_something_else_is_refused_by_its_type() -> None:
    with pytest.raises(StudyError, match=r"an object of type list is neither runs nor a model(.|\n)*pandas DataFrame"):
        api.predict([1, 2], AT)  # type: ignore[call-overload]


# ---------------------------------------------------------------- how a frame is understood


def test_the_columns_of_a_frame_are_understood_as_those_of_its_file(path: Path) -> None:
    of_frame, of_file = api.load_data(frame()), api.load_data(path)
    assert of_frame.dataset.observations == of_file.dataset.observations
    assert of_frame.dataset.vocabulary == of_file.dataset.vocabulary
    assert of_frame.understood is not None
    assert of_file.understood is not None
    assert of_frame.understood.lines()[1:] == of_file.understood.lines()[1:]
    assert of_frame.understood.source == "DataFrame"


def test_a_response_that_only_the_caller_knows_is_explained() -> None:
    named = frame().rename(columns={"time_s": "minutes"})
    assert api.analyze(named, response="minutes").response == "minutes"
    assert api.analyze(frame(), response="work = time_s * 2").response == "work"


def test_one_options_object_says_what_columns_mean() -> None:
    named = frame().rename(columns={"executors": "boxes", "time_s": "took"})
    table = api.TableOptions(factors=["boxes", "batch_size"], roles={"boxes": "machines", "took": "time:min"})
    data = api.load_data(named, table=table).dataset
    assert (data.factors, data.vocabulary.time) == (("boxes", "batch_size"), "took")
    predicted = api.predict(named, {"boxes": 2, "batch_size": 96}, model="ridge", table=table)
    assert predicted.prediction.response == "took"


def test_options_for_tables_are_refused_where_no_table_is_read(path: Path) -> None:
    table = api.TableOptions(ignore="accuracy")
    assert api.load_data(path, table=table).dataset.responses == ("time_s",)
    with pytest.raises(StudyError, match="these data were loaded before"):
        api.analyze(api.load_data(path), table=table)
    assert api.analyze(api.load_data(path), table=api.TableOptions()).response == "time_s"


@pytest.mark.parametrize("nothing", [np.nan, None, pd.NA, pd.NaT])
def test_what_is_not_there_is_an_empty_cell(nothing: Any) -> None:
    runs = frame().astype({"accuracy": object})
    runs.loc[3, "accuracy"] = nothing
    data = api.load_data(runs)
    assert "accuracy" not in data.dataset.observations[3].responses
    assert data.understood is not None
    assert data.understood.notes == ("no accuracy in row 4",)


def test_types_of_pandas_and_numpy_are_what_they_stand_for() -> None:
    runs = frame()
    runs["executors"] = runs["executors"].astype("Int64")
    runs["batch_size"] = runs["batch_size"].astype("category")
    runs["time"] = pd.to_timedelta(runs.pop("time_s"), unit="s")
    runs["accuracy"] = [np.float64(value) for value in runs["accuracy"]]
    runs["accuracy"] = runs["accuracy"].astype(object)
    data = api.load_data(runs).dataset
    assert data.observations[0].configuration == {"executors": 1, "batch_size": 64}
    response = data.vocabulary.response("time")
    seconds = [response.seconds(run.responses["time"]) for run in data.observations]
    assert seconds == pytest.approx(frame()["time_s"].tolist(), rel=1e-6)


def test_an_index_with_a_name_is_a_column() -> None:
    indexed = frame().set_index(["executors", "batch_size"])
    assert api.load_data(indexed).dataset.observations == api.load_data(frame()).dataset.observations


def test_a_frame_without_rows_is_refused() -> None:
    with pytest.raises(StudyError, match="DataFrame has 0 rows"):
        api.load_data(frame().iloc[:0])
    with pytest.raises(StudyError, match="DataFrame has 0 rows"):
        api.load_data(pd.DataFrame())


def test_a_frame_whose_columns_have_no_names_is_refused() -> None:
    with pytest.raises(StudyError, match=r"only numbers where the column names should be(.|\n)*frame.columns = "):
        api.load_data(pd.DataFrame(frame().to_numpy()))


def test_a_frame_with_two_columns_of_one_name_is_refused() -> None:
    twice = pd.concat([frame(), frame()[["time_s"]]], axis=1)
    with pytest.raises(StudyError, match="DataFrame has two columns named 'time_s'"):
        api.load_data(twice)


def test_a_single_name_is_not_a_sequence_of_letters(path: Path) -> None:
    assert [learned.response for learned in api.fit(path, "time_s", model="ridge").responses] == ["time_s"]
    assert api.TableOptions("executors").factors == ("executors",)
    assert api.validate(path, models="ridge").scorecards[0].model == "ridge"


@pytest.mark.parametrize("as_frame", [True, False])
def test_many_settings_are_predicted_at_once_and_come_back_as_a_frame(as_frame: bool) -> None:
    rows: list[dict[str, Any]] = [{"executors": 1, "batch_size": 64}, {"executors": 2, "batch_size": 96}]
    found = api.predict(frame(), pd.DataFrame(rows) if as_frame else rows, model="ridge")
    assert len(found) == 2
    assert found[1].prediction == api.predict(frame(), rows[1], model="ridge").prediction
    told = found.frame()
    assert told[["executors", "batch_size"]].to_dict("records") == rows
    assert (told["low"] < told["time_s"]).all()
    assert (told["time_s"] < told["high"]).all()


def test_an_empty_cell_of_a_frame_of_settings_is_not_given() -> None:
    missing = pd.DataFrame({"executors": [1.0, None], "batch_size": [64, 96]})
    with pytest.raises(StudyError, match="executors"):
        api.predict(frame(), missing, model="ridge")


def test_an_analysis_as_a_frame_is_its_table() -> None:
    found = api.analyze(frame(), "time_s")
    assert list(found.frame().index) == [row.term for row in found.rows]
    assert found.frame()["percent"].sum() > 0
