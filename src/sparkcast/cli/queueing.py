"""Sharing a cluster: queue, queue admit."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, say, show, tell
from sparkcast.cli._progress import show_simulation
from sparkcast.cli._tables import AS_IT_STANDS, TableArguments, reads_runs, understood
from sparkcast.cli.prediction import (
    USUAL_MODEL,
    Extrapolate,
    ModelName,
    load_any,
    parse_settings,
)

if TYPE_CHECKING:
    from sparkcast.api import Data
    from sparkcast.learned.saved import SavedModel

OptionalData = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA|MODEL",
        help="A study file, a results folder or store, a CSV, or a model file; or give --service-time.",
        show_default=False,
    ),
]


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
    at: Annotated[
        list[str] | None, typer.Option(help="Settings of the job in DATA: executors=2,batch_size=64. Repeatable.")
    ] = None,
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
        parse_settings(*(at or ())),
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
    emit(result, as_json, lambda found: show(found, details), understood(loaded))
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
    emit(result, as_json, show, understood(loaded))
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
