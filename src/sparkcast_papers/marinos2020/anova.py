"""Section IV.A: the analysis of variance, its assumptions, and what they really say."""

from collections.abc import Mapping
from pathlib import Path

from sparkcast.analysis import RESIDUAL, Analysis
from sparkcast.api import Data, analyze
from sparkcast.replications import PaperPart, PartResult, Row, Section, compare, show
from sparkcast.study import Dataset
from sparkcast_papers.marinos2020 import PARTS, _mistakes, _printed
from sparkcast_papers.marinos2020._checks import check, columns_bartlett, vif
from sparkcast_papers.marinos2020._runs import DROPPED, FORMULA, authors_runs, table_runs

_OTHERS = "computed independently from Table II"
# Digits that 32-bit numbers keep over a sum of 300; p magnifies an error of W about eight times.
_W_DIGITS, _P_DIGITS = 6, 4


@PARTS.register("anova")
class Anova(PaperPart):
    """The ANOVA of Fig. 2, its assumptions (Tables III to V), and mistakes 1 to 5."""

    def run(self, data: Path | None) -> PartResult:
        whole, kept = table_runs(), table_runs(without=DROPPED)
        of_whole, of_kept = _paper_model(whole), _paper_model(kept)
        on_log = analyze(Data(whole), "cost")
        theirs = None if data is None else authors_runs(data)
        of_theirs = None if theirs is None else _paper_model(theirs)
        sections = [
            _rounded(of_kept) if theirs is None or of_theirs is None else _figure_2(theirs, of_theirs),
            _assumptions(theirs or kept, of_theirs),
            _table("Table II without rows 2 and 3", of_kept, _printed.WITHOUT_2_AND_3),
            _table("Table II, all 32 rows", of_whole, _printed.ALL_32),
            _log(on_log),
        ]
        mistakes = (
            _mistakes.normality(of_theirs or of_kept),
            _mistakes.variances(whole, kept),
            _mistakes.collinearity(kept, of_kept, of_whole),
            _mistakes.dropped_runs(kept, whole),
            _mistakes.missed_logarithm(of_whole, on_log),
        )
        return PartResult(tuple(sections), mistakes)


def _paper_model(runs: Dataset) -> Analysis:
    return analyze(Data(runs), "cost", formula=FORMULA, anova_type=1, transform="none")


def _figure_2(runs: Dataset, analysis: Analysis) -> Section:
    rows: list[Row] = []
    for found in analysis.rows:
        quantities = {
            "df": found.df,
            "sum_sq": found.sum_sq,
            "mean_sq": found.sum_sq / found.df,
            "F": found.f,
            "p": found.p,
            "%": found.percent,
        }
        printed = _printed.FIGURE_2[found.term].split()
        rows += [
            compare(found.term, name, text, ours)
            for (name, ours), text in zip(quantities.items(), printed, strict=True)
            if ours is not None
        ]
    rows.append(compare("model", "R² in %", _printed.R_SQUARED_PERCENT, 100 * analysis.r_squared))
    return Section("ANOVA type I, the authors' 300 runs", "Fig. 2", tuple(rows), _misprints(runs))


def _misprints(runs: Dataset) -> tuple[str, ...]:
    """Where the authors' costs, rounded, are not what Table II prints: by setting and replicate."""
    table = table_runs()
    row = {table.key(o): 1 + (o.position - 1) // 10 for o in table.observations}
    printed = {(table.key(o), o.replicate): o.responses["cost"] for o in table.observations}
    notes = []
    for run in runs.observations:
        cost, found = run.responses["cost"], printed.get((runs.key(run), run.replicate))
        if found is not None and found != round(cost, 3):
            place = f"Table II, row {row[runs.key(run)]}, replicate {run.replicate}"
            notes.append(f"{place} prints {found:g} where results.csv has {cost:.4f}: a misprint")
    return tuple(notes)


def _rounded(analysis: Analysis) -> Section:
    rows = [show(r.term, "sum_sq", r.sum_sq, _printed.FIGURE_2[r.term].split()[1]) for r in analysis.rows]
    rows.append(compare("model", "R² in %", _printed.R_SQUARED_PERCENT, 100 * analysis.r_squared))
    note = (
        "Table II prints costs with three decimals, often only one or two significant digits, so it cannot "
        "reproduce Fig. 2; the authors' own file does: `data=DIR` with results.csv"
    )
    return Section("Fig. 2 from the rounded costs of Table II", "Fig. 2", tuple(rows), (note,))


def _assumptions(runs: Dataset, analysis: Analysis | None) -> Section:
    """Tables IV and V follow from the settings alone; Table III needs the unrounded costs."""
    rows: list[Row] = []
    notes = [
        "Tables IV and V follow from the 30 configurations alone, so the paper's numbers can be reproduced "
        "without its data",
        "the VIF of the intercept is that of a column of ones without centering, as in statsmodels in 2020",
    ]
    if analysis is not None:
        shapiro = check(analysis, "normality")
        assert shapiro.statistic is not None
        assert shapiro.p is not None
        rows.append(compare("residuals", "Shapiro-Wilk W", _printed.SHAPIRO_W, shapiro.statistic, digits=_W_DIGITS))
        rows.append(compare("residuals", "p of W", _printed.SHAPIRO_P, shapiro.p, digits=_P_DIGITS))
        notes.append(
            "Table III was computed with 32-bit numbers (its W and p are such numbers exactly), ours with 64: beyond "
            "the 6 digits of W and 4 of p that are compared, the two differ"
        )
    statistic, p = columns_bartlett(runs)
    rows.append(compare("columns of levels", "Bartlett", _printed.BARTLETT, statistic))
    rows.append(compare("columns of levels", "p of Bartlett", _printed.BARTLETT_P, p))
    rows += [compare(term, "VIF, uncoded", _printed.VIF[term], found) for term, found in vif(runs).items()]
    return Section("Assumptions as the paper tested them", "Tables III to V", tuple(rows), tuple(notes))


def _table(title: str, analysis: Analysis, printed: Mapping[str, str]) -> Section:
    rows: list[Row] = []
    for found in analysis.rows:
        square, second, percent = printed[found.term].split()
        rows.append(compare(found.term, "sum_sq", square, found.sum_sq))
        if found.term == RESIDUAL:
            rows.append(compare(found.term, "df", second, found.df))
        else:
            assert found.f is not None
            rows.append(compare(found.term, "F", second, found.f))
        rows.append(compare(found.term, "%", percent, found.percent))
    rows.append(compare("model", "R²", printed["R²"], analysis.r_squared))
    return Section(f"ANOVA type I, {title}", _OTHERS, tuple(rows), is_printed=False)


def _log(analysis: Analysis) -> Section:
    normality = check(analysis, "normality")
    assert normality.statistic is not None
    assert normality.p is not None
    shares = {row.term: row.percent for row in analysis.rows}
    rows = [compare("model", "R²", _printed.LOG_R_SQUARED, analysis.r_squared)]
    rows += [compare(term, "%", printed, shares[term]) for term, printed in _printed.LOG_SHARES.items()]
    rows.append(compare("residuals", "Shapiro-Wilk W", _printed.LOG_W, normality.statistic))
    rows.append(compare("residuals", "p of W", _printed.LOG_P, normality.p))
    return Section(
        "What analyze does by default: log(cost), all pairs, all 32 rows", _OTHERS, tuple(rows), is_printed=False
    )
