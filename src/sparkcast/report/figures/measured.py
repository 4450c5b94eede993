"""All that can be drawn of runs before anything is concluded from them."""

from sparkcast.report.figures._figure import Figure
from sparkcast.report.figures.runs import learning_curves, parts, results, utilization
from sparkcast.report.figures.streams import stream_figures
from sparkcast.study import Dataset


def run_figures(data: Dataset) -> tuple[Figure, ...]:
    """Every response run by run, streams of jobs, curves, parts of the time, and how busy the machines were."""
    # When no run measured anything, one picture of the failures is enough.
    measured = [response for response in data.responses if data.successful(response)] or data.responses[:1]
    drawn = [results(data, response) for response in measured]
    drawn += [*stream_figures(data), learning_curves(data), parts(data), utilization(data)]
    return tuple(figure for figure in drawn if figure is not None)
