"""How long jobs wait for one another, in words."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sparkcast.text._page import Page
from sparkcast.units import show_duration, show_level, show_percent, show_probability, show_rate, show_seconds

if TYPE_CHECKING:
    from sparkcast.queues import Measures
    from sparkcast.queues.admission import Decision, End, Option
    from sparkcast.queues.answer import QueueAnswer
    from sparkcast.queues.capacity import ServerCapacity
    from sparkcast.queues.simulate import ClassResult
    from sparkcast.queues.steady import Estimate

_WAYS = {
    "fifo": "first come first served",
    "fair": "all jobs concurrently, with equal shares",
    "priority": "by priority, then first come first served",
    "launching": "jobs launch, wait in line for cores and run, as measured",
}


def write_queue(page: Page, result: "QueueAnswer") -> None:
    page.tell(_verdict(result))
    page.labeled(list(_labeled(result)))
    if page.details:
        _show_measures(page, result)
    if result.simulation is not None and result.simulation.classes:
        _show_classes(page, result.simulation.classes, result)
    if result.capacities:
        _show_capacities(page, result)
    for note in result.notes:
        page.say(f"note: {note}")


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


def _show_measures(page: Page, result: "QueueAnswer") -> None:
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
        page.table(
            "",
            ["queue", "E[T] s", "E[W] s", "E[N]", "utilization", "P(wait)", "kind"],
            rows,
            optional=("kind", "P(wait)"),
        )
    for one in result.closed_forms:
        if one.validity:
            page.tell(f"{one.queue}: {one.validity}")


def _measures_row(one: "Measures") -> list[str]:
    waits = "–" if one.probability_of_waiting is None else show_probability(one.probability_of_waiting)
    lost = f", {show_percent(one.probability_of_loss, 3)} rejected" if one.probability_of_loss else ""
    about = ("exact" if one.is_exact else "approximation") + lost
    numbers = (f"{one.mean_response_s:.4g}", f"{one.mean_wait_s:.4g}", f"{one.mean_jobs:.4g}")
    return [one.queue, *numbers, show_percent(one.utilization, 3), waits, about]


def _with_reach(one: "Estimate") -> str:
    reach = "" if one.low == one.high else f" ± {(one.high - one.low) / 2:.2g}"
    return f"{one.value:.4g}{reach}"


def _show_classes(page: Page, classes: "Sequence[ClassResult]", result: "QueueAnswer") -> None:
    head = ["job class", "share", "E[T] s", "E[W] s", f"p{100 * result.share:g} s"]
    head += [] if result.slo_s is None else [f"{show_duration(result.slo_s)} deadline"]
    rows = []
    for one in classes:
        verdict = [] if one.meets_slo is None else ["met" if one.meets_slo else "would miss it"]
        means = (_with_reach(one.mean_response_s), _with_reach(one.mean_wait_s))
        late = f"{one.response_percentiles[result.share].value:.4g}"
        rows.append([one.name, show_percent(one.share, 3), *means, late, *verdict])
    page.table("", head, rows, optional=("E[W] s", "E[T] s"))


def _show_capacities(page: Page, result: "QueueAnswer") -> None:
    has_cost = any(one.cost_per_hour is not None for one in result.capacities)
    servers = "cores" if result.discipline == "launching" else "servers"
    header = ["", "stable below"] if result.is_slowdown_measured else [servers, "stable below"]
    header += [] if result.slo_s is None else [f"meets {show_duration(result.slo_s)} up to", "utilization there"]
    header += [] if result.arrival_rate is None else [f"p{100 * result.share:g} s at this rate"]
    header += ["cost/h", "cost/job"] if has_cost else []
    title = "capacity of the cluster" if result.is_slowdown_measured else f"capacity by number of {servers}"
    page.table(title, header, [_capacity_row(one, result, has_cost) for one in result.capacities])


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


def write_decision(page: Page, result: "Decision") -> None:
    chosen = result.chosen
    if chosen is None:
        page.tell(
            f"refuse: no way to start the new job meets every deadline with probability {show_level(result.confidence)}"
        )
    elif chosen.what == "delay":
        page.tell(f"delay: start {chosen.new} {_start(chosen)}")
    elif chosen.what == "shrink":
        page.tell(f"shrink: start {chosen.new} now")
    else:
        page.tell(f"admit: start {chosen.new} now")
    shown = chosen or result.options[0]
    before = {end.name: end for end in result.without}
    title = "" if chosen else f"closest: start {_start(shown)}"
    rows = [_end_row(end, before.get(end.name), shown) for end in shown.ends]
    page.table(
        title,
        ["job", "finishes without the new job", "with it", "80% between", "deadline", "met with", ""],
        rows,
        ("80% between",),
    )
    for option in result.options:
        if option is not shown and option.breaks:
            whose = "its deadline" if len(option.breaks) == 1 else "their deadlines"
            page.tell(f"{option.new} {_start(option)}: {', '.join(option.breaks)} would miss {whose}")
    for note in result.notes:
        page.say(f"note: {note}")


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
