"""Sharing a cluster: queue, queue admit."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, say, table, tell, tell_labeled
from sparkcast.cli._progress import show_simulation
from sparkcast.cli._tables import AS_IT_STANDS, TableArguments, reads_runs, understood
from sparkcast.cli.prediction import (
    USUAL_MODEL,
    Extrapolate,
    ModelName,
    load_any,
    parse_settings,
)
from sparkcast.units import show_duration, show_level, show_percent, show_probability, show_rate, show_seconds

if TYPE_CHECKING:
    from sparkcast.api import Data
    from sparkcast.learned.saved import SavedModel
    from sparkcast.queues import Measures
    from sparkcast.queues.admission import Decision, End, Option
    from sparkcast.queues.answer import QueueAnswer
    from sparkcast.queues.capacity import ServerCapacity
    from sparkcast.queues.simulate import ClassResult
    from sparkcast.queues.steady import Estimate

OptionalData = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA|MODEL",
        help="A study file, a results folder or store, a CSV, or a model file; or give --service-time.",
        show_default=False,
    ),
]
_WAYS = {
    "fifo": "first come first served",
    "fair": "all jobs concurrently, with equal shares",
    "priority": "by priority, then first come first served",
    "launching": "jobs launch, wait in line for cores and run, as measured",
}


def register(app: typer.Typer) -> None:
    app.command()(reads_runs(queue))
    app.command("queue admit")(reads_runs(admit))


def queue(
    data: OptionalData = None,
    service_time: Annotated[str | None, typer.Option(help="Mean time of a job running alone: 30s.")] = None,
    scv: Annotated[
        float | None,
        typer.Option(
            help="Variance of the service times over their squared mean: 0 all equal, 1 exponential. "
            "Default: as measured; 1 without DATA.",
            show_default=False,
        ),
    ] = None,
    arrival_rate: Annotated[
        str | None, typer.Option(metavar="N/UNIT", help="Arrival rate of jobs: 12/h, 3/min or 0.02/s.")
    ] = None,
    arrival_scv: Annotated[
        float, typer.Option(help="SCV of the times between arrivals: 1 Poisson, above 1 bursty, below 1 regular.")
    ] = 1.0,
    arrivals: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file of arrival times in seconds, one per line, instead of random ones."),
    ] = None,
    servers: Annotated[int, typer.Option(help="Number of jobs that run at once; with --width, cores.")] = 1,
    width: Annotated[int, typer.Option(help="Cores per job.")] = 1,
    discipline: Annotated[
        str | None,
        typer.Option(
            help="fifo: first come first served; fair: all at once with equal shares; priority: by --job; launching: "
            "jobs launch, wait in line for cores and run, as measured. Default: priority if --job has priorities, "
            "launching or fair as far as DATA shows how jobs slow each other down, otherwise fifo.",
            show_default=False,
        ),
    ] = None,
    job: Annotated[
        list[str] | None,
        typer.Option(
            help="One job class: time=30s,scv=1.2,share=0.7,width=2,priority=1; with DATA, settings instead of "
            "the time. Lower priority numbers go first. Repeatable."
        ),
    ] = None,
    overtake: Annotated[
        bool, typer.Option("--overtake", help="Backfill: small jobs may start before large ones.")
    ] = False,
    places: Annotated[
        int | None, typer.Option(help="System capacity K: jobs in the system; others are rejected.")
    ] = None,
    slo: Annotated[str | None, typer.Option(help="The deadline that the percentile must meet: 300s.")] = None,
    percentile: Annotated[float, typer.Option(help="Percentile of the response time: 95 or 0.95.")] = 95.0,
    compare: Annotated[str | None, typer.Option(help="Numbers of servers to compare: 2,4,8.")] = None,
    price: Annotated[float | None, typer.Option(help="Cost of one server per hour.")] = None,
    at: Annotated[str | None, typer.Option(help="Settings of the job in DATA: executors=2,batch_size=64.")] = None,
    jobs: Annotated[int, typer.Option(help="Number of jobs per simulated run.")] = 20_000,
    replications: Annotated[int, typer.Option(help="Simulated runs.")] = 10,
    seed: Annotated[int, typer.Option(help="Random seed of the simulation.")] = 0,
    details: Details = False,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for response times by rate and a simulated day: PNG, SVG, Vega-Lite.")
    ] = None,
    force: Force = False,
    model: ModelName = USUAL_MODEL,
    extrapolate: Extrapolate = False,
    reading: TableArguments = AS_IT_STANDS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """How many jobs can share the cluster before they miss their deadlines.

    Example: sparkcast queue --service-time 30s --scv 1.2 --arrival-rate 0.1/s --servers 4 --slo 300s

    Also: sparkcast queue admit --help
    """
    from sparkcast import api
    from sparkcast.queues.described import parse_class
    from sparkcast.units import parse_rate, parse_seconds

    loaded = _loaded(data, reading, model, as_json)
    load = api.Load(
        None if arrival_rate is None else parse_rate(arrival_rate),
        () if arrivals is None else read_arrivals(arrivals),
        arrival_scv,
        None if service_time is None else parse_seconds(service_time),
        scv,
        width,
        parse_settings(at or ""),
        [parse_class(text) for text in job or ()],
    )
    slo_s = None if slo is None else parse_seconds(slo)
    goal = api.Goal(slo_s, percentile, _whole_numbers(compare or ""), price)
    with show_simulation() as on_step:
        result = api.queue(
            loaded,
            load,
            servers=servers,
            discipline=discipline,
            overtake=overtake,
            places=places,
            goal=goal,
            effort=api.Effort(jobs, replications, seed, with_figures=figures is not None),
            model=model,
            extrapolate=extrapolate,
            on_step=on_step,
        )
    emit(result, as_json, lambda found: _show_queue(found, details), understood(loaded))
    if not as_json and not details:
        tell("--details shows the formulas next to the simulation")
    if figures is not None:
        written = api.write_queue_figures(result, figures, force=force)
        say(f"wrote {len(written)} files to {figures}")


def admit(
    data: OptionalData = None,
    running: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A job running now: batch_size=128,elapsed=120s,within=300s; without DATA: "
                "time=300s,elapsed=120s. Add done=40% if known. Repeatable."
            )
        ),
    ] = None,
    new: Annotated[
        str, typer.Option(help="The job to be started: batch_size=256,within=300s; without DATA: time=200s.")
    ] = "",
    smaller: Annotated[
        list[str] | None, typer.Option(help="An alternative form of the new job, in order of preference. Repeatable.")
    ] = None,
    servers: Annotated[
        int, typer.Option(help="Without DATA: number of jobs that can run at once without slowing down.")
    ] = 1,
    scv: Annotated[float, typer.Option(help="Without DATA: variance of the times over their squared mean.")] = 0.0,
    slots: Annotated[
        int | None, typer.Option(help="Maximum number of jobs at once; others wait in line. Default: no limit.")
    ] = None,
    others: Annotated[int, typer.Option(help="Number of other running jobs about which nothing else is known.")] = 0,
    confidence: Annotated[float, typer.Option(help="Probability with which deadlines must be met.")] = 0.95,
    delay: Annotated[bool, typer.Option("--delay/--no-delay", help="Whether to consider starting later.")] = True,
    model: ModelName = USUAL_MODEL,
    extrapolate: Extrapolate = False,
    reading: TableArguments = AS_IT_STANDS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Admit, shrink or delay a job, given those running now.

    Exit code 5 when no way to start it keeps every deadline.

    Example: sparkcast queue admit --running time=300s,elapsed=120s,within=400s --new time=60s,within=200s --servers 2
    """
    from sparkcast import api
    from sparkcast.errors import StudyError
    from sparkcast.queues.described import parse_described

    if not new:
        raise StudyError("the new job is missing", hint="describe it: --new batch_size=256,within=300s, or time=200s")
    loaded = _loaded(data, reading, model, as_json)
    result = api.admit(
        [parse_described(text) for text in running or ()],
        parse_described(new),
        loaded,
        smaller=[parse_described(text) for text in smaller or ()],
        cluster=api.SharedCluster(servers, scv, slots, others),
        confidence=confidence,
        may_delay=delay,
        model=None if model == USUAL_MODEL else model,
        extrapolate=extrapolate,
    )
    emit(result, as_json, _show_decision, understood(loaded))
    if result.chosen is None:
        raise typer.Exit(5)


def read_arrivals(path: Path) -> list[float]:
    """Seconds, one in a line; the first line may be a heading."""
    from sparkcast.errors import StudyError

    try:
        lines = [line.strip() for line in path.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} cannot be read: {error}", hint="give a text file with one time per line") from None
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(float(line))
        except ValueError:
            if number > 1:
                raise StudyError(
                    f"{path.name} line {number}: {line!r} is not a number of seconds", hint="write one time per line"
                ) from None
    if not found:
        raise StudyError(f"{path.name} has no arrival times", hint="write one time in seconds per line")
    if min(found) < 0:
        raise StudyError(
            f"{path.name}: an arrival at {min(found):g} s is not possible", hint="give times of 0 s or more"
        )
    return found


def _loaded(data: str | None, reading: TableArguments, model: str, as_json: bool) -> "Data | SavedModel | None":
    return None if data is None else load_any(data, reading, (), model, as_json)


def _whole_numbers(text: str) -> tuple[int, ...]:
    from sparkcast.errors import StudyError

    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise StudyError(f"--compare {text!r} is not a list of numbers of servers", hint="e.g. 2,4,8")
    return tuple(int(part) for part in parts)


# ---------------------------------------------------------------- showing


def _show_queue(result: "QueueAnswer", details: bool) -> None:
    tell(_verdict(result))
    tell_labeled(list(_labeled(result)))
    if details:
        _show_measures(result)
    if result.simulation is not None and result.simulation.classes:
        _show_classes(result.simulation.classes, result)
    if result.capacities:
        _show_capacities(result)
    for note in result.notes:
        say(f"note: {note}")


def _verdict(result: "QueueAnswer") -> str:
    """What to do, or what was asked for, in a sentence."""
    share = show_level(result.share)
    if result.slo_s is None or result.response_s is None:
        return _plain_verdict(result)
    deadline = f"the {show_duration(result.slo_s)} deadline"
    servers = "The cluster" if result.is_slowdown_measured else _servers(result)
    is_one = result.is_slowdown_measured or result.servers == 1
    needed = "" if result.servers_needed in (None, result.servers) else f"; use {result.servers_needed}"
    classes = result.simulation.classes if result.simulation else ()
    late = [one for one in classes if one.meets_slo is False]
    if not result.meets_slo:
        return f"{servers} {'misses' if is_one else 'miss'} {deadline}{needed}."
    met = f"{servers} {'meets' if is_one else 'meet'} {deadline} for {share} of all jobs"
    if late:
        return f"{met}, but {len(late)} of {len(classes)} job classes would miss it{needed}."
    fewer = f"; {result.servers_needed} would be enough" if needed else ""
    return f"{met}{fewer}."


def _plain_verdict(result: "QueueAnswer") -> str:
    if result.response_s is not None:
        return f"{show_level(result.share)} of jobs finish within {show_seconds(result.response_s.value)}."
    if result.mean_response_s is not None:
        lost = result.closed_forms[0].probability_of_loss
        return (
            f"Jobs take {show_seconds(result.mean_response_s.value)} on average; {show_percent(lost, 3)} are rejected."
        )
    own = next((one for one in result.capacities if one.servers == result.servers), None)
    deadline = "" if result.slo_s is None else f"the {show_duration(result.slo_s)} deadline"
    if own is None:
        return f"Stable below {_stable(result)}."
    if own.most_rate is None:
        return f"{_servers(result)} cannot meet {deadline} at any arrival rate."
    verb = "meets" if result.servers == 1 or result.is_slowdown_measured else "meet"
    return f"{_servers(result)} {verb} {deadline} up to {show_rate(own.most_rate, like=_like(result))}."


def _servers(result: "QueueAnswer") -> str:
    if result.is_slowdown_measured:
        return "The measured cluster"
    noun = "core" if result.discipline == "launching" else "server"
    return f"{result.servers} {noun}{'' if result.servers == 1 else 's'}"


def _stable(result: "QueueAnswer") -> str:
    return show_rate(result.stable_rate, like=_like(result))


def _labeled(result: "QueueAnswer") -> "Iterator[tuple[str, str]]":
    arrivals = []
    if result.arrival_rate is not None:
        bursts = "Poisson" if result.arrival_scv == 1 else f"SCV {result.arrival_scv:.3g}"
        arrivals.append(f"{show_rate(result.arrival_rate, like=_like(result))} ({bursts})")
    if result.stable_rate != float("inf"):
        arrivals.append(f"stable below {_stable(result)}")
    if arrivals:
        yield "Arrivals", "; ".join(arrivals)
    yield "Service time", f"{show_seconds(result.service_time_s)} (SCV {result.service_scv:.3g})"
    yield "Cluster", _cluster(result)
    if result.mean_response_s is not None and result.mean_wait_s is not None:
        yield "Mean", _mean(result)
    if result.response_s is not None:
        found = result.response_s
        how = "exact" if found.low == found.high else f"95% confidence: {found.low:.4g} to {found.high:.4g} s"
        yield f"p{100 * result.share:g}", f"{found.value:.4g} s ({how})"


def _cluster(result: "QueueAnswer") -> str:
    way = f"{_servers(result)}, {_WAYS[result.discipline]}"
    if result.is_slowdown_measured:
        way = "as measured: all jobs run concurrently and slow each other down"
    exact = result.closed_forms[0] if result.closed_forms else None
    busy = exact.utilization if exact else result.simulation.utilization.value if result.simulation else None
    shown = [way]
    shown += [] if busy is None else [f"utilization {show_percent(busy)}"]
    return "; ".join(shown)


def _mean(result: "QueueAnswer") -> str:
    """The exact formula first, and the simulation next to it; else the simulation first."""
    assert result.mean_response_s is not None
    assert result.mean_wait_s is not None
    response, wait = _with_reach(result.mean_response_s), _with_reach(result.mean_wait_s)
    simulated = result.simulation and f"simulated {_with_reach(result.simulation.mean_response_s)} s"
    if result.method != "simulated":
        kind = "exact" if result.closed_forms[0].is_exact else "approximation"
        source = f"{result.method}, {kind}" + (f"; {simulated}" if simulated else "")
    else:
        formulas = [f"; {one.queue}: {one.mean_response_s:.4g} s" for one in result.closed_forms[:1]]
        source = f"simulated{''.join(formulas)}"
    until = "until it has its cores" if result.discipline == "launching" else "of waiting"
    waits = "" if result.discipline == "fair" else f", including {wait} s {until}"
    return f"response time {response} s{waits} ({source})"


def _like(result: "QueueAnswer") -> float:
    """The rate in whose unit all others are shown: the smallest, so that no number is below 1."""
    return min(result.stable_rate, result.arrival_rate or result.stable_rate)


def _show_measures(result: "QueueAnswer") -> None:
    rows = [_measures_row(one) for one in result.closed_forms]
    if result.simulation is not None:
        found = result.simulation
        rows.append(
            [
                "simulated",
                *(_with_reach(one) for one in (found.mean_response_s, found.mean_wait_s, found.mean_jobs)),
                show_percent(found.utilization.value, 3),
                "–" if result.discipline == "fair" else show_probability(found.probability_of_waiting.value),
                "",
            ]
        )
    if rows:
        table(
            "",
            ["queue", "E[T] s", "E[W] s", "E[N]", "utilization", "P(wait)", "kind"],
            rows,
            optional=("kind", "P(wait)"),
        )
    for one in result.closed_forms:
        if one.validity:
            tell(f"{one.queue}: {one.validity}")


def _measures_row(one: "Measures") -> list[str]:
    waits = "–" if one.probability_of_waiting is None else show_probability(one.probability_of_waiting)
    lost = f", {show_percent(one.probability_of_loss, 3)} rejected" if one.probability_of_loss else ""
    about = ("exact" if one.is_exact else "approximation") + lost
    numbers = (f"{one.mean_response_s:.4g}", f"{one.mean_wait_s:.4g}", f"{one.mean_jobs:.4g}")
    return [one.queue, *numbers, show_percent(one.utilization, 3), waits, about]


def _with_reach(one: "Estimate") -> str:
    reach = "" if one.low == one.high else f" ± {(one.high - one.low) / 2:.2g}"
    return f"{one.value:.4g}{reach}"


def _show_classes(classes: "Sequence[ClassResult]", result: "QueueAnswer") -> None:
    head = ["job class", "share", "E[T] s", "E[W] s", f"p{100 * result.share:g} s"]
    head += [] if result.slo_s is None else [f"{show_duration(result.slo_s)} deadline"]
    rows = []
    for one in classes:
        verdict = [] if one.meets_slo is None else ["met" if one.meets_slo else "would miss it"]
        means = (_with_reach(one.mean_response_s), _with_reach(one.mean_wait_s))
        late = f"{one.response_percentiles[result.share].value:.4g}"
        rows.append([one.name, show_percent(one.share, 3), *means, late, *verdict])
    table("", head, rows, optional=("E[W] s", "E[T] s"))


def _show_capacities(result: "QueueAnswer") -> None:
    has_cost = any(one.cost_per_hour is not None for one in result.capacities)
    servers = "cores" if result.discipline == "launching" else "servers"
    header = ["", "stable below"] if result.is_slowdown_measured else [servers, "stable below"]
    header += [] if result.slo_s is None else [f"meets {show_duration(result.slo_s)} up to", "utilization there"]
    header += [] if result.arrival_rate is None else [f"p{100 * result.share:g} s at this rate"]
    header += ["cost/h", "cost/job"] if has_cost else []
    title = "capacity of the cluster" if result.is_slowdown_measured else f"capacity by number of {servers}"
    table(title, header, [_capacity_row(one, result, has_cost) for one in result.capacities])


def _capacity_row(one: "ServerCapacity", result: "QueueAnswer", has_cost: bool) -> list[str]:
    like = _like(result)
    row = ["as measured" if result.is_slowdown_measured else str(one.servers), show_rate(one.stable_rate, like=like)]
    if result.slo_s is not None:
        busy = "–" if one.utilization is None else show_percent(one.utilization)
        row += ["never" if one.most_rate is None else show_rate(one.most_rate, like=like), busy]
    if result.arrival_rate is not None:
        row.append("unstable" if one.response_s is None else f"{one.response_s.value:.4g}")
    if has_cost:
        row += [f"{one.cost_per_hour:.4g}", "–" if one.cost_per_job is None else f"{one.cost_per_job:.4g}"]
    return row


def _show_decision(result: "Decision") -> None:
    chosen = result.chosen
    if chosen is None:
        tell(
            f"refuse: no way to start the new job meets every deadline with probability {show_level(result.confidence)}"
        )
    elif chosen.what == "delay":
        tell(f"delay: start {chosen.new} {_start(chosen)}")
    elif chosen.what == "shrink":
        tell(f"shrink: start {chosen.new} now")
    else:
        tell(f"admit: start {chosen.new} now")
    shown = chosen or result.options[0]
    before = {end.name: end for end in result.without}
    title = "" if chosen else f"closest: start {_start(shown)}"
    rows = [_end_row(end, before.get(end.name), shown) for end in shown.ends]
    table(
        title,
        ["job", "finishes without the new job", "with it", "80% between", "deadline", "met with", ""],
        rows,
        ("80% between",),
    )
    for option in result.options:
        if option is not shown and option.breaks:
            whose = "its deadline" if len(option.breaks) == 1 else "their deadlines"
            tell(f"{option.new} {_start(option)}: {', '.join(option.breaks)} would miss {whose}")
    for note in result.notes:
        say(f"note: {note}")


def _start(option: "Option") -> str:
    if not option.start_after:
        return "now"
    many = "one job has" if option.start_after == 1 else f"{option.start_after} jobs have"
    return f"once {many} finished, in about {show_seconds(option.start_in_s)}"


def _end_row(end: "End", before: "End | None", option: "Option") -> list[str]:
    chances = "" if end.probability is None else show_probability(end.probability)
    if before is not None and before.probability is not None:
        chances = f"{show_probability(before.probability)} -> {chances}"
    return [
        end.name,
        "" if before is None else show_seconds(before.ends_s),
        show_seconds(end.ends_s),
        f"{show_seconds(end.low_s)} to {show_seconds(end.high_s)}",
        "" if end.within_s is None else show_seconds(end.within_s),
        chances,
        "would miss its deadline" if end.name in option.breaks else "",
    ]
