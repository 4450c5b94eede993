"""Analysis of variance: how much of a response's variation each setting explains."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sparkcast.analyse import Analysis, AnovaRow, LevelMean
from sparkcast.analyse.caveats import caveats
from sparkcast.analyse.formula import Formula, default_formula, read_formula, term_label
from sparkcast.analyse.runs import usable_runs
from sparkcast.analyse.sentences import summarise
from sparkcast.errors import NotEnoughDataError, StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Dataset, Level, Observation
from sparkcast.units import as_number

TRANSFORMS = ("none", "log", "boxcox")
# With fewer residual degrees of freedom an F test hardly ever finds anything, so the default formula keeps these.
_MIN_RESIDUAL_DF = 3


@dataclass(frozen=True, slots=True)
class _Table:
    """The runs as numbers: a pandas frame with `levels_i` and `number_i` for factor i, and the response beside it."""

    factors: tuple[str, ...]
    levels: dict[str, tuple[Level, ...]]
    frame: Any
    response: Any

    @property
    def varied(self) -> tuple[str, ...]:
        return tuple(name for name in self.factors if len(self.levels[name]) > 1)

    def design(self, formula: Formula) -> Any:
        """The model matrix. Sum coding makes type III ask about main effects at the average of the others."""
        import numpy as np
        from patsy import PatsyError, dmatrix  # type: ignore[import-untyped]

        try:
            return np.asarray(dmatrix(formula.internal, self.frame))
        except PatsyError as error:
            raise StudyError(
                f"formula {formula.text!r} cannot be read", hint="write it like: executors * C(batch_size)"
            ) from error


def analyze(
    data: Dataset,
    response: str = "time_s",
    *,
    formula: str | None = None,
    anova_type: int = 2,
    transform: str = "none",
) -> Analysis:
    """The ANOVA table of one response, with level means, caveats and a summary in plain sentences.

    Without a formula: all main effects, and all two-factor interactions that the runs can estimate; factors are
    taken as levels, which assumes no shape of their effect. `percent` is the share of the total variation about the
    mean (of the transformed response); in unbalanced data the shares of types 2 and 3 need not add up to 100.
    """
    _check_options(anova_type, transform)
    if not data.factors:
        raise StudyError(f"{data.name} names no factors", hint="say which settings were varied")
    runs = usable_runs(data, response)
    table = _tabulate(data.factors, runs, response)
    notes: list[str] = []
    if formula is None:
        chosen = _estimable_formula(table, notes)
    else:
        is_number = {name: all(as_number(v) is not None for v in levels) for name, levels in table.levels.items()}
        chosen = read_formula(formula, response, data.factors, is_number)
        _check_estimable(table, chosen)
    scale = _transformation(table, chosen, response, transform)
    fitted, rows = _fit(table, chosen, scale, anova_type)
    means = _level_means(table, scale, math.sqrt(fitted.mse_resid), fitted.df_resid)
    exact = all(row.f is None for row in rows)
    caveat = caveats(data, runs, response, anova_type=anova_type, transform=transform, is_exact=exact)
    return Analysis(
        response=response,
        formula=f"{scale.label} ~ {chosen.text}",
        anova_type=anova_type,
        transform=transform,
        n=len(runs),
        r_squared=float(fitted.rsquared),
        rows=rows,
        means=means,
        warnings=(*notes, *caveat),
        summary=summarise(response, rows, means, float(fitted.rsquared), len(runs)),
    )


def _check_options(anova_type: int, transform: str) -> None:
    if anova_type not in (1, 2, 3):
        raise StudyError(f"there is no ANOVA of type {anova_type!r}", hint="types are 1, 2 and 3; 2 is the default")
    if transform not in TRANSFORMS:
        raise StudyError(f"there is no transform {transform!r}", hint=did_you_mean(transform, TRANSFORMS))


def _tabulate(factors: Sequence[str], runs: Sequence[Observation], response: str) -> _Table:
    import numpy as np
    import pandas as pd

    levels = {name: _levels([o.configuration[name] for o in runs]) for name in factors}
    columns: dict[str, Any] = {}
    for i, name in enumerate(factors):
        codes = {level: code for code, level in enumerate(levels[name])}
        columns[f"levels_{i}"] = [codes[o.configuration[name]] for o in runs]
        numbers = np.array([as_number(o.configuration[name]) or 0.0 for o in runs])
        columns[f"number_{i}"] = numbers - numbers.mean()  # centred: interactions then leave main effects alone
    values = np.array([o.responses[response] for o in runs])
    if len(values) > 1 and np.ptp(values) == 0:
        raise StudyError(
            f"{response} is {values[0]:g} in all {len(values)} runs: there is no variation to explain",
            hint="choose another response, or vary a setting that changes it",
        )
    return _Table(tuple(factors), levels, pd.DataFrame(columns), values)


def _levels(values: Sequence[Level]) -> tuple[Level, ...]:
    """The different values in their natural order: numbers and sizes by size, then categories as they came."""
    seen = dict.fromkeys(values)
    numbers = {value: as_number(value) for value in seen}
    ordered = sorted((v for v in seen if numbers[v] is not None), key=lambda v: numbers[v] or 0.0)
    return (*ordered, *(v for v in seen if numbers[v] is None))


def _estimable_formula(table: _Table, notes: list[str]) -> Formula:
    """Main effects and the two-factor interactions that the runs can tell apart; `notes` gets what was dropped."""
    names = table.varied
    constant = [name for name in table.factors if name not in names]
    notes += [f"{name} is {table.levels[name][0]} in every run, so its effect is unknown" for name in constant]
    if not names:
        raise NotEnoughDataError("no factor has two levels among the successful runs", hint="vary at least one setting")
    for i in range(1, len(names) + 1):
        _check_estimable(table, default_formula(table.factors, names[:i], ()))
    pairs, dropped = list(combinations(names, 2)), []
    for pair in list(pairs):
        if not _is_full_rank(table, default_formula(table.factors, names, (pair,))):
            pairs.remove(pair)
            dropped.append(pair)
    # The costliest interactions go first; the response plays no part in the choice, or the p values would lie.
    cost = {(a, b): (len(table.levels[a]) - 1) * (len(table.levels[b]) - 1) for a, b in pairs}
    for pair in sorted(pairs, key=lambda pair: cost[pair], reverse=True):
        model = default_formula(table.factors, names, pairs)
        if _residual_df(table, model) >= _MIN_RESIDUAL_DF and _is_full_rank(table, model):
            break
        pairs.remove(pair)
        dropped.append(pair)
    if dropped:
        shown = ", ".join(f"{a}:{b}" for a, b in dropped)
        notes.append(f"too few runs to estimate {shown}: left out, so it counts as residual; replicates would help")
    return default_formula(table.factors, names, pairs)


def _check_estimable(table: _Table, formula: Formula) -> None:
    for name in formula.names:
        if name not in table.varied:
            raise NotEnoughDataError(
                f"{name} is {table.levels[name][0]} in every run, so its effect is unknown",
                hint=f"run other levels of {name}, or leave it out of the formula",
            )
    if table.design(formula).shape[1] < 2:
        raise StudyError(f"formula {formula.text!r} leaves no term", hint="name at least one factor")
    rank_is_full, residual_df = _is_full_rank(table, formula), _residual_df(table, formula)
    if not rank_is_full and residual_df > 0:
        raise NotEnoughDataError(
            f"the runs cannot tell the terms of {formula.text!r} apart: some settings always change together, "
            "or combinations are missing",
            hint="run the missing combinations, or name fewer terms in the formula",
        )
    if residual_df < 1:
        n = len(table.response)
        raise NotEnoughDataError(
            f"{n} runs are too few for {formula.text!r}: nothing is left to judge the noise by",
            hint="run every configuration at least twice (replicates: 2), or name fewer terms in the formula",
        )


def _is_full_rank(table: _Table, formula: Formula) -> bool:
    import numpy as np

    design = table.design(formula)
    return bool(np.linalg.matrix_rank(design) == design.shape[1])


def _residual_df(table: _Table, formula: Formula) -> int:
    rows, columns = table.design(formula).shape
    return int(rows) - int(columns)


@dataclass(frozen=True, slots=True)
class _Scale:
    """The scale the model is fitted on; a power of 0 is the logarithm, as in Box and Cox (1964)."""

    label: str
    power: float = 1.0

    def forward(self, values: Any) -> Any:
        import numpy as np

        return np.log(values) if self.power == 0 else values if self.power == 1 else values**self.power

    def back(self, value: float) -> float:
        if self.power in (0.0, 1.0):
            return math.exp(value) if self.power == 0 else value
        # Below zero no response has this power: the interval reaches the end of the scale.
        return max(value, 0.0) ** (1 / self.power) if value > 0 or self.power > 0 else math.inf


def _transformation(table: _Table, formula: Formula, response: str, transform: str) -> _Scale:
    if transform == "none":
        return _Scale(response)
    if table.response.min() <= 0:
        raise StudyError(
            f"transform {transform!r} needs positive values, {response} goes down to {table.response.min():g}",
            hint="use transform none",
        )
    if transform == "log":
        return _Scale(f"log({response})", 0.0)
    power = _boxcox_power(table.design(formula), table.response)
    return _Scale(f"boxcox({response}, {power:.2f})", power)


def _boxcox_power(design: Any, values: Any) -> float:
    """The power that makes the residuals of the model (not the raw response) most nearly normal."""
    import numpy as np
    from scipy.optimize import minimize_scalar
    from scipy.special import boxcox

    scaled = values / np.exp(np.log(values).mean())  # with geometric mean 1 the Jacobian of Box and Cox vanishes

    def badness(power: float) -> float:
        response = boxcox(scaled, power)
        residuals = response - design @ np.linalg.lstsq(design, response, rcond=None)[0]
        return float(np.log((residuals**2).sum() + 1e-300))

    found = float(minimize_scalar(badness, bounds=(-2, 2), method="bounded").x)
    return round(found, 2)


def _fit(table: _Table, formula: Formula, scale: _Scale, anova_type: int) -> tuple[Any, tuple[AnovaRow, ...]]:
    import numpy as np
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    frame = table.frame.assign(response=scale.forward(table.response))
    fitted = ols(f"response ~ {formula.internal}", frame).fit()
    total = float(((frame.response - frame.response.mean()) ** 2).sum())
    is_exact = fitted.ssr <= 1e-12 * total
    with np.errstate(divide="ignore", invalid="ignore"):
        found = anova_lm(fitted, typ=anova_type)
    rows = []
    for term in (*(name for name in found.index if name not in ("Intercept", "Residual")), "Residual"):
        tested = term != "Residual" and not is_exact
        sum_sq = float(found.loc[term, "sum_sq"])
        rows.append(
            AnovaRow(
                term=term if term == "Residual" else term_label(term, table.factors),
                df=float(found.loc[term, "df"]),
                sum_sq=sum_sq,
                percent=100 * sum_sq / total,
                f=float(found.loc[term, "F"]) if tested else None,
                p=float(found.loc[term, "PR(>F)"]) if tested else None,
            )
        )
    return fitted, tuple(rows)


def _level_means(table: _Table, scale: _Scale, noise: float, residual_df: float) -> tuple[LevelMean, ...]:
    """Means of the runs at each level, with intervals from the model's residual: other factors' effects are no noise.

    They are taken on the scale of the model and turned back, so after a log they are geometric means.
    """
    from scipy.stats import t

    response = scale.forward(table.response)
    means = []
    for i, name in enumerate(table.factors):
        for code, level in enumerate(table.levels[name] if name in table.varied else ()):
            values = response[table.frame[f"levels_{i}"].to_numpy() == code]
            half = float(t.ppf(0.975, residual_df)) * noise / math.sqrt(len(values))
            mean = float(values.mean())
            low, high = sorted((scale.back(mean - half), scale.back(mean + half)))
            means.append(LevelMean(name, level, scale.back(mean), low, high, len(values)))
    return tuple(means)
