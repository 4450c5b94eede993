"""Streams of jobs as they were measured: how many were there, and how long each took."""

from sparkcast.report.figures._figure import NARROW_PX, Figure, FigureSection, Row, Spec, figure
from sparkcast.report.figures._style import BLUE, ORANGE, finish, the_rows
from sparkcast.report.labels import short_settings
from sparkcast.study import Dataset, Observation
from sparkcast.study.streams import is_stream, jobs_in_system

_MOST = 6  # streams
_KINDS = ("in the system", "running")


def stream_figures(data: Dataset) -> list[Figure]:
    """Jobs over time of each stream, the first few of them."""
    streams = [run for run in data.observations if is_stream(run)]
    return [_jobs_over_time(run, data, number) for number, run in enumerate(streams[:_MOST], start=1)]


def _jobs_over_time(run: Observation, data: Dataset, number: int) -> Figure:
    rows = stream_rows(run)
    settings = short_settings(run.configuration, data.factors)
    shared = run.sharing
    policy = f" {shared.policy}{f'; {shared.cores} cores' if shared.cores else ''}." if shared and shared.policy else ""
    return figure(
        f"stream-{number}",
        FigureSection.RESULTS,
        f"Jobs in the system: {settings or 'stream'}, replicate {run.replicate}",
        f"{len(run.jobs)} jobs; a job is in the system from its submission to its end, and runs once it has an "
        f"executor. Mean response time {run.responses['response_s']:.4g} s, 90% within "
        f"{run.responses['response_p90_s']:.4g} s.{policy}",
        rows,
        lambda width: _draw(rows, width),
        heads={"second": "seconds since the stream began", "count": "jobs (number)"},
    )


def stream_rows(run: Observation) -> tuple[Row, ...]:
    return tuple(
        {"second": moment, "kind": kind, "count": count}
        for moment, here, running in jobs_in_system(run.jobs)
        for kind, count in zip(_KINDS, (here, running), strict=True)
    )


def _draw(rows: tuple[Row, ...], width: int) -> Spec:
    import altair as alt

    kinds = list(_KINDS)
    color = alt.Color("kind:N", title=None, sort=kinds, scale=alt.Scale(domain=kinds, range=[ORANGE, BLUE]))
    chart = alt.Chart(the_rows()).mark_line(interpolate="step-after", strokeWidth=1.6)
    chart = chart.encode(
        x=alt.X("second:Q", title="seconds since the stream began", scale=alt.Scale(nice=False)),
        y=alt.Y("count:Q", title="jobs (number)", axis=alt.Axis(tickMinStep=1)),
        color=color,
    )
    return finish(chart.properties(height=240 if width > NARROW_PX else 200), width, rows)
