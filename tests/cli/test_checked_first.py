"""Questions are checked before anything is fitted: a mistake is answered at once."""

from pathlib import Path
from typing import Any

import pytest

from sparkcast.models.base import Model
from tests_support import Call

RUNS = "executors,net,time_s,accuracy\n" + "".join(
    f"{executors},{net},{slow * (5 + 40 / executors)},{0.9 - executors / 100}\n"
    for executors in (1, 2, 4, 8)
    for net, slow in (("lenet5", 1.0), ("vgg", 3.0))
)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table, and models that must not be fitted."""

    def fit(*arguments: Any) -> None:
        raise AssertionError("something was fitted")

    for model in _all_models(Model):
        monkeypatch.setattr(model, "fit", fit, raising=False)
    path = tmp_path / "runs.csv"
    path.write_text(RUNS)
    return path


def _all_models(base: type) -> list[type]:
    from sparkcast.models import MODELS

    return [base, *(MODELS.get(name) for name in MODELS.names())]


@pytest.mark.parametrize(
    ("question", "code", "words"),
    [
        (["--at", "exectors=2,net=vgg"], 2, "'exectors' is not a factor"),
        (["--at", "executors=2"], 2, "the setting 'net' is missing"),
        (["--at", "executors=two,net=vgg"], 2, "executors = 'two' is not a number"),
        (["--at", "executors=two,net=vgg", "--extrapolate"], 2, "executors = 'two' is not a number"),
        (["--at", "executors=2", "--extrapolate"], 2, "the setting 'net' is missing"),
        (["--at", "executors=2,net=alexnet"], 4, "net = 'alexnet' was never run"),
        (["--at", "executors=1000,net=vgg"], 4, "executors = 1000 is too far from the measured range"),
        (["--at", "executors=2,net=vgg", "--response", "acuracy"], 2, "acuracy"),
        (["--at", "executors=2,net=vgg", "--level", "90"], 2, "level 90 is not between 0 and 1"),
        (["--at", "executors=2,net=vgg", "--model", "rigde"], 2, "no model named 'rigde'"),
        (["--at", "executors"], 2, "is not name=value"),
    ],
)
def test_predict_checks_its_question_first(call: Call, runs: Path, question: list[str], code: int, words: str) -> None:
    answer = call("predict", runs, *question)
    assert (answer.code, answer.out) == (code, "")
    assert words in answer.err
    assert "hint: " in answer.err


@pytest.mark.parametrize(
    ("question", "code", "words"),
    [
        (["--within", "5 parsecs"], 2, "unknown unit"),
        (["--limit", "auc >= 0.9"], 2, "there is no response 'auc'"),
        (["--maximize", "acuracy"], 2, "acuracy"),
        (["--fix", "exectors=2"], 2, "cannot fix 'exectors'"),
        (["--levels", "exectors=1..4"], 2, "'exectors' is not a factor"),
        (["--budget", "1"], 2, "the cost is unknown without a price"),
        (["--min-accuracy", "95"], 2, "accuracy never reaches 95: it is a share here"),
        (["--fix", "executors=1000"], 4, "executors = 1000 is too far from the measured range"),
        (["--fix", "executors=two"], 2, "executors = 'two' is not a number"),
        (["--fix", "net=alexnet"], 4, "net = 'alexnet' was never run"),
        (["--confidence", "95"], 2, "confidence 95 is not between 0 and 1"),
        (["--model", "rigde"], 2, "no model named 'rigde'"),
    ],
)
def test_recommend_checks_its_question_first(
    call: Call, runs: Path, question: list[str], code: int, words: str
) -> None:
    answer = call("recommend", runs, *question)
    assert (answer.code, answer.out) == (code, "")
    assert words in answer.err
    assert "hint: " in answer.err


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (["--response", "time_s,acuracy"], "acuracy"),
        (["--model", "rigde"], "no model named 'rigde'"),
        (["--grid", "nobody"], "no grid named 'nobody'"),
        (["--grid", "courier2021", "--model", "ridge", "--search", "tpi"], "no search named 'tpi'"),
        (["--save", "nowhere/m.sparkcast"], "there is no folder 'nowhere'"),
    ],
)
def test_fit_checks_its_question_first(call: Call, runs: Path, question: list[str], words: str) -> None:
    answer = call("fit", runs, *question)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert "hint: " in answer.err
