"""Section 3: which factors decide the response time."""

import re
from collections.abc import Mapping
from pathlib import Path

from sparkcast.analysis import Analysis, AssumptionCheck
from sparkcast.api import Data, analyze
from sparkcast.replications import CorrectedFigure, Mistake, NeedsMeasurements, PaperPart, PartResult, Section, compare
from sparkcast.study import Dataset
from sparkcast_papers.courier2021 import PARTS, _printed
from sparkcast_papers.courier2021._implied import implied_df
from sparkcast_papers.courier2021._runs import (
    CELLS,
    REPLICATE_1,
    flagged_rows,
    from_cells,
    on_two_clusters,
    replicate_1,
    undo_recovery,
    without_rows,
)

_OTHERS = "computed independently from the same data"
_FORMULA, _CELL_FORMULA = "cpu*batch*njobs*network", "cpu*batch*njobs"


@PARTS.register("anova")
class Anova(PaperPart):
    """F tests of Table 3 from what could be recovered, and mistakes 5, 6, 7, 9 and 10."""

    def run(self, data: Path | None) -> PartResult:
        if data is None:
            raise NeedsMeasurements(
                "the paper prints no measurements, so its ANOVA needs those recovered from the authors' notebooks",
                hint=f"`data=DIR` with {REPLICATE_1} and {CELLS}; `part='mistakes'` also works without",
            )
        runs, flagged, rebuilt = replicate_1(data), flagged_rows(data), from_cells(data)
        first, cells = _paper_model(runs, _FORMULA), _paper_model(rebuilt, _CELL_FORMULA)
        repaired = _paper_model(undo_recovery(runs), _FORMULA)
        sections = (
            _f_tests("Replicate 1, 96 runs, type II", _OTHERS, first, _printed.REPLICATE_1),
            _f_tests(
                "288 runs reconstructed from the means and standard deviations of the cells",
                _OTHERS,
                cells,
                _printed.ALL_CELLS,
            ),
            _table_3(cells),
            _stale_rows(first, repaired, flagged),
        )
        mistakes = (
            _stale(without_rows(runs, flagged), first, flagged),
            _confounded(runs, first),
            _contradiction(),
            _wrong_scale(runs, flagged, first),
            _wrong_count(),
        )
        return PartResult(sections, mistakes)


def _paper_model(runs: Dataset, formula: str) -> Analysis:
    return analyze(Data(runs), "time_s", formula=formula, anova_type=2, transform="none")


def _f(analysis: Analysis) -> dict[str, float]:
    return {row.term: row.f for row in analysis.rows if row.f is not None}


def _f_tests(title: str, source: str, analysis: Analysis, printed: Mapping[str, str]) -> Section:
    found = _f(analysis)
    rows = tuple(compare(term, "F", printed[term], found[term]) for term in _printed.TERMS)
    return Section(title, source, rows, is_printed=source != _OTHERS)


def _table_3(cells: Analysis) -> Section:
    found = _f(cells)
    rows = tuple(compare(term, "F", _printed.TABLE_3[term][0], found[term]) for term in _printed.TERMS)
    off = ", ".join(f"{row.item} {100 * found[row.item] / float(row.printed) - 100:+.0f} %" for row in rows)
    notes = (
        f"these cannot agree ({off}): single runs of replicates 2 and 3 are not public, the cells do not "
        "distinguish networks, and Table 3 covers 240 runs, not 288 (mistake 10), so one would expect about "
        "five sixths: " + ", ".join(f"{term} {found[term] * 5 / 6:.1f}" for term in _printed.TERMS),
    )
    return Section("Table 3 compared with the 288 reconstructed runs", "Table 3", rows, notes)


def _stale_rows(first: Analysis, repaired: Analysis, flagged: tuple[int, ...]) -> Section:
    """Whether analyze finds by itself the rows that are known to repeat the one before."""
    as_given, as_measured = _named_stale(first), _named_stale(repaired)
    known = str(len(flagged))
    rows = (
        compare("stale rows", "flagged by analyze, file as it is", known, len(set(as_given) & set(flagged))),
        compare(
            "stale rows", "flagged, with the recovery's rounding undone", known, len(set(as_measured) & set(flagged))
        ),
        compare("other rows", "flagged by mistake", "0", len({*as_given, *as_measured} - set(flagged))),
    )
    missed = [str(row) for row in flagged if row not in as_given]
    notes = (
        f"flagged: rows {_listed(flagged)}; named: rows {_listed(as_given)}",
        f"not named: {', '.join(missed)}; such times were recovered as 2 · mean - other run and differ from the "
        "previous row by 0.0001 s, the error of that recovery, where the authors' own numbers are equal",
    )
    return Section(
        "Times copied from the previous run", "flags in the file", rows, notes[: 1 + bool(missed)], is_printed=False
    )


def _named_stale(analysis: Analysis) -> tuple[int, ...]:
    """The rows that a warning calls stale: warnings are sentences, so the numbers are read from it."""
    told = [warning for warning in analysis.warnings if "stale" in warning]
    return tuple(int(number) for warning in told for number in re.findall(r"(?<![\w.])\d+(?![\w.])", warning))


def _listed(rows: tuple[int, ...]) -> str:
    return ", ".join(map(str, rows)) or "none"


def _stale(kept: Dataset, first: Analysis, flagged: tuple[int, ...]) -> Mistake:
    before, after = _f(first), _f(_paper_model(kept, _FORMULA))
    return Mistake(
        5,
        "The times are those in the logs.",
        "All jobs of a configuration wrote to one log, and a log with too few lines inherited the time of the "
        "previous log: "
        f"{len(flagged)} of {first.n} rows of replicate 1 (rows {_listed(flagged)}). analyze warns about such "
        "rows on its own.",
        tuple(
            CorrectedFigure(f"F of {term} in replicate 1, with and without them", before[term], after[term])
            for term in _printed.TERMS
        ),
    )


def _confounded(runs: Dataset, first: Analysis) -> Mistake:
    told = sorted(set(_paper_model(on_two_clusters(runs), _FORMULA).warnings) - set(first.warnings))
    naming = [warning for warning in told if "network" in warning]
    words = f"analyze says: {naming[0]}." if naming else "analyze does not mention it, which is a bug."
    return Mistake(
        6,
        "The networks differ significantly in response time (F = 5.108).",
        "lenet5 and simplenet ran on different clusters, so their difference may come from the machines. "
        "Recording the cluster with each run would have shown it; with such a record added here for each "
        f"network, {words}",
        (
            CorrectedFigure("F of network", float(_printed.TABLE_3["network"][0]), None),
            CorrectedFigure("warnings about network added by the cluster records", None, len(naming)),
        ),
    )


def _contradiction() -> Mistake:
    return Mistake(
        7,
        "Table 2: in the 2^4 design batch and network are significant.",
        "Table 2 and the full table it is taken from (Table 12) print different P > F for the same terms, and an F "
        f"cannot be negative. F and P of Table 2 are consistent only with {_shown(implied_df(_printed.TABLE_2))} "
        "residual degrees of freedom, a model of 3 factors; four factors with their interactions leave 32 of 48 runs. "
        "In Table 13, interval limits were pasted from other cells.",
        (
            *(
                figure
                for term, (_, p) in _printed.TABLE_2.items()
                for figure in (
                    CorrectedFigure(f"P > F of {term}, Table 2", float(p), None),
                    CorrectedFigure(f"P > F of {term}, Table 12", float(_printed.TABLE_12[term]), None),
                )
            ),
            CorrectedFigure("F of njobs, Table 2", _printed.TABLE_2_NEGATIVE_F, None),
            *(
                CorrectedFigure(f"{limit}, Table 13 and Table 3", *pair)
                for limit, pair in _printed.TABLE_13_PASTED.items()
            ),
        ),
    )


def _wrong_scale(runs: Dataset, flagged: tuple[int, ...], first: Analysis) -> Mistake:
    clean = analyze(Data(without_rows(runs, flagged)), "time_s", transform="log")
    proposal = analyze(Data(runs), "time_s").proposal
    assert proposal is not None
    return Mistake(
        9,
        "Response time is linear in cpu, batch and njobs, with normal errors.",
        f"With the paper's model: {_check(first, 'normality').sentence} {_check(first, 'equal variance').sentence} "
        f"{proposal.sentence} On that scale, with a square for each number and without the stale rows: "
        f"{_check(clean, 'normality').sentence} {_check(clean, 'equal variance').sentence}",
        (
            CorrectedFigure(
                "R² of the paper's model on replicate 1, and of this one", first.r_squared, clean.r_squared
            ),
            *(
                CorrectedFigure(
                    f"{what}, the paper's model and this one", *(_check(a, name).statistic for a in (first, clean))
                )
                for what, name in (
                    ("W of the residuals", "normality"),
                    ("Breusch-Pagan F of spread along the prediction", "equal variance"),
                )
            ),
            CorrectedFigure(
                "F of cpu:njobs, the paper's model and this one", _f(first)["cpu:njobs"], _f(clean)["cpu:njobs"]
            ),
        ),
    )


def _wrong_count() -> Mistake:
    found = implied_df(_printed.TABLE_3)
    runs = [df + 16 for df in found]
    return Mistake(
        10,
        "Table 3 covers 288 runs.",
        f"F and P > F of its five rows are consistent only with {_shown(found)} residual degrees of freedom: with the "
        f"16 parameters of the model that is {_shown(runs)} runs. 288 runs would leave 272.",
        (CorrectedFigure("runs in Table 3", 288, runs[0] if len(runs) == 1 else None),),
    )


def _shown(numbers: list[int]) -> str:
    return " or ".join(map(str, numbers)) or "no number of"


def _check(analysis: Analysis, name: str) -> AssumptionCheck:
    return next(check for check in analysis.checks if check.name == name)
