"""An analysis in sentences that cannot be misread."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sparkcast.analysis import AnovaRow, AssumptionCheck, CheckResult, Effect, FactorVerdict, LevelMean
from sparkcast.analysis.blocks import IN_A_ROW, SharedBlocks
from sparkcast.analysis.noise import Noise, UnequalNoise, block_noises
from sparkcast.study import Kind, Vocabulary
from sparkcast.study.estimable import MIN_RESIDUAL_DF
from sparkcast.study.setting import SYSTEM
from sparkcast.units import show_percent

SIGNIFICANCE = 0.05

_VIOLATED = {
    "normality": "residuals are not normal",
    "equal variance": "variances differ",
    "independence": "consecutive runs are correlated",
    "collinearity": "settings are correlated",
    "influence": "single runs are influential",
    "lack of fit": "the model has lack of fit",
}


@dataclass(frozen=True, slots=True)
class AnalysisResults:
    """What there is to put into words."""

    response: str
    is_log: bool
    n: int
    r_squared: float
    anova_type: int
    rows: Sequence[AnovaRow]  # term by term
    joint: Sequence[AnovaRow]  # one for each factor and each interaction
    system_percent: float  # what all settings of the cluster explain beyond the others
    effects: Sequence[Effect]
    means: Sequence[LevelMean]
    words: Vocabulary
    noises: Sequence[Noise] = ()  # what was tested against, where that is not equal and independent noise

    @property
    def why_untested(self) -> str:
        """Why a term has no test."""
        unknown = [noise for noise in block_noises(self.noises) if not noise.is_known]
        if not unknown:
            return "the model fits every run exactly, so nothing can be tested"
        return f"{shared(unknown[0].blocks)}, so the noise between configurations is unknown"

    def why_unsettled(self, row: AnovaRow) -> str:
        """Why a term that does not stand out may still act; "" where it would have stood out."""
        if row.df_blocks is None or row.df_blocks >= MIN_RESIDUAL_DF:
            return ""
        few = min(block_noises(self.noises), key=lambda noise: noise.df_between).blocks
        return f"{shared(few)}, and {few.count} blocks are too few to tell its effect from drift"

    def is_system(self, factor: str) -> bool:
        """Whether it is a setting of the cluster rather than of the learning."""
        return self.words.role(factor) in SYSTEM

    def shown(self, value: float) -> str:
        return self.words.response(self.response).shown(value)

    @property
    def by_share(self) -> list[AnovaRow]:
        """Factors and interactions, the largest share first."""
        return sorted(self.joint, key=lambda row: row.percent, reverse=True)


def factor_verdicts(found: AnalysisResults, factors: Sequence[str]) -> tuple[FactorVerdict, ...]:
    """For each factor: does it matter?"""
    corrected = holm({row.term: row.p for row in found.joint if row.p is not None})
    return tuple(_verdict(found, factor, corrected) for factor in factors)


def holm(p: dict[str, float]) -> dict[str, float]:
    """p values that allow for having looked at all of them (Holm 1979).

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    corrected, largest = {}, 0.0
    for i, (term, value) in enumerate(sorted(p.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, (len(p) - i) * value))
        corrected[term] = largest
    return corrected


def _verdict(found: AnalysisResults, factor: str, corrected: dict[str, float]) -> FactorVerdict:
    own = next((row for row in found.joint if row.term == factor), None)
    if own is None or own.p is None:
        why = found.why_untested if own else "it was not in the model"
        return FactorVerdict(factor, None, own.percent if own else 0.0, None, f"{factor}: not tested, {why}.")
    p = corrected[factor]
    mine = [row for row in found.by_share if factor in factors_of(row.term)]
    partners = [row for row in mine if row is not own and corrected[row.term] < SIGNIFICANCE]
    through = f"its effect depends on the other setting in {', '.join(row.term for row in partners[:3])}"
    if p < SIGNIFICANCE:
        share = f"{show_percent(own.percent / 100)} of the variation on its own"
        label = f"type {found.anova_type}; {show_p(p)}, Holm-corrected"
        more = f"; {through}" if partners else ""
        sentence = f"{factor} matters: {share} ({label}); {_direction(found, factor)}{more}."
    elif partners:
        share = show_percent(partners[0].percent / 100)
        label = f"{share} of the variation, {show_p(corrected[partners[0].term])} corrected"
        sentence = f"{factor} matters, but hardly on its own; {through} ({label})."
    elif why := found.why_unsettled(own):
        sentence = f"{factor}: not settled, {why}."
        return FactorVerdict(factor, None, own.percent, p, sentence)
    else:
        sentence = _no_effect(found, factor)
    return FactorVerdict(factor, p < SIGNIFICANCE or bool(partners), own.percent, p, sentence)


def factors_of(term: str) -> set[str]:
    """The settings in a term: `lr:batch_size` has two, `executors^2` and `log(executors)` one."""
    shaped = (re.fullmatch(r"(?:log|sqrt)\((.+)\)|1/(.+)|(.+)\^2", part) or part for part in term.split(":"))
    return {part if isinstance(part, str) else next(filter(None, part.groups())) for part in shaped}


def _no_effect(found: AnalysisResults, factor: str) -> str:
    effect = next((e for e in found.effects if e.term == factor and e.low is not None and e.high is not None), None)
    sentence = f"{factor} shows no effect distinguishable from noise in these {found.n} runs"
    if effect is None or effect.low is None or effect.high is None:
        return f"{sentence}."
    levels = [mean.level for mean in found.means if mean.factor == factor]
    change = f"{sentence}: from {levels[0]} to {levels[-1]} {found.response} changes by"
    if found.is_log:
        low, high = (show_percent(math.expm1(end), sign=True) for end in (effect.low, effect.high))
        return f"{change} {low} to {high}."
    if found.words.response(found.response).kind is Kind.MONEY:
        return f"{change} {found.shown(effect.low)} to {found.shown(effect.high)}."
    return f"{change} {effect.low:+.3g} to {effect.high:+.3g}."


def shared(blocks: SharedBlocks) -> str:
    """What the runs of a block share, in words."""
    if blocks.name == IN_A_ROW:
        return "the replicates of a configuration ran one after the other"
    return f"runs of the same {blocks.name} may resemble each other"


def _direction(found: AnalysisResults, factor: str) -> str:
    """Where the response is lowest and highest, in the words of the levels themselves."""
    own = [mean for mean in found.means if mean.factor == factor]
    low, high = min(own, key=lambda m: m.mean), max(own, key=lambda m: m.mean)
    ratio = f", {high.mean / low.mean:.2g} times as much" if low.mean > 0 and high.mean / low.mean >= 1.1 else ""
    lowest, highest = found.shown(low.mean), found.shown(high.mean)
    sentence = f"{found.response} is {lowest} at {low.level} and {highest} at {high.level}{ratio}"
    if low.raw is None and high.raw is None:
        return sentence
    plain = [found.shown(mean.mean if mean.raw is None else mean.raw) for mean in (low, high)]
    return f"{sentence}, all other settings equal (raw means of the runs: {plain[0]} and {plain[1]})"


def summarize(
    found: AnalysisResults, verdicts: Sequence[FactorVerdict], checks: Sequence[AssumptionCheck]
) -> tuple[str, ...]:
    """Five lines: what decides, how, what the cluster's settings do, what does nothing, and how sure it is."""
    lines = [
        _leading(found),
        _strongest(found, verdicts),
        _system(found, verdicts),
        _idle(found, verdicts),
        _trust(found, checks),
    ]
    return tuple(lines)


def _leading(found: AnalysisResults) -> str:
    corrected = holm({row.term: row.p for row in found.joint if row.p is not None})
    # Without any test (an exact fit) every share above rounding error is an effect.
    untested = 0.0 if not corrected else 1.0
    shown = [row for row in found.by_share if corrected.get(row.term, untested) < SIGNIFICANCE and row.percent > 1e-6]
    if not shown and any(found.why_unsettled(row) for row in found.joint):
        share = show_percent(found.by_share[0].percent / 100)
        return f"{found.by_share[0].term} has the largest share of the variation of {found.response} ({share})."
    if not shown:
        return f"No setting shows an effect on {found.response} distinguishable from noise in these {found.n} runs."
    parts = [f"{row.term} ({show_percent(row.percent / 100)})" for row in shown[:4]]
    listed = parts[0] if len(parts) == 1 else f"{', then '.join([parts[0], ', '.join(parts[1:])])}"
    shares = f"shares of its variation over {found.n} runs (type {found.anova_type})"
    return f"{found.response} depends most on {listed}: {shares}."


def _strongest(found: AnalysisResults, verdicts: Sequence[FactorVerdict]) -> str:
    alone = [row.term for row in found.by_share if row.term in {v.factor for v in verdicts if v.matters is not False}]
    if not alone:
        return "No single setting changes it beyond the noise."
    return f"For {alone[0]} alone: on average {_direction(found, alone[0])}."


def _system(found: AnalysisResults, verdicts: Sequence[FactorVerdict]) -> str:
    own = {v.factor: v for v in verdicts if found.is_system(v.factor) and v.matters is not None}
    if not own and (open_ := [v.factor for v in verdicts if found.is_system(v.factor)]):
        return f"Cluster settings are not settled: {', '.join(open_)}."
    if not own:
        return "No cluster setting was tested."
    acting = [name for name, verdict in own.items() if verdict.matters]
    if not acting:
        return f"Cluster settings show no effect distinguishable from noise: {', '.join(own)}."
    idle = [name for name in own if name not in acting]
    but = f"; {', '.join(idle)} shows none" if idle else ""
    share = f"{show_percent(found.system_percent / 100)} of the variation with interactions"
    return f"Cluster settings matter: {', '.join(acting)}, {share}{but}."


def _idle(found: AnalysisResults, verdicts: Sequence[FactorVerdict]) -> str:
    idle = [v.factor for v in verdicts if v.matters is False and not found.is_system(v.factor)]
    open_ = [v for v in verdicts if v.matters is None]
    # All are open for the same reason, which the sentence of the first one tells.
    more = (
        f"Not settled for {', '.join(v.factor for v in open_)}: {open_[0].sentence.partition(', ')[2]}" if open_ else ""
    )
    if idle:
        return " ".join(filter(None, [f"No effect is distinguishable from noise for {', '.join(idle)}.", more]))
    return more or _all_act(found, verdicts)


def _all_act(found: AnalysisResults, verdicts: Sequence[FactorVerdict]) -> str:
    others = [v.factor for v in verdicts if not found.is_system(v.factor)]
    return f"Every other setting shows an effect: {', '.join(others)}." if others else "No other setting was varied."


def _robust_words(found: AnalysisResults) -> str:
    """What other tests say, or what the verdicts allow for already."""
    if any(isinstance(noise, UnequalNoise) for noise in found.noises):
        return "the verdicts allow for unequal variances (HC3)"
    if block_noises(found.noises):
        return "the verdicts allow for differences between blocks"
    swayed = [
        r.term
        for r in found.rows
        for other in (r.p_permutation if r.p_permutation is not None else r.p_robust,)
        if other is not None and r.p is not None and (r.p < SIGNIFICANCE) != (other < SIGNIFICANCE)
    ]
    return f"be careful with {', '.join(swayed[:4])}: robust tests disagree" if swayed else "robust tests agree"


def _trust(found: AnalysisResults, checks: Sequence[AssumptionCheck]) -> str:
    explained = f"The model explains {show_percent(found.r_squared)} of the variation"
    bad, doubtful = (
        [_VIOLATED[check.name] for check in checks if check.verdict is verdict]
        for verdict in (CheckResult.VIOLATED, CheckResult.DOUBTFUL)
    )
    if not bad and not doubtful:
        untested = [check.name for check in checks if check.verdict is CheckResult.UNKNOWN]
        rest = f"; not tested: {', '.join(untested)}" if untested else ""
        return f"{explained}; the checks found no serious problem with these conclusions{rest}."
    against = [f"but {', '.join(bad)}"] if bad else []
    against += [f"possible problem: {', '.join(doubtful)}"] if doubtful else []
    robust = _robust_words(found)
    return "; ".join([explained, *against, robust]) + "."


def show_p(p: float, equals: str = "p = ") -> str:
    """A p value for people.

    >>> show_p(0.00002), show_p(0.0312)
    ('p < 0.001', 'p = 0.031')
    """
    return "p < 0.001" if p < 0.001 else f"{equals}{p:.2g}"
