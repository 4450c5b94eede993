"""Every model passes the suite that is shipped for everybody's models: a new file is tested the day it appears."""

from collections.abc import Callable
from functools import partial

import pytest

from sparkcast.models import MODELS, Predictor
from sparkcast.testing import ModelSuite

# What takes seconds to learn promises the same with fewer trees or steps.
QUICK: dict[str, dict[str, int]] = {
    "boosted-terms": {"trees": 20},
    "gradient-boosting": {"trees": 20},
    "mlp": {"networks": 2, "steps": 30},
}
REPLAYED = MODELS.declaring("replays_logs")  # these runs have no logs: see test_replay.py


class TestEveryModel(ModelSuite):
    @pytest.fixture(scope="class", params=[name for name in MODELS.names() if name not in REPLAYED])
    @classmethod
    def make(cls, request: pytest.FixtureRequest) -> Callable[[], Predictor]:
        return partial(MODELS.get(request.param), **QUICK.get(request.param, {}))
