"""A plan, in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparkcast.text._page import Page
from sparkcast.units import show_level, show_probability

if TYPE_CHECKING:
    from sparkcast.designs.describe import Description
    from sparkcast.designs.power import Power
    from sparkcast.designs.summary import PlanSummary

_MOST_RUNS = 40  # shown; of more only the first
_FIRST_RUNS = 20
_MOST_LINES = 24  # of aliases, correlations and excluded combinations


def write(page: Page, plan: "PlanSummary") -> None:
    details = page.details
    counted = f"{len(plan.trials)} runs, {plan.done} done; {plan.n_excluded} combinations excluded by rules"
    if details:
        _show_runs(page, plan)
        page.tell(counted)
        _show_excluded(page, plan)
        _show_resolution(page, plan.description)
        _show_aliases(page, plan.description)
        _show_correlation(page, plan.description)
    else:
        page.tell(f"{plan.study}: {plan.design} design, {counted}")
        page.tell(plan.description.resolution_text)
    if plan.description.effects:
        _show_power(page, plan.description.power, details)
    _show_cost(page, plan)
    for note in plan.notes:
        page.tell(f"note: {note}")


def _show_runs(page: Page, plan: "PlanSummary") -> None:
    hidden = {"position"}
    if len({t["block"] for t in plan.trials}) == plan.replicates:
        hidden.add("block")  # each replicate is one
    if not plan.description.center_points:
        hidden.add("kind")
    header = ["run", *(name for name in plan.trials[0] if name not in hidden)]
    shown = plan.trials if len(plan.trials) <= _MOST_RUNS else plan.trials[:_FIRST_RUNS]
    rows = [[t["position"], *(t[name] for name in header[1:])] for t in shown]
    page.table(f"{plan.study}: {plan.design} design, seed {plan.seed}", header, rows)
    if len(shown) < len(plan.trials):
        page.tell(f"... and {len(plan.trials) - len(shown)} more; `api.write_plan(PLAN, FILE)` writes all")


def _show_excluded(page: Page, plan: "PlanSummary") -> None:

    for configuration in plan.excluded[:_MOST_LINES]:
        page.tell(f"  excluded: {configuration}")
    if (more := plan.n_excluded - len(plan.excluded[:_MOST_LINES])) and plan.excluded:
        page.tell(f"  ... and {more} more" + ("; `.excluded` has all" if plan.n_excluded == len(plan.excluded) else ""))


def _show_resolution(page: Page, description: "Description") -> None:
    page.tell(description.resolution_text)
    if description.generators:
        page.tell(f"generators: {_some(description.generators, 12, '; ')}")
    if description.defining_relation:
        more = description.n_words - len(description.defining_relation)
        words = [*description.defining_relation[:12]]
        more += len(description.defining_relation) - len(words)
        page.tell(f"defining relation: I = {' = '.join(words)}" + (f" = ... ({more} more words)" if more else ""))


def _show_aliases(page: Page, description: "Description") -> None:
    """What shares a column: main effects and pairs first, and of long chains only the start."""
    if description.is_regular:
        rows = [
            (chain[0], " = ".join(chain[1:5]) + (f" = ... ({len(chain) - 5} more)" if len(chain) > 5 else ""))
            for chain in description.aliases
            if chain[0].count(":") < 2
        ]
        if rows:
            page.table("aliases: effects that this plan cannot separate", ("effect", "is also"), rows[:_MOST_LINES])
        if len(rows) > _MOST_LINES:
            page.tell(f"... and {len(rows) - _MOST_LINES} more; `.description.aliases` has all up to third order")
        if description.aliases and description.clear:
            page.tell(f"clear of each other: {_some(description.clear, 30, ', ')}")
    elif description.partial_aliases:
        pairs = [(p.a, p.b, f"{p.value:.2f}") for p in description.partial_aliases[:_MOST_LINES]]
        page.table("partly aliased: correlations of 0.2 or more", ("effect", "with", "correlation"), pairs)
        if (more := len(description.partial_aliases) - _MOST_LINES) > 0:
            page.tell(f"... and {more} more; `.description.partial_aliases` has all")


def _show_correlation(page: Page, description: "Description") -> None:
    worst = description.largest
    if worst is not None and worst.value < 1e-6:
        page.tell("main effects and two-factor interactions are uncorrelated")
    elif worst is not None:
        page.tell(f"largest correlation: {worst.value:.2f}, of {worst.a} with {worst.b}")
    inflation = description.variance_inflation
    if inflation and max(inflation.values()) > 1.005:
        name = max(inflation, key=lambda name: inflation[name])
        page.tell(
            f"main effects: variance x {inflation[name]:.2f} at most, due to correlation with each other ({name})"
        )
    if not description.is_regular and description.d_efficiency is not None:
        page.tell(f"D-efficiency of main effects: {description.d_efficiency:.2f} of an orthogonal two-level design")


def _show_power(page: Page, power: "Power", details: bool) -> None:
    unit = "standard deviation" if power.effect_sd == 1 else "standard deviations"
    size = f"an effect of {power.effect_sd:.3g} {unit} of the noise"
    main, pair = power.lowest("main effect"), power.lowest("interaction")
    if power.reason:
        page.tell(f"power unknown: {power.reason}")
    elif main is not None:
        kept = " that stays in the model" if power.left_out else ""
        also = f", {show_probability(pair)} for an interaction{kept}" if pair is not None else ""
        test = f"level {power.alpha:g}, {_degrees(power.residual_df)} of freedom"
        page.tell(f"power: {show_probability(main)} for {size}{also} ({test})")
        if power.left_out and not details:
            page.tell(f"  {len(power.left_out)} of the effects are dropped from the model and count as noise")
        elif power.left_out:
            left = f"  the effects that the runs can estimate leave {_degrees(power.whole_df)} of freedom for the noise"
            page.tell(
                f"{left}, so these are dropped from the model and count as noise: {_some(power.left_out, 12, ', ')}"
            )
    needed = [f"{n} for {show_level(float(target))}" for target, n in power.replicates_for.items() if n is not None]
    if needed:
        page.tell(f"replicates needed to detect {size}: {', '.join(needed)}")
    else:
        page.tell(f"no number of replicates up to 100 detects {size} with 80% power")


def _degrees(count: int) -> str:
    return f"{count} degree{'' if count == 1 else 's'}"


def _show_cost(page: Page, plan: "PlanSummary") -> None:
    from sparkcast.units import show_money, show_seconds

    if plan.total_s is not None and plan.trial_s is not None:
        page.tell(
            f"about {show_seconds(plan.total_s)} in total, {show_seconds(plan.trial_s)} each ({plan.estimated_from})"
        )
    else:
        page.tell(f"time: {plan.estimated_from}")
    if plan.price is not None:
        page.tell(f"about {show_money(plan.price, plan.currency)} at the study's price")
    if plan.left_out:
        first, last = plan.left_out_trials[0], plan.left_out_trials[-1]
        which = f"run {first}" if first == last else f"runs {first} to {last}"
        page.tell(f"the time limit leaves out about {plan.left_out} runs: {which}")


def _some(items: Sequence[str], most: int, separator: str) -> str:
    more = f"{separator}... ({len(items) - most} more)" if len(items) > most else ""
    return separator.join(items[:most]) + more
