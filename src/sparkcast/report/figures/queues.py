"""A shared cluster: response time by arrival rate, its percentiles, how busy the cluster is, and one day of it."""

from sparkcast.queues.answer import Moment, QueueAnswer
from sparkcast.queues.capacity import Point
from sparkcast.recommend.shown import short_seconds
from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure
from sparkcast.report.figures._style import BLUE, GRAY, INK, ORANGE, RED, finish, inline, the_rows
from sparkcast.units import show_level

_RATE, _RESPONSE = "arrival rate (jobs per hour)", "response time (s)"
_HOUR = 3600.0
_DEADLINES_HIGH = 4


def queue_figures(answer: QueueAnswer) -> list[Figure]:
    """All that an answer has data for."""
    drawn: list[Figure] = []
    if answer.curve:
        drawn += [response_by_rate(answer), percentile_fan(answer), busy_by_rate(answer)]
    if answer.day:
        drawn.append(simulated_day(answer))
    return drawn


def response_by_rate(answer: QueueAnswer) -> Figure:
    """The percentile that was asked for, with its band, against the rate; the deadline as a line."""
    rows = response_rows(answer.curve, answer.share)
    slo = answer.slo_s
    deadline = "" if slo is None else f" Dashed: the deadline of {short_seconds(slo)}."
    return figure(
        "queue-response",
        FigureSection.SCALING,
        f"Response time that {show_level(answer.share)} of jobs do not exceed, by arrival rate",
        f"{_cluster(answer)}. Line: simulated percentile; band: its 95% confidence interval; gray: the mean. Beyond "
        f"{_HOUR * answer.stable_rate:.4g} jobs per hour the queue grows without bound.{deadline}",
        rows,
        lambda width: _draw_response(rows, slo, width),
        heads={"rate": _RATE, "value": _RESPONSE},
    )


def _cluster(answer: QueueAnswer) -> str:
    if answer.discipline == "launching":
        return f"{answer.servers} cores; jobs launch, wait in line for them, and run, as measured"
    return f"{answer.servers} servers, {answer.discipline}"


def response_rows(curve: tuple[Point, ...], share: float) -> tuple[Row, ...]:
    return tuple(
        {
            "rate": _HOUR * point.rate,
            "value": point.percentiles[share].value,
            "low": max(0.0, point.percentiles[share].low),
            "high": point.percentiles[share].high,
            "mean": point.mean_s.value,
        }
        for point in curve
    )


def percentile_fan(answer: QueueAnswer) -> Figure:
    rows = fan_rows(answer.curve)
    return figure(
        "queue-percentiles",
        FigureSection.SCALING,
        "Percentiles of the response time by arrival rate",
        f"{_cluster(answer)}. Each line: the response time that this share of jobs does not exceed.",
        rows,
        lambda width: _draw_fan(rows, width),
        heads={"rate": _RATE, "value": _RESPONSE},
    )


def fan_rows(curve: tuple[Point, ...]) -> tuple[Row, ...]:
    return tuple(
        {"rate": _HOUR * point.rate, "percentile": show_level(share), "share": share, "value": found.value}
        for point in curve
        for share, found in point.percentiles.items()
    )


def busy_by_rate(answer: QueueAnswer) -> Figure:
    rows = busy_rows(answer.curve)
    return figure(
        "queue-utilization",
        FigureSection.SCALING,
        "Utilization by arrival rate",
        f"The share of {answer.servers} servers that are busy, simulated.",
        rows,
        lambda width: _draw_busy(rows, width),
        heads={"rate": _RATE, "busy": "utilization (%)"},
    )


def busy_rows(curve: tuple[Point, ...]) -> tuple[Row, ...]:
    return tuple({"rate": _HOUR * point.rate, "busy": 100 * point.utilization} for point in curve)


def simulated_day(answer: QueueAnswer) -> Figure:
    rows = day_rows(answer.day)
    return figure(
        "queue-day",
        FigureSection.SCALING,
        "One simulated day",
        f"Jobs in the system and jobs running, every five minutes of a typical day, at "
        f"{_HOUR * (answer.arrival_rate or 0):.4g} jobs per hour on {answer.servers} servers.",
        rows,
        lambda width: _draw_day(rows, width),
        heads={"hour": "hour", "count": "jobs (number)"},
    )


def day_rows(day: tuple[Moment, ...]) -> tuple[Row, ...]:
    return tuple(
        {"hour": moment.at_s / _HOUR, "kind": kind, "count": count}
        for moment in day
        for kind, count in (("in the system", moment.jobs), ("running", moment.running))
    )


# ---------------------------------------------------------------- drawing


def _draw_response(rows: tuple[Row, ...], slo: float | None, width: int) -> Spec:
    import altair as alt

    scale = alt.Scale(domain=[0, _top(rows, slo)]) if slo is not None else alt.Scale(zero=True)
    x, y = alt.X("rate:Q", title=_RATE), alt.Y("value:Q", title=_RESPONSE, scale=scale)
    base = alt.Chart(the_rows()).encode(x=x)
    layers = [
        base.mark_area(color=BLUE, opacity=0.18, clip=True).encode(
            y=alt.Y("low:Q", title=_RESPONSE), y2=alt.Y2("high:Q")
        ),
        base.mark_line(color=BLUE, strokeWidth=2.2, clip=True).encode(y=y),
        base.mark_point(color=BLUE, filled=True, size=40, opacity=1, clip=True).encode(y=y),
        base.mark_line(color=GRAY, strokeWidth=1.5, clip=True).encode(y=alt.Y("mean:Q", title=_RESPONSE)),
    ]
    if slo is not None:
        line = alt.Chart(inline([{"value": slo, "text": f"deadline {short_seconds(slo)}"}])).encode(y=y)
        layers.append(line.mark_rule(color=RED, strokeDash=[5, 4], strokeWidth=1.5))
        layers.append(
            line.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=INK).encode(
                text=alt.Text("text:N"), x=alt.value(0)
            )
        )
    return finish(alt.layer(*layers).properties(height=_height(width)), width, rows)


def _top(rows: tuple[Row, ...], slo: float) -> float:
    """Of the axis: near the stable rate times grow without bound, and the deadline must stay in sight."""
    highest = max(float(row["high"]) for row in rows if isinstance(row["high"], int | float))
    return min(1.05 * max(highest, slo), _DEADLINES_HIGH * slo)


def _draw_fan(rows: tuple[Row, ...], width: int) -> Spec:
    import altair as alt

    names = list(dict.fromkeys(str(row["percentile"]) for row in rows))
    color = alt.Color(
        "percentile:N", sort=names, title="share of jobs", scale=alt.Scale(domain=names, scheme="viridis")
    )
    chart = alt.Chart(the_rows()).mark_line(strokeWidth=2.0, point=True)
    chart = chart.encode(x=alt.X("rate:Q", title=_RATE), y=alt.Y("value:Q", title=_RESPONSE), color=color)
    return finish(chart.properties(height=_height(width)), width, rows)


def _draw_busy(rows: tuple[Row, ...], width: int) -> Spec:
    import altair as alt

    y = alt.Y("busy:Q", title="utilization (%)", scale=alt.Scale(domain=[0, 100]))
    chart = alt.Chart(the_rows()).mark_line(color=BLUE, strokeWidth=2.2, point={"color": BLUE, "filled": True})
    return finish(chart.encode(x=alt.X("rate:Q", title=_RATE), y=y).properties(height=_height(width)), width, rows)


def _draw_day(rows: tuple[Row, ...], width: int) -> Spec:
    import altair as alt

    kinds = ["in the system", "running"]
    color = alt.Color("kind:N", title=None, sort=kinds, scale=alt.Scale(domain=kinds, range=[ORANGE, BLUE]))
    x = alt.X(
        "hour:Q", title="hour", scale=alt.Scale(domain=[0, 24], nice=False), axis=alt.Axis(values=[*range(0, 25, 3)])
    )
    chart = alt.Chart(the_rows()).mark_line(interpolate="step-after", strokeWidth=1.4)
    chart = chart.encode(x=x, y=alt.Y("count:Q", title="jobs (number)"), color=color)
    return finish(chart.properties(height=_height(width)), width, rows)


def _height(width: int) -> int:
    return 300 if width > NARROW_PX else 240
