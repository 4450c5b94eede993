"""Numbers for Prometheus: of every study that was asked about, and of the service itself."""

import time
from collections.abc import Iterator

from fastapi import APIRouter, Response

from sparkcast.errors import SparkcastError
from sparkcast.serve.learning import Learned
from sparkcast.serve.metrics import BUCKETS_S, RequestMetrics
from sparkcast.serve.v1.common import Ask, Asking, errors

router = APIRouter(tags=["health"])
_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_HELP = {
    "sparkcast_predicted_seconds": ("gauge", "Predicted time of the next run with the settings of the last one."),
    "sparkcast_deadline_seconds": ("gauge", "The deadline that was last asked about."),
    "sparkcast_deadline_probability": ("gauge", "Probability that the next run, as the last one, meets that deadline."),
    "sparkcast_actual_seconds": ("gauge", "Time of the last run."),
    "sparkcast_over_forecast": ("gauge", "1 where the last run took longer than 95% of runs should."),
    "sparkcast_changes": ("gauge", "Lasting changes of the time in the history of the job."),
    "sparkcast_last_change_ratio": ("gauge", "By how much the last of them changed the time: 0.2 is 20% longer."),
    "sparkcast_actual_cost": ("gauge", "Cost of the last run."),
    "sparkcast_model_age_seconds": ("gauge", "Time since the model was learned."),
    "sparkcast_model_runs": ("gauge", "Runs that the model was learned from."),
    "sparkcast_model_current": ("gauge", "0 while a model is learned from newer runs."),
    "sparkcast_runs_failed": ("gauge", "Runs that failed, of those known."),
    "sparkcast_requests_total": ("counter", "Requests by endpoint and status."),
    "sparkcast_request_seconds": ("histogram", "How long requests took."),
    "sparkcast_requests_active": ("gauge", "Requests that are being answered."),
    "sparkcast_work_queued": ("gauge", "Long work that is queued or running."),
    "sparkcast_uptime_seconds": ("gauge", "Time since the service was started."),
}
Sample = tuple[str, dict[str, str], float]


@router.get("/metrics", responses={**errors(), 200: {"description": "text of Prometheus", "content": {_TYPE: {}}}})
def metrics(ask: Ask) -> Response:
    """What Prometheus reads."""
    samples = [*_of_studies(ask), *_of_service(ask)]
    return Response(text_of_samples(samples), media_type=_TYPE)


def text_of_samples(samples: list[Sample]) -> str:
    """The samples of each metric together, under its help."""
    lines = []
    for metric, (kind, told) in _HELP.items():
        names = {metric, *(metric + ending for ending in ("_bucket", "_sum", "_count"))}
        own = [one for one in samples if one[0] in names]
        if own:
            lines += [f"# HELP {metric} {told}", f"# TYPE {metric} {kind}"]
            lines += [f"{name}{_labels(labels)} {value:.10g}" for name, labels, value in own]
    return "\n".join(lines) + "\n"


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _of_studies(ask: Asking) -> Iterator[Sample]:
    for name in ask.state.known():
        learned = ask.state.ready(name)
        if learned is not None and ask.who.sees(ask.access.owner_of(name)):
            yield from _of_study(ask, learned)


def _of_study(ask: Asking, learned: Learned) -> Iterator[Sample]:
    runs, words = learned.data.dataset.observations, learned.data.dataset.vocabulary
    labels = {"study": learned.entry.name}
    yield "sparkcast_model_age_seconds", labels, time.time() - learned.learned_at
    yield "sparkcast_model_runs", labels, float(len(runs))
    yield "sparkcast_model_current", labels, float(ask.state.basis(learned).is_current)
    yield "sparkcast_runs_failed", labels, float(sum(not run.ok for run in runs))
    yield "sparkcast_changes", labels, float(len(learned.changes))
    if learned.changes:
        yield "sparkcast_last_change_ratio", labels, learned.changes[-1].change
    good = [run for run in runs if run.ok and words.time in run.responses]
    if not good or words.time is None:
        return
    last = max(good, key=lambda run: (run.started_at or 0.0, run.position))
    actual = words.response(words.time).seconds(last.responses[words.time])
    yield "sparkcast_actual_seconds", labels, actual
    if words.money is not None and words.money in last.responses:
        yield "sparkcast_actual_cost", labels, last.responses[words.money]
    tabled = learned.tabled.get(words.time)
    try:
        found = None if tabled is None else tabled.at(last.configuration.only(learned.data.dataset.factors))
    except SparkcastError:
        found = None
    if found is None:
        return
    unit = words.response(words.time).seconds
    for share in (0.5, 0.95):
        yield "sparkcast_predicted_seconds", {**labels, "quantile": f"{share:g}"}, unit(found.quantile(share))
    yield "sparkcast_over_forecast", labels, float(actual > unit(found.quantile(0.95)))
    within_s = ask.state.deadlines.get(learned.entry.name)
    if within_s is not None:
        yield "sparkcast_deadline_seconds", labels, within_s
        chance = found.probability(at_most=words.response(words.time).from_seconds(within_s))
        yield "sparkcast_deadline_probability", labels, chance


def _of_service(ask: Asking) -> Iterator[Sample]:
    counted: RequestMetrics = ask.request.app.state.metrics
    for (method, endpoint, status), n in sorted(counted.requests.items()):
        yield "sparkcast_requests_total", {"method": method, "endpoint": endpoint, "status": str(status)}, float(n)
    for endpoint, counts in sorted(counted.latencies.items()):
        total = 0
        for bound, n in zip((*BUCKETS_S, float("inf")), counts, strict=True):
            total += n
            edge = "+Inf" if bound == float("inf") else f"{bound:g}"
            yield "sparkcast_request_seconds_bucket", {"endpoint": endpoint, "le": edge}, float(total)
        yield "sparkcast_request_seconds_sum", {"endpoint": endpoint}, counted.sums_s[endpoint]
        yield "sparkcast_request_seconds_count", {"endpoint": endpoint}, float(total)
    yield "sparkcast_requests_active", {}, float(counted.active)
    yield "sparkcast_work_queued", {}, float(ask.work.queued)
    yield "sparkcast_uptime_seconds", {}, time.time() - ask.state.started_at
