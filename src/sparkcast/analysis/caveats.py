"""What a reader of an analysis should know before trusting it."""

from collections.abc import Sequence
from dataclasses import fields
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, t

from sparkcast.analysis import LevelMean
from sparkcast.analysis.beside import left_unexplained
from sparkcast.analysis.blocks import IN_A_ROW, is_sorted_by_settings, run_order
from sparkcast.analysis.estimable import CodedRuns
from sparkcast.analysis.fit import DesignMatrix, Fit
from sparkcast.analysis.noise import BlockNoise, Noise, block_noises
from sparkcast.analysis.runs import left_out
from sparkcast.analysis.sentences import SIGNIFICANCE, shared
from sparkcast.study import Dataset, Fingerprint, Kind, Observation, Response
from sparkcast.study.application import CPU_TIME

_MOSTLY = 0.5  # the share of the order's variation that a setting explains when it was changed once or twice
_FEW = 5  # trials that are named
_PRECISE = 5  # significant digits beyond which two equal measurements are no coincidence


def data_caveats(
    data: Dataset, runs: Sequence[Observation], response: str, model: DesignMatrix, anova_type: int
) -> list[str]:
    """One sentence per reason for doubt that lies in the runs themselves."""
    codes = model.runs.codes
    found = [
        _sorted_rows(codes, runs),
        _failed(data, response),
        _crowded(runs, data.vocabulary.response(response)),
        _unreplicated(codes),
        _unbalanced(codes, anova_type),
        _mixed_machines(data, runs),
        _changes_with_time(model.runs, runs),
        _stale(runs, response),
    ]
    return [sentence for sentence in found if sentence]


def fit_caveats(
    fit: Fit,
    runs: Sequence[Observation],
    response: Response,
    means: Sequence[LevelMean],
    noises: Sequence[Noise],
    choices: Sequence[str],
) -> list[str]:
    """One sentence per reason for doubt that shows only once a model is fitted.

    `choices` are the settings that one can choose, of which the best level may lie beyond those tried.
    """
    found = [
        *map(_in_blocks, block_noises(noises)),
        left_unexplained(fit, runs) or _warm_up(fit, runs),
        _outliers(fit, runs),
        *_optimum_at_edge(fit, response, means, choices),
        "the model fits exactly, so there is no noise to test against (no F, no p)" if fit.is_exact else "",
        f"means are back-transformed from {fit.scale.label}, so they are not arithmetic means"
        if fit.scale.power != 1
        else "",
    ]
    return [sentence for sentence in found if sentence]


def _in_blocks(noise: BlockNoise) -> str:
    told = f"{shared(noise.blocks)}, so tests compare the {noise.blocks.count} blocks, not the runs"
    if noise.blocks.name != IN_A_ROW:
        return told
    return f"{told}; randomize the order, or add a column `position` if the rows are not in the order of the runs"


def _failed(data: Dataset, response: str) -> str:
    missing = left_out(data, response)
    return f"runs left out: {missing}; if failures depend on a setting, its effect is biased" if missing else ""


def _unreplicated(codes: "pd.DataFrame") -> str:
    if codes.duplicated().any():
        return ""
    return "no configuration was run twice, so the residuals mix noise with effects that the model leaves out"


def _unbalanced(codes: "pd.DataFrame", anova_type: int) -> str:
    if is_balanced(codes):
        return ""
    if anova_type == 1:
        return "the data are unbalanced: with type 1 the shares depend on the order of the factors; use type 2"
    return "the data are unbalanced: shares need not add up to 100%, and level means are adjusted for other settings"


def is_balanced(codes: "pd.DataFrame") -> bool:
    """Each configuration equally often, and the levels of any two factors in proportion: then effects separate.

    >>> import pandas as pd
    >>> is_balanced(pd.DataFrame([(0, 0), (0, 1), (1, 0), (1, 1)])), is_balanced(pd.DataFrame([(0, 0), (0, 1), (1, 0)]))
    (True, False)
    """
    if codes.groupby(list(codes.columns)).size().nunique() > 1:
        return False
    columns = [codes[name].to_numpy() for name in codes.columns]
    counts = [np.bincount(column) for column in columns]
    for i, j in combinations(range(len(columns)), 2):
        if len(counts[i]) * len(counts[j]) > len(codes):  # some pair of levels does not occur
            return False
        both = np.bincount(columns[i] * len(counts[j]) + columns[j], minlength=len(counts[i]) * len(counts[j]))
        if (both.reshape(len(counts[i]), -1) * len(codes) != np.outer(counts[i], counts[j])).any():
            return False
    return True


def _mixed_machines(data: Dataset, runs: Sequence[Observation]) -> str:
    known = [(o, o.fingerprint) for o in runs if o.fingerprint is not None]
    differing = [f.name for f in fields(Fingerprint) if len({getattr(print_, f.name) for _, print_ in known}) > 1]
    if not differing:
        return ""
    kinds = {print_: None for _, print_ in known}
    # A factor is confounded when each of its levels was seen with one fingerprint only.
    confounded = [
        name
        for name in data.factors
        if len({o.configuration[name] for o, _ in known})
        == len({(o.configuration[name], print_) for o, print_ in known})
    ]
    sentence = f"the runs come from {len(kinds)} environments that differ in {', '.join(differing)}"
    if not confounded:
        return sentence
    return f"{sentence}; this is confounded with {', '.join(confounded)}"


def _crowded(runs: Sequence[Observation], response: Response) -> str:
    """Times of runs whose machine others used say how busy those were."""
    taken = [(o, o.utilization) for o in runs if o.utilization is not None and o.utilization.is_crowded]
    if not taken or response.kind is not Kind.TIME or response.name == CPU_TIME:
        return ""
    busiest = max((used for _, used in taken), key=lambda used: used.crowding)
    trials = ", ".join(str(o.position) for o, _ in taken[:_FEW]) + (", ..." if len(taken) > _FEW else "")
    cores = f"up to {busiest.other_cores:.1f} of {busiest.cores} cores"
    steadier = f"; `response='{CPU_TIME}'` is steadier" if all(CPU_TIME in o.responses for o in runs) else ""
    return f"other work took {cores} during {len(taken)} of {len(runs)} runs (trials {trials}){steadier}"


def _sorted_rows(codes: "pd.DataFrame", runs: Sequence[Observation]) -> str:
    if not codes.duplicated().any() or not is_sorted_by_settings(runs):
        return ""
    return (
        "the rows are sorted by the settings, so their order is not taken for that of the runs, and replicates "
        "count as independent; if they ran in this order, add a column `position`"
    )


def _changes_with_time(settings: CodedRuns, runs: Sequence[Observation]) -> str:
    """A setting that was changed once, half-way, cannot be told from whatever else changed meanwhile."""
    order = run_order(runs)
    if len(runs) < 8 or order is None:  # too few, or nobody noted the order
        return ""
    place = pd.Series(order)
    coding = settings.coding
    drifting = []
    for name in coding.varied:
        if len(coding.levels[name]) > len(place) / 4:  # too few runs per level to show an order
            continue
        between = place.groupby(settings.codes[name].to_numpy()).transform("mean").var(ddof=0)
        if between > _MOSTLY * place.var(ddof=0):
            drifting.append(name)
    if not drifting:
        return ""
    return (
        f"in the order of the runs {', '.join(drifting)} changes with time, so machine drift would look like "
        "its effect; a random run order would separate the two"
    )


def _stale(runs: Sequence[Observation], response: str) -> str:
    """Two measurements equal to all digits are one, read twice; of rounded numbers that says nothing."""
    ordered = sorted(runs, key=lambda run: run.position)
    rows = [
        b.position
        for a, b in pairwise(ordered)
        if a.responses[response] == b.responses[response] and _digits(b.responses[response]) >= _PRECISE
    ]
    if not rows:
        return ""
    return (
        f"{response} is identical to that of the previous run in row{'s' * (len(rows) > 1)} {_listed(rows)}: "
        "these look like stale or copied measurements, not replicates; drop them"
    )


def _digits(value: float) -> int:
    """The significant digits a number was written with.

    >>> _digits(153.519245625), _digits(0.011), _digits(500.0)
    (12, 2, 1)
    """
    return len(f"{value:.15g}".split("e")[0].replace(".", "").replace("-", "").strip("0")) or 1


def _warm_up(fit: Fit, runs: Sequence[Observation]) -> str:
    repetition = np.array([run.replicate for run in runs], dtype=float)
    if fit.is_exact or len(runs) < 8:
        return ""
    if np.ptp(repetition) > 0 and np.ptp(fit.residuals) > 0:
        r, p = (float(value) for value in pearsonr(repetition, fit.residuals))
        if p < 0.01 and abs(r) > 0.2:
            return (
                f"results depend on the repetition number (r = {r:.2f} after accounting for all settings): "
                "this is warm-up or drift; discard the first runs or do more of them"
            )
    first = min(range(len(runs)), key=lambda i: runs[i].position)
    if not is_sorted_by_settings(runs) and abs(fit.standardized[first]) > 3:
        return f"the first run is {abs(fit.standardized[first]):.1f} standard deviations away from the model: warm-up?"
    return ""


def _outliers(fit: Fit, runs: Sequence[Observation]) -> str:
    """Residuals too large for the number of runs (Bonferroni on externally studentised residuals)."""
    if fit.is_exact or fit.residual_df < 3:
        return ""
    df = fit.residual_df - 1
    inner = np.clip((df + 1 - fit.standardized**2) / df, 1e-12, None)
    outer = np.abs(fit.standardized) / np.sqrt(inner)
    limit = float(t.isf(SIGNIFICANCE / 2 / len(runs), df))
    far = np.argsort(-outer)[: (outer > limit).sum()]
    if not len(far):
        return ""
    rows = [runs[i].position for i in far]
    return (
        f"{len(far)} outlier{'s' * (len(far) > 1)} beyond what noise can explain: row{'s' * (len(far) > 1)} "
        f"{_listed(rows)}; find out what happened before you drop any"
    )


def _optimum_at_edge(fit: Fit, response: Response, means: Sequence[LevelMean], choices: Sequence[str]) -> list[str]:
    """Settings, of those one can choose, whose best level is the last one tried, by more than the noise."""
    coding = fit.runs.coding
    sentences = []
    for name in choices:
        own = [mean for mean in means if mean.factor == name]
        if len(own) < len(coding.levels[name]):  # ranges of a continuous setting have no edge
            continue
        best, side = (max, "higher") if response.better == "more" else (min, "lower")
        place = own.index(best(own, key=lambda mean: mean.mean))
        if place not in (0, len(own) - 1):
            continue
        neighbor = own[1] if place == 0 else own[-2]
        here = own[place]
        if here.low <= neighbor.mean <= here.high:
            continue
        sentences.append(
            f"the best {name} for {response.name} ({here.level}) is at the edge of the tested range: {side} "
            "values may be beyond it"
        )
    return sentences


def _listed(rows: Sequence[int]) -> str:
    return ", ".join(map(str, rows[:8])) + (f" and {len(rows) - 8} more" if len(rows) > 8 else "")
