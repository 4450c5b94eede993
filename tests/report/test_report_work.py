"""What a report computes and draws, counted: each thing once."""

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from altair.vegalite.v6 import api as altair_api

from sparkcast import api
from sparkcast.fitting import posterior
from sparkcast.fitting.problem import Problem
from sparkcast.models import MODELS
from sparkcast.models.base import LearnedPoints
from sparkcast.models.random_forest import RandomForest
from sparkcast.study import Dataset, Observation

N = 12


def study() -> Dataset:
    runs = [
        Observation(
            {"executors": e, "cores": c, "data_gb": g},
            {"time_s": 8 + 20 * g / (e * c) + replicate * 0.1 * (e + g % 3)},
            replicate=replicate,
        )
        for replicate, e, c, g in product((1, 2), (1, 2, 4), (1, 2), (5, 20))
    ]
    return Dataset(("executors", "cores", "data_gb"), tuple(runs))


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counter[str]:
    """How often a report on one response did each thing."""
    done: Counter[str] = Counter()
    for name in MODELS.declaring("is_usual"):
        MODELS.get(name)().fit(study(), "time_s")  # so that no library is loaded meanwhile, and no fit is repeated
    learn, posterior_of = RandomForest.learn, posterior.posterior_of
    to_svg, concat = vl_convert.vegalite_to_svg, altair_api.ConcatChart.__init__

    def watched_forest(self: RandomForest, problem: Problem) -> LearnedPoints:
        done["forests"] += 1
        return learn(self, problem)

    def watched_posterior(problem: Problem, *, seed: int = 0) -> posterior.Posterior:
        done["posteriors"] += 1
        return posterior_of(problem, seed=seed)

    def watched_picture(*args: Any, **options: Any) -> str:
        done["pictures"] += 1
        return str(to_svg(*args, **options))

    def watched_concat(self: Any, *args: Any, **options: Any) -> None:
        done["copies of panels"] += 1
        concat(self, *args, **options)

    monkeypatch.setattr(RandomForest, "learn", watched_forest)
    monkeypatch.setattr("sparkcast.validate.fits.posterior_of", watched_posterior)
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", watched_picture)
    monkeypatch.setattr(altair_api.ConcatChart, "__init__", watched_concat)
    api.report(api.Data(study()), tmp_path / "report.html", within_s=120)
    done["shown"] = (tmp_path / "report.html").read_text().count("<svg")
    return done


def test_a_report_fits_samples_and_draws_each_thing_once(work: Counter[str]) -> None:
    assert work["forests"] == N  # a fold each, and its errors come with the fit
    assert work["posteriors"] == N  # which two models share
    assert work["pictures"] == work["shown"]
    assert not work["copies of panels"]
