"""How far predictions can be trusted: what was predicted for runs that the model had not seen."""

from sparkcast.report.figures._figure import Figure, Row, Section, Spec, figure, thin, thinned
from sparkcast.report.figures._style import BLUE, GREY, ORANGE, domain, finish, inline, numbers, the_rows, within_reach
from sparkcast.report.labels import axis_title, finite, plain_name, show_percent
from sparkcast.study import show_configuration
from sparkcast.validate import Scorecard, Validation

_MOST_RUNS = 1000


def predicted_vs_actual(validation: Validation) -> Figure | None:
    """The best model's predictions of runs it had not seen, against what happened; None when no model was tested."""
    if not validation.scorecards:
        return None
    best = validation.scorecards[0]
    rows = tested_rows(best)
    name = plain_name(validation.response)
    inside = sum(run.low <= run.actual <= run.high for run in best.runs)
    return figure(
        f"predicted-vs-actual-{validation.response}",
        Section.TRUST,
        f"Predicted against measured {name}",
        f"Each run was predicted by {best.model} without having seen its configuration "
        f"(protocol {validation.protocol}). On the dashed line the prediction is exact; bars are "
        f"{show_percent(validation.level)} intervals, and {inside} of {len(best.runs)} runs fell inside theirs."
        f"{thinned(len(rows), len(best.runs), 'runs')}",
        rows,
        lambda width: _draw_predicted_vs_actual(rows, validation.response, width),
        response=validation.response,
        heads={side: f"{side} {axis_title(validation.response)}" for side in ("measured", "predicted")},
    )


def tested_rows(card: Scorecard) -> tuple[Row, ...]:
    return tuple(
        {
            "configuration": show_configuration(run.configuration),
            "replicate": run.replicate,
            "measured": finite(run.actual),
            "predicted": finite(run.predicted),
            "low": finite(run.low),
            "high": finite(run.high),
            "inside": run.low <= run.actual <= run.high,
        }
        for run in thin(card.runs, _MOST_RUNS)
    )


def _draw_predicted_vs_actual(rows: tuple[Row, ...], response: str, width: int) -> Spec:
    import altair as alt

    kinds = ["inside its interval", "outside its interval"]
    told = [{**row, "kind": kinds[0] if row["inside"] else kinds[1]} for row in rows]
    # One range for both axes: the diagonal runs from corner to corner. Vast bars are cut off.
    known = numbers(row[side] for row in rows for side in ("measured", "predicted"))
    bounds = numbers(row[side] for row in rows for side in ("low", "high"))
    ends = domain(response, [*known, *within_reach(known, bounds)])
    scale = alt.Scale(domain=ends, nice=False)
    base = alt.Chart(the_rows()).encode(
        x=alt.X("measured:Q", title=f"measured {axis_title(response)}", scale=scale),
        color=alt.Color(
            "kind:N", title=None, sort=kinds, scale=alt.Scale(domain=kinds, range=[BLUE, ORANGE]), legend=alt.Legend()
        ),
    )
    y = alt.Y("predicted:Q", title=f"predicted {axis_title(response)}", scale=scale)
    bars = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(
        strokeWidth=1.5, opacity=0.55, clip=True
    )
    points = base.mark_point(filled=True, size=55, opacity=0.95, clip=True).encode(y=y)
    corner = alt.Chart(inline({"measured": end, "predicted": end} for end in ends))
    diagonal = corner.mark_line(color=GREY, strokeDash=[5, 4], strokeWidth=1.5).encode(
        x=alt.X("measured:Q", scale=scale), y=alt.Y("predicted:Q", scale=scale)
    )
    chart = alt.layer(diagonal, bars.encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"), points)
    return finish(chart.properties(height=min(width, 480) * 3 // 4), min(width, 520), told)
