"""K-means on Spark: the library's techniques and ours, at cores and data sizes that were never run."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from sparkcast.models import MODELS
from sparkcast.replications import PaperPart, PartResult, Row, Section, compare, show
from sparkcast.study import Dataset
from sparkcast_papers.polimi2019 import PARTS, _printed
from sparkcast_papers.polimi2019._files import K_MEANS, RESPONSE, k_means, require
from sparkcast_papers.polimi2019._splits import CASES, SIZES, Split, case_split, conf_splits
from sparkcast_papers.polimi2019._techniques import SEEDS, TECHNIQUES, mape, try_technique

_OTHERS = "computed independently from the same data"
_OURS = ("gray-box", "scaling")
_CHOOSES = "auto"  # tries every model, so it is asked only where the bars are


@PARTS.register("kmeans")
class KMeans(PaperPart):
    """K-means at cores and data sizes never run: the library's techniques, Ernest, and our own models."""

    def run(self, data: Path | None) -> PartResult:
        runs = k_means(require(data, K_MEANS))
        sizes = conf_splits(runs)
        return PartResult((_at_new_cores(runs), _at_new_sizes(sizes), _bars(sizes)))


def _at_new_cores(runs: Dataset) -> Section:
    rows: list[Row] = []
    for size in SIZES:
        for case in CASES:
            splits = [case_split(runs, size, case, seed) for seed in SEEDS]
            rows += _rows(splits)
            rows += [show(splits[0].title, model, ask(model, splits[0])) for model in _present(*_OURS)]
    notes = (
        "case 0 tests random runs, so the same configurations are in the training data: a lookup table of "
        "means would do (mistake 4)",
        "beyond case 0 the decision tree cannot interpolate between its training cores",
    )
    return Section("K-means, cores never run: MAPE", _OTHERS, tuple(rows), notes, is_printed=False)


def _at_new_sizes(splits: Sequence[Split]) -> Section:
    rows = [row for split in splits for row in _rows([split] * len(SEEDS))]
    notes = (
        "techniques: the grids are reduced and the random splits differ from those behind the printed numbers, "
        "so they are not compared; Ernest has neither and must agree",
    )
    return Section("K-means, data sizes never run: MAPE", _OTHERS, tuple(rows), notes, is_printed=False)


def _rows(splits: Sequence[Split]) -> list[Row]:
    """One split, or one that is random once per seed."""
    first = splits[0]
    *printed, ernest = _printed.K_MEANS[first.name, first.case].split()
    rows = []
    for technique, number in zip(TECHNIQUES, printed, strict=True):
        tried = [try_technique(technique, split, seed).asked for split, seed in zip(splits, SEEDS, strict=True)]
        rows.append(show(first.title, technique, fmean(tried), number))
    ours = ask("ernest", first)
    is_fixed = first.case is None
    rows.append(compare(first.title, "ernest", ernest, ours) if is_fixed else show(first.title, "ernest", ours, ernest))
    return rows


def _bars(splits: Sequence[Split]) -> Section:
    """Our models against the best of all techniques, which nobody could have named beforehand."""
    rows = []
    for split in splits:
        bar = _printed.BEST_TECHNIQUE[split.name]
        rows += [
            show(split.title, f"{model}, compared with the best technique", ask(model, split), bar)
            for model in _present(*_OURS, _CHOOSES)
        ]
    notes = (
        "if a core has more data than fits in its memory, the data are read again in every iteration; gray-box "
        "finds that "
        "bend in the times of the jobs",
    )
    return Section(
        "K-means, data sizes never run: ours compared with the best technique",
        _OTHERS,
        tuple(rows),
        notes,
        is_printed=False,
    )


def _present(*models: str) -> list[str]:
    return [model for model in models if model in MODELS.names()]


def ask(model: str, split: Split) -> float:
    """The MAPE of one of our models on the asked runs."""
    import numpy as np

    fitted = MODELS.get(model)().fit(split.train, RESPONSE)
    return mape(np.array(fitted.predict([run.configuration for run in split.test.observations])), split.y_test)
