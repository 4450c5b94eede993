"""`auto` on the paper's measurements: apart from the other models, for it tries them all in every split."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sparkcast.replications import Findings, Part, Row, Section
from sparkcast.replications._compare import show
from sparkcast.replications.courier2021 import PARTS, _printed
from sparkcast.replications.courier2021._splits import AUTHORS_SEED, Technique, ask, by_settings, scores, typical
from sparkcast.replications.courier2021._techniques import boosting, forest, our_techniques, ours
from sparkcast.replications.courier2021.models import final_evaluation, with_and_without_stale
from sparkcast.study import Dataset

_AUTO = "auto"
_SEEDS = tuple(range(5))


@PARTS.register("auto")
class Auto(Part):
    """Our `auto` beside the best models of the paper and of ours, on the same five splits."""

    def __init__(self, seeds: Sequence[int] = _SEEDS) -> None:
        self._seeds = seeds

    def run(self, data: Path | None) -> Findings:
        runs, clean = with_and_without_stale(data)
        assert data is not None
        sections = (
            self._section("Replicate 1", runs),
            self._section("Replicate 1 without stale rows", clean),
            final_evaluation(data, clean, (_AUTO,)),
        )
        return Findings(sections)

    def _section(self, title: str, runs: Dataset) -> Section:
        rows: list[Row] = []
        for name, each in scores(_techniques(), runs, self._seeds).items():
            middle = typical(each)
            rows += [show(name, "MSE, median", middle.mse), show(name, "MAPE, %, median", middle.mape)]
        split = by_settings(runs, AUTHORS_SEED)
        authors = ask(_techniques()[_AUTO], split)
        rows += [show(_AUTO, f"MSE, seed {AUTHORS_SEED}", authors.mse), show(_AUTO, "R², same split", authors.r2)]
        notes = (f"{len(self._seeds)} splits only, for auto learns every model anew in each; all have the same ones",)
        return Section(f"{title}, {len(self._seeds)} splits by setting", "none", tuple(rows), notes)


def _techniques() -> dict[str, Technique]:
    paper: dict[str, Technique] = {_printed.FOREST: forest, _printed.BOOSTING_5: boosting}
    return paper | our_techniques() | {_AUTO: partial(ours, model=_AUTO)}
