"""`auto` on the paper's measurements: apart from the other models, for it learns them all in every split."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sparkcast.replications import PaperPart, PartResult, Row, Section, show
from sparkcast.study import Dataset
from sparkcast_papers.courier2021 import PARTS, _printed
from sparkcast_papers.courier2021._splits import AUTHORS_SEED, Technique, scores, typical
from sparkcast_papers.courier2021._techniques import boosting, forest, ours
from sparkcast_papers.courier2021.models import NO_NUMBERS, require, with_and_without_stale

_SEEDS = tuple(range(3))
_TECHNIQUES: dict[str, Technique] = {
    _printed.FOREST: forest,
    _printed.BOOSTING_5: boosting,
    "scaling": partial(ours, model="scaling"),
    "auto": partial(ours, model="auto"),
}


@PARTS.register("models-auto")
class ModelsAuto(PaperPart):
    """Our `auto` beside the best of the paper's models and of ours: authors' split, and three without stale rows."""

    def __init__(self, seeds: Sequence[int] = _SEEDS) -> None:
        self._seeds = seeds

    def run(self, data: Path | None) -> PartResult:
        runs, clean = with_and_without_stale(require(data))
        n = len(self._seeds)
        sections = (
            _section("Replicate 1, the authors' split", runs, (AUTHORS_SEED,)),
            _section(f"Replicate 1 without stale rows, median of {n} splits by configuration", clean, self._seeds),
        )
        return PartResult(sections)


def _section(title: str, runs: Dataset, seeds: Sequence[int]) -> Section:
    rows: list[Row] = []
    for name, each in scores(_TECHNIQUES, runs, seeds).items():
        middle = typical(each)
        rows += [show(name, "MSE", middle.mse), show(name, "R²", middle.r2), show(name, "MAPE, %", middle.mape)]
    notes = ("auto retrains every model in each split, so there are few splits: too few to rank models",)
    return Section(f"{title}, with auto", NO_NUMBERS, tuple(rows), notes, is_printed=False)
