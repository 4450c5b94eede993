"""Analysis of variance: how much of a response's variation each setting explains, and whether to believe it."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparkcast.analysis import Analysis, CheckResult, Proposal, Regression
from sparkcast.analysis.assumptions import check_assumptions, grows_with_mean
from sparkcast.analysis.blocks import SharedBlocks, find_blocks
from sparkcast.analysis.caveats import data_caveats, fit_caveats
from sparkcast.analysis.effects import cell_means, effects, level_means, regressions, residual_points, tukey
from sparkcast.analysis.estimable import CodedRuns, default_model, fewer_terms, written_model
from sparkcast.analysis.fit import DesignMatrix, Fit, anova_rows, joint_rows, share_of, with_noise
from sparkcast.analysis.noise import block_noises, noises_of, unequal_noise
from sparkcast.analysis.runs import usable_runs
from sparkcast.analysis.scale import TRANSFORMS, PowerScale, make_scale, propose, proposed_scale
from sparkcast.analysis.sentences import AnalysisResults, factor_verdicts, summarize
from sparkcast.arrays import Array, Floats, Ints
from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study import Dataset, Observation, Vocabulary
from sparkcast.study.setting import SIZES, SYSTEM


def analyze(
    data: Dataset,
    response: str | None = None,
    *,
    formula: str | None = None,
    anova_type: int = 2,
    transform: str = "auto",
) -> Analysis:
    """The ANOVA table of one response, with effects, checked assumptions, warnings and a summary in plain sentences.

    Without a response it is of the time. Without a formula: main effects, the bends of numbers, and the two-factor
    interactions that the runs can estimate.
    With transform `auto` the response is first analyzed as it is. Where Box-Cox proposes another scale, and rules out
    the response's own (or its variance grows with its mean), it is analyzed again there, and the first analysis is
    kept as `untransformed`. `percent` is the share of the total variation about the mean; in unbalanced data the
    shares of types 2 and 3 need not add up.
    """
    from threadpoolctl import threadpool_limits

    _check_options(anova_type, transform)
    # The matrices are small. On a busy machine the threads of BLAS wait for each other, and seconds become a minute.
    with threadpool_limits(1, user_api="blas"):
        name = response or data.vocabulary.required_time()
        return _analyze(data, name, formula, anova_type, transform)


def _analyze(data: Dataset, response: str, formula: str | None, anova_type: int, transform: str) -> Analysis:
    question = _ask(data, response, formula, anova_type)
    fit = question.fit(PowerScale(response))
    rows, columns = question.noise_model.matrix.shape
    df = rows - columns
    proposal = propose(response, question.values, question.spread, df) if not fit.is_exact else None
    if transform != "auto":
        scale = make_scale(transform, response, question.observations, question.spread, df)
        return _answer(question, question.fit(scale), transform, proposal)
    if proposal is None or not _is_worth_it(proposal, fit, question):
        return _answer(question, fit, "none", proposal)
    refit = _answer(question, question.fit(proposed_scale(response, proposal)), proposal.transform, proposal)
    return dataclasses.replace(refit, untransformed=_answer(question, fit, "none", proposal, is_done=True))


def _is_worth_it(proposal: Proposal, fit: Fit, question: "_Question") -> bool:
    """Whether to analyze again on the proposed scale."""
    if proposal.transform == "none":
        return False
    return proposal.rules_out_none or grows_with_mean(fit, question.settings)


def _check_options(anova_type: int, transform: str) -> None:
    if anova_type not in (1, 2, 3):
        raise StudyError(f"there is no type {anova_type!r} ANOVA", hint="types are 1, 2 and 3; 2 is the default")
    if transform not in TRANSFORMS:
        raise StudyError(f"there is no transform {transform!r}", hint=did_you_mean(transform, TRANSFORMS))


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of which runs, whatever the scale."""

    response: str
    observations: tuple[Observation, ...]
    values: Floats
    settings: Ints  # a number per run: equal for replicates
    blocks: tuple[SharedBlocks, ...]  # of runs that share something nobody set
    model: DesignMatrix
    noise_model: DesignMatrix  # what the noise is judged by
    anova_type: int
    regressions: tuple[Regression, ...]
    notes: tuple[str, ...]
    words: Vocabulary  # what the names mean

    def fit(self, scale: PowerScale) -> Fit:
        return Fit(self.model, scale, scale.forward(self.values))

    def spread(self, response: Floats) -> float:
        """The sum of squares that the model leaves of any response."""
        model = self.noise_model
        centered = response - response.mean()
        reduced = model.reduce(centered)
        total, explained = float((centered**2).sum()), float((reduced**2).sum())
        if total - explained > 1e-6 * total:
            return total - explained
        # Of two nearly equal numbers the difference is rounding error, and may fall below zero.
        return float(((centered - model.matrix @ (model.inverse @ reduced)) ** 2).sum())

    @property
    def order(self) -> list[int]:
        return [o.position for o in self.observations]


def _ask(data: Dataset, response: str, formula: str | None, anova_type: int) -> _Question:
    if not data.factors:
        raise StudyError(f"{data.name} has no factors", hint="say which settings were varied")
    observations = usable_runs(data, response)
    values = np.array([o.responses[response] for o in observations])
    if len(values) > 1 and np.ptp(values) == 0:
        raise StudyError(
            f"{response} is {values[0]:g} in all {len(values)} runs: there is no variation to explain",
            hint="choose another response, or vary a setting that affects it",
        )
    runs = CodedRuns.of(data.factors, observations)
    groups: Array = runs.codes.groupby(list(data.factors), sort=False).ngroup().to_numpy()
    blocks = find_blocks(observations, groups)
    notes: list[str] = []
    chosen = default_model(runs, notes) if formula is None else written_model(runs, formula, response)
    model = DesignMatrix(runs, chosen)
    notes += data_caveats(data, observations, response, model, anova_type)
    return _Question(
        response=response,
        observations=observations,
        values=values,
        settings=groups,
        blocks=blocks,
        model=model,
        noise_model=_noise_model(model, groups, blocks),
        anova_type=anova_type,
        regressions=regressions(data.factors, observations, response),
        notes=tuple(notes),
        words=data.vocabulary,
    )


def _noise_model(model: DesignMatrix, settings: Ints, blocks: Sequence[SharedBlocks]) -> DesignMatrix:
    """The model, or less of it where replicates share blocks and these are too few to show their own scatter.

    Then interactions count as noise: a difference between blocks looks just like them.
    """
    nested = [one.count for one in blocks if len(np.unique(np.stack([one.of, settings]), axis=1).T) == one.count]
    if not nested:
        return model
    return DesignMatrix(model.runs, fewer_terms(model.runs, model.formula, min(nested)))


def _answer(
    question: _Question, fit: Fit, transform: str, proposal: Proposal | None, *, is_done: bool = False
) -> Analysis:
    """`is_done`: what the proposal says was done already, so that nobody needs the advice."""
    response, order, words = question.response, question.order, question.words
    is_open = transform == "none" and proposal is not None and proposal.transform != "none" and not is_done
    other_scale = f"analyze it with `transform={proposal.transform!r}`" if proposal and is_open else ""
    checks = check_assumptions(fit, question.settings, order, other_scale)
    not_normal = any(
        c.name == "normality" and c.verdict in (CheckResult.VIOLATED, CheckResult.DOUBTFUL) for c in checks
    )
    is_unequal = any(c.name == "equal variance" and c.verdict is CheckResult.VIOLATED for c in checks)
    judge = Fit(question.noise_model, fit.scale, fit.response)
    noises = noises_of(judge, question.blocks) or unequal_noise(fit, is_unequal)
    rows = anova_rows(fit, question.anova_type, permute=not_normal)
    if block_noises(noises):
        rows = with_noise(fit, rows, question.anova_type, noises)
    found = AnalysisResults(
        response=response,
        is_log=fit.scale.is_log,
        n=len(question.values),
        r_squared=fit.r_squared,
        anova_type=question.anova_type,
        rows=rows,
        joint=joint_rows(fit, rows, question.anova_type, noises),
        system_percent=share_of(fit, [name for name in fit.model.formula.names if words.role(name) in SYSTEM]),
        effects=effects(fit, rows, question.anova_type, noises),
        means=level_means(fit, noises),
        noises=noises,
        words=words,
    )
    verdicts = factor_verdicts(found, question.model.formula.names)
    choices = [name for name in fit.runs.coding.bendable if words.role(name) not in SIZES]
    doubts = fit_caveats(fit, question.observations, words.response(response), found.means, noises, choices)
    return Analysis(
        response=response,
        formula=f"{fit.scale.label} ~ {question.model.formula.text}",
        anova_type=question.anova_type,
        transform=transform,
        n=found.n,
        r_squared=found.r_squared,
        rows=rows,
        means=tuple(found.means),
        warnings=(*question.notes, *doubts),
        summary=summarize(found, verdicts, checks),
        effects=tuple(found.effects),
        factors=verdicts,
        checks=checks,
        cells=cell_means(fit),
        comparisons=tukey(fit, noises),
        regressions=question.regressions,
        residuals=residual_points(fit, order),
        proposal=proposal,
        vocabulary=words,
    )
