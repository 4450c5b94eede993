"""What a report says and draws of a recommendation, from made-up candidates."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sparkcast.learned.feasibility import NoFailure
from sparkcast.recommend import (
    Alternative,
    Candidate,
    Considered,
    Launch,
    Limit,
    Nearest,
    Prediction,
    Recommendation,
    RunningForecast,
    RunningJob,
    Staleness,
)
from sparkcast.report import build_content, figures, render
from sparkcast.report.figures import Figure
from sparkcast.report.figures.front import pareto_front, staircase
from sparkcast.report.page import column_head, show_cell
from sparkcast.report.words import (
    asked_sentence,
    missed_sentence,
    recommendation_details,
    recommendation_doubts,
    recommendation_warnings,
)
from sparkcast.study import Configuration
from sparkcast.study.names import usual_vocabulary
from tests_support import assert_is_picture

WORDS = usual_vocabulary(["batch_size", "executors"], ["time_s", "accuracy", "cost"])
DEADLINE, BUDGET, LEAST = Limit("time_s", 60.0), Limit("cost", 0.25), Limit("accuracy", 0.9, is_upper=False)
ALL_LIMITS = (DEADLINE, BUDGET, LEAST)


def candidate(at: Configuration, probability: float = 0.97, **values: float) -> Candidate:
    predictions = (Prediction(name, value, 0.9 * value, 1.1 * value, 0.9) for name, value in values.items())
    return Candidate(at, tuple(predictions), probability, measured_runs=0)


def on_the_front(n: int, responses: Sequence[str], *, slowest: float = 90.0) -> list[Candidate]:
    """Candidates of which the slower are the more accurate and the cheaper; the last third breaks the limits."""
    made = []
    for step in range(n):
        share = step / max(n - 1, 1)
        values = {"time_s": 20.0 + share * (slowest - 20), "accuracy": 0.8 + 0.15 * share, "cost": 0.5 - 0.4 * share}
        kept = {name: values[name] for name in responses}
        made.append(
            candidate(Configuration({"batch_size": 512 - step, "executors": 4}), 0.97 if share < 0.67 else 0.2, **kept)
        )
    return made


def recommended(front: Sequence[Candidate], *others: Candidate, **changes: Any) -> Recommendation:
    good = [one for one in front if one.probability >= 0.95]
    made = Recommendation(
        objective="minimize time_s",
        within_s=None,
        confidence=0.95,
        models={},
        chosen=good[-1],
        runner_up=good[-2] if len(good) > 1 else None,
        candidates=(*front, *others),
        why="",
        margin_s=None,
        pareto=tuple(front),
        vocabulary=WORDS,
    )
    return replace(made, **changes)


def drawn(made: Figure | None) -> Figure:
    assert made is not None
    return made


def encodings(spec: Any, channel: str) -> list[Any]:
    return [layer["encoding"][channel] for layer in spec["layer"] if channel in layer["encoding"]]


def scale_of(figure: Figure, channel: str) -> dict[str, Any]:
    return next(e["scale"] for e in encodings(figure.spec, channel) if e.get("scale"))


def legend_of(figure: Figure) -> list[str]:
    return list(scale_of(figure, "color")["domain"])


# ---------------------------------------------------------------- the front


THREE = ("time_s", "accuracy", "cost")


@pytest.mark.parametrize("responses", [THREE, ("time_s", "accuracy"), ("time_s", "cost")], ids=" ".join)
def test_the_front_of_two_or_three_responses_is_a_picture_that_fits_a_phone(responses: tuple[str, ...]) -> None:
    beaten = candidate(Configuration({"batch_size": 7, "executors": 1}), 0.97, **dict.fromkeys(responses, 80.0))
    assert_is_picture(drawn(figures.pareto_front(recommended(on_the_front(9, responses), beaten, limits=ALL_LIMITS))))


def test_time_runs_across_and_accuracy_upwards_with_cost_as_color() -> None:
    figure = drawn(figures.pareto_front(recommended(on_the_front(9, THREE))))
    row = figure.rows[0]
    assert (row["x"], row["y"], row["z"]) == pytest.approx((20.0, 0.8, 0.5))
    assert (row["x_low"], row["x_high"]) == pytest.approx((18.0, 22.0))
    [fill] = encodings(figure.spec, "fill")
    assert (fill["field"], fill["title"]) == ("z", "predicted cost (as the study defines it)")
    assert figure.heads["z"] == "cost (as the study defines it)"


@pytest.mark.parametrize(
    ("responses", "titles"),
    [
        (("time_s", "accuracy"), ("predicted time (s)", "predicted accuracy (share correct)")),
        (("cost", "time_s"), ("predicted time (s)", "predicted cost (as the study defines it)")),
        (("accuracy", "cost"), ("predicted cost (as the study defines it)", "predicted accuracy (share correct)")),
    ],
)
def test_cost_takes_the_axis_of_what_was_not_predicted(responses: Sequence[str], titles: tuple[str, str]) -> None:
    figure = drawn(figures.pareto_front(recommended(on_the_front(5, responses))))
    assert (encodings(figure.spec, "x")[0]["title"], encodings(figure.spec, "y")[0]["title"]) == titles
    assert encodings(figure.spec, "fill") == []


def test_one_response_or_one_candidate_makes_no_front() -> None:
    assert figures.pareto_front(recommended(on_the_front(5, ["time_s"]))) is None
    assert figures.pareto_front(recommended(on_the_front(1, THREE))) is None
    assert figures.pareto_front(recommended(on_the_front(5, THREE), pareto=())) is None


def test_the_chosen_and_the_runner_up_are_marked_even_when_they_are_not_on_the_front() -> None:
    front = on_the_front(4, THREE)
    off = candidate(Configuration({"batch_size": 7, "executors": 1}), time_s=70.0, accuracy=0.81, cost=0.6)
    figure = drawn(figures.pareto_front(recommended(front, chosen=off)))
    marks = {row["place"]: (row["configuration"], row["on_front"]) for row in figure.rows if row["place"]}
    assert marks == {"chosen": ("7 · 1", False), "runner-up": ("511 · 4", True)}
    assert "chosen: batch_size=7, executors=1" in json.dumps(figure.spec)
    assert legend_of(figure) == ["Pareto-optimal", "other candidates", "chosen", "runner-up"]


def test_no_candidate_is_drawn_twice() -> None:
    front = on_the_front(50, THREE)
    figure = drawn(figures.pareto_front(recommended(front)))
    assert len(figure.rows) == len({row["configuration"] for row in figure.rows}) == 50
    assert "At most 50 points of the front are shown" in figure.caption


def test_limits_are_lines_on_their_axes_and_shapes_tell_who_keeps_to_them() -> None:
    figure = drawn(figures.pareto_front(recommended(on_the_front(9, THREE), limits=ALL_LIMITS)))
    kinds = ["Pareto-optimal, meets the limits", "Pareto-optimal, too likely to break one"]
    lines = ["deadline of 1 min 00 s", "accuracy of at least 0.900"]
    assert legend_of(figure) == [*kinds, "chosen", "runner-up", *lines]
    assert [row["kind"] for row in figure.rows] == [kinds[0]] * 6 + [kinds[1]] * 3
    assert "The budget of 0.25 is not on an axis" in figure.caption
    by_cost = drawn(figures.pareto_front(recommended(on_the_front(9, ("time_s", "cost")), limits=(BUDGET,))))
    assert legend_of(by_cost)[-1] == "budget of 0.25"


def test_a_deadline_alone_is_a_limit_and_one_far_away_is_told_and_not_drawn() -> None:
    near = drawn(figures.pareto_front(recommended(on_the_front(9, THREE), limits=(Limit("time_s", 60.0),))))
    assert legend_of(near)[-1] == "deadline of 1 min 00 s"
    far = drawn(figures.pareto_front(recommended(on_the_front(9, THREE), limits=(Limit("time_s", 36_000.0),))))
    assert not any("deadline of" in name for name in legend_of(far))
    assert "The deadline of 10 h 00 min is outside the figure." in far.caption


def test_an_axis_is_logarithmic_from_a_decade_on() -> None:
    within, beyond = (
        drawn(figures.pareto_front(recommended(on_the_front(9, THREE, slowest=slowest)))) for slowest in (190.0, 210.0)
    )
    assert (scale_of(within, "x")["type"], scale_of(beyond, "x")["type"]) == ("linear", "log")
    assert scale_of(beyond, "y")["type"] == "linear"


def test_the_line_passes_only_through_what_is_best_in_the_two_drawn_responses() -> None:
    rows: list[Any] = [{"x": x, "y": y} for x, y in ((1.0, 0.5), (2.0, 0.4), (3.0, 0.8), (3.0, 0.9), (4.0, 0.9))]
    assert [(row["x"], row["y"]) for row in staircase(rows, WORDS.response("accuracy"))] == [(1.0, 0.5), (3.0, 0.9)]
    assert [(row["x"], row["y"]) for row in staircase(rows, WORDS.response("cost"))] == [(1.0, 0.5), (2.0, 0.4)]


def test_settings_that_are_only_names_are_labeled_in_lines_that_fit() -> None:
    front = [
        candidate(
            Configuration({"network": f"a-network-with-a-long-name-{n}", "optimizer": "adam"}),
            time_s=500.0 + n,
            accuracy=a,
        )
        for n, a in enumerate((0.91, 0.93, 0.95))
    ]
    figure = drawn(figures.pareto_front(recommended(front)))
    [words] = [e["value"] for e in encodings(figure.narrow_spec, "text") if "value" in e]
    assert words == "chosen: network=a-network-with-a-\nlong-name-2, optimizer=adam"
    assert max(len(line) for line in words.split("\n")) * 6.8 <= 340
    assert scale_of(figure, "x")["domain"][0] > 400


def test_values_without_a_bound_leave_the_picture_alone() -> None:
    front = on_the_front(4, ("time_s", "accuracy"))
    endless = replace(front[0], predictions=(Prediction("time_s", 20.0, 10.0, math.inf, 0.9), front[0].predictions[1]))
    figure = drawn(figures.pareto_front(recommended([endless, *front[1:]])))
    assert figure.rows[0]["x_high"] is None
    assert "20.0 s (10.0 s to no bound)" in json.dumps(figure.spec)
    json.dumps(figure.spec, allow_nan=False)


def test_tooltips_tell_settings_intervals_and_probability() -> None:
    figure = drawn(figures.pareto_front(recommended(on_the_front(4, THREE), limits=(DEADLINE,))))
    titles = [tip["title"] for tip in encodings(figure.spec, "tooltip")[0]]
    assert titles == [
        "batch_size · executors",
        "time (90% interval)",
        "accuracy (90% interval)",
        "cost (90% interval)",
        "probability of meeting the limits",
    ]


# ---------------------------------------------------------------- all figures of a recommendation


def test_a_recommendation_is_drawn_as_candidates_and_as_a_front_where_there_is_one(tmp_path: Path) -> None:
    made = figures.recommendation_figures(recommended(on_the_front(4, THREE)))
    assert [figure.name for figure in made] == ["candidates", "pareto-front"]
    alone = figures.recommendation_figures(recommended(on_the_front(4, ["time_s"])))
    assert [figure.name for figure in alone] == ["candidates"]
    written = figures.write_figures(made[1:], tmp_path)
    assert [path.name for path in written] == ["pareto-front.png", "pareto-front.svg", "pareto-front.vl.json"]


@pytest.mark.parametrize(
    ("limits", "kinds"),
    [
        ((DEADLINE,), ("meets the deadline", "too likely to miss it")),
        ((BUDGET,), ("meets the limit", "too likely to break it")),
        (ALL_LIMITS, ("meets the limits", "too likely to break one")),
        ((), ("", "")),
    ],
)
def test_candidates_are_judged_by_the_limits_that_were_given(limits: tuple[Limit, ...], kinds: tuple[str, str]) -> None:
    figure = drawn(figures.candidates(recommended(on_the_front(9, THREE), limits=limits)))
    assert (figure.rows[0]["kind"], figure.rows[-1]["kind"]) == kinds


def test_every_candidate_is_named_beside_its_point_while_there_is_room() -> None:
    figure = drawn(figures.candidates(recommended(on_the_front(9, ("time_s", "cost")))))
    rows = figure.spec["datasets"]["rows"]
    assert all(row["side"] for row in rows if row["place"] != "chosen")
    assert {row["name"] for row in rows if row["place"] == "runner-up"} == {"508 · 4 (runner-up)"}
    assert "Names are batch_size · executors." in figure.caption


def test_candidates_that_are_crowded_or_have_long_names_are_told_by_hint_and_rank() -> None:
    crowd = [
        candidate(Configuration({"batch_size": n, "executors": 1}), time_s=50.0 + n / 1e6, cost=0.2) for n in range(30)
    ]
    figure = drawn(figures.candidates(recommended(crowd)))
    rows = figure.spec["datasets"]["rows"]
    assert any(row["side"] == "" for row in rows), "names that would cover each other are left out"
    assert all(f"<title>{n} · 1: time 50.0 s, cost 0.20</title>" in figure.svg() for n in range(30))
    long = [
        candidate(Configuration({"network": f"a-network-with-a-long-name-{n}"}), time_s=50.0 + n, cost=0.2 - n / 100)
        for n in range(5)
    ]
    figure = drawn(figures.candidates(recommended(long)))
    others = {f"#{row['rank']}" for row in figure.rows if row["place"] != "chosen"}
    assert {row["name"].partition(" ")[0] for row in figure.spec["datasets"]["rows"]} == {*others, ""}
    assert [row["rank"] for row in figure.rows] == [1, 2, 3, 4, 5]
    assert "Names are ranks" in figure.caption


def test_the_whole_front_is_named_and_every_other_candidate_has_a_hint() -> None:
    beaten = candidate(Configuration({"batch_size": 7, "executors": 1}), time_s=80.0, accuracy=0.7, cost=0.6)
    figure = drawn(figures.pareto_front(recommended(on_the_front(9, THREE), beaten)))
    rows = figure.spec["datasets"]["rows"]
    assert [bool(row["side"]) for row in rows] == [row["on_front"] and row["place"] != "chosen" for row in rows]
    assert "<title>7 · 1: time 1 min 20 s (1 min 12 s to 1 min 28 s)" in figure.svg()


@pytest.mark.parametrize("high", [12.0, 70.0, 1.5e4])
def test_the_intervals_of_candidates_are_inside_the_picture(high: float) -> None:
    front = on_the_front(5, ("time_s", "cost"))
    wide = replace(front[0], predictions=(Prediction("time_s", 20.0, 2.0, high, 0.9), front[0].predictions[1]))
    for made in (figures.candidates(recommended([wide, *front[1:]])), figures.candidates(recommended([wide]))):
        scale = scale_of(drawn(made), "x")
        assert scale["domain"][0] <= 2.0
        assert scale["domain"][1] >= high
        assert (scale.get("type") == "log") == (high == 1.5e4)
        assert "beyond it" not in drawn(made).caption


def test_an_interval_a_thousand_times_as_long_goes_to_the_edge_and_the_caption_says_so() -> None:
    front = on_the_front(5, ("time_s", "cost"))
    wide = replace(front[0], predictions=(Prediction("time_s", 20.0, 2.0, 1e9, 0.9), front[0].predictions[1]))
    figure = drawn(figures.candidates(recommended([wide, *front[1:]])))
    assert scale_of(figure, "x")["domain"][1] < 1000
    assert "Intervals that touch the edge extend beyond it (1)." in figure.caption


def test_small_amounts_of_money_are_counted_in_cents_on_axes_and_in_tables() -> None:
    cents = [
        candidate(Configuration({"batch_size": n, "executors": 1}), time_s=50.0 - n, cost=n / 1e4) for n in range(1, 6)
    ]
    euros = WORDS.in_currency("cost", "EUR")
    for make in (figures.candidates, figures.pareto_front):
        figure = drawn(make(recommended(cents, vocabulary=euros)))
        up = encodings(figure.spec, "y")[0]
        assert up["title"] == "predicted cost (ct EUR)"
        assert up["axis"]["labelExpr"] == "format(datum.value * 100, ',~r')"
        assert (column_head(figure, "y"), show_cell(figure.rows[0]["y"], figure.values["y"])) == ("cost", "0.01 ct EUR")


def test_the_candidates_say_how_many_more_there_were() -> None:
    figure = drawn(figures.candidates(recommended(on_the_front(9, THREE), n_candidates=5000)))
    assert figure.caption.endswith("Shown: the first 9 of 5,000 candidates.")


# ---------------------------------------------------------------- words


def test_the_details_tell_the_limits_what_they_cost_the_chance_of_failing_and_what_was_measured() -> None:
    front = on_the_front(3, THREE)
    asked = recommended(
        front,
        chosen=replace(front[0], failure_probability=0.03),
        runner_up=None,
        limits=ALL_LIMITS,
        alternatives=(Alternative(BUDGET, 0.31, front[1], 4.0, "0.06 more buys batch_size=511: time_s 20 -> 16"),),
        nearest=Nearest(Configuration({"batch_size": 256, "executors": 4}), 0.25),
    )
    lines = recommendation_details(asked)
    assert lines[3:] == (
        "It meets the deadline of 1 min 00 s, the budget of 0.25 and the accuracy of at least 0.900 together with 97% "
        "probability if the run succeeds; 95% was required.",
        "3% of submissions with these settings are expected to fail.",
        "Trade-off for the budget of 0.25: 0.06 more buys batch_size=511: time_s 20 -> 16.",
        "These settings were never run. The closest measured configuration: batch_size=256, executors=4, 25% "
        "of a setting's "
        "measured range away.",
    )


def test_one_limit_is_told_in_its_own_words_and_none_is_not_told() -> None:
    front = on_the_front(3, THREE)
    assert "It meets the budget of 0.25 with 97% probability; 95% was required." in recommendation_details(
        recommended(front, limits=(BUDGET,))
    )
    assert not any("asked for" in line for line in recommendation_details(recommended(front)))
    assert asked_sentence(recommended(front)) == "Question: minimize time."
    assert asked_sentence(recommended(front, limits=(BUDGET, LEAST))) == (
        "Question: minimize time, meeting a budget of 0.25 and an accuracy of at least 0.900 with 95% probability."
    )


def test_settings_that_were_run_are_not_compared_with_others() -> None:
    front = on_the_front(3, THREE)
    asked = recommended(front, chosen=replace(front[0], measured_runs=3), nearest=Nearest(front[0].configuration, 0.0))
    assert recommendation_details(asked)[-1] == "Runner-up: batch_size=512, executors=4."
    assert "Exactly these settings were run 3 times." in recommendation_details(asked)


def running(*, would_miss: bool, within_s: float | None = 300.0) -> RunningForecast:
    job = RunningJob(Configuration({"batch_size": 64}), 120.0, within_s)
    before, after = (None, None) if within_s is None else (0.97, 0.4 if would_miss else 0.96)
    return RunningForecast(job, 280.0, 330.0, before, after, would_miss)


def test_a_running_job_that_would_miss_its_deadline_is_a_warning_and_others_are_not() -> None:
    front = on_the_front(3, THREE)
    both = recommended(front, running=(running(would_miss=True), running(would_miss=False)))
    assert recommendation_warnings(both) == (
        "The running job batch_size=64 would miss its deadline of 5 min 00 s with the new job running: it "
        "would finish after 5 min 30 s, not 4 min 40 s, and its probability of being on time drops from 97% "
        "to 40%.",
    )
    fine = recommended(front, running=(running(would_miss=False), running(would_miss=False, within_s=None)))
    assert recommendation_warnings(fine) == ()
    assert recommendation_details(fine)[-1] == "No running job would miss its deadline because of the new job."
    free = recommended(front, running=(running(would_miss=False, within_s=None),))
    assert not any("running" in line for line in recommendation_details(free))
    assert missed_sentence(running(would_miss=True, within_s=None)).endswith("not 4 min 40 s.")


def test_a_model_to_retrain_is_a_warning_with_its_reasons_and_doubts_are_not() -> None:
    front = on_the_front(3, THREE)
    old = recommended(front, staleness=Staleness("retrain", ("Spark is 4.0, not 3.5.", "5 jobs are more than 3.")))
    assert recommendation_warnings(old) == (
        "Retrain before relying on this. Spark is 4.0, not 3.5. 5 jobs are more than 3.",
    )
    assert recommendation_doubts(old) == ()
    unknown = recommended(front, staleness=Staleness("unknown", ("The runs do not say where they were made.",)))
    assert recommendation_warnings(unknown) == ()
    assert recommendation_doubts(unknown) == ("The runs do not say where they were made.",)


def test_the_notes_of_a_recommendation_are_among_the_doubts_and_what_was_considered_among_the_details() -> None:
    front = on_the_front(3, THREE)
    few = recommended(
        front,
        notes=("trained on 4 configurations: run this one first: executors=8",),
        staleness=Staleness("unknown", ("The runs do not say where they were made.",)),
        considered=Considered(48, 12, False, "48 combinations of the measured levels, 12 of them measured"),
        no_failure=NoFailure(12),
    )
    assert recommendation_doubts(few) == (
        "Trained on 4 configurations: run this one first: executors=8.",
        "The runs do not say where they were made.",
    )
    lines = recommendation_details(few)
    assert "Chosen from 48 combinations of the measured levels, 12 of them measured." in lines
    assert "No failures in 12 runs; the failure rate is below 22.1% (95% confidence)." in lines


def test_what_differs_by_less_than_the_noise_is_not_drawn_as_the_front() -> None:
    front = on_the_front(5, ("time_s", "accuracy"))
    marked = [replace(one, is_tradeoff=i != 1) for i, one in enumerate(front)]
    figure = drawn(pareto_front(recommended(marked)))
    assert [row["on_front"] for row in figure.rows].count(True) == 4
    assert "1 more would be on it, but differs by less than the noise." in figure.caption


def test_long_lists_are_cut_and_say_so() -> None:
    many = recommended(
        on_the_front(3, THREE),
        running=(running(would_miss=True),) * 9,
        staleness=Staleness("retrain", tuple(f"Reason {n}." for n in range(7))),
    )
    warnings = recommendation_warnings(many)
    assert warnings[0] == (
        "Retrain before relying on this. Reason 0. Reason 1. Reason 2. Reason 3. And 3 more reasons."
    )
    assert len(warnings) == 6
    assert warnings[-1] == "And 5 more running jobs would miss their deadlines."


# ---------------------------------------------------------------- the page


def test_the_page_shows_the_front_the_arguments_the_warnings_and_the_chance_of_failing(
    example: SimpleNamespace,
) -> None:
    front = [replace(one, failure_probability=0.02) for one in on_the_front(4, THREE)]
    asked = recommended(
        front,
        limits=ALL_LIMITS,
        launch=Launch(
            {"spark.cores.max": "4"},
            "train.py",
            ("--batch-size", "512", "--name", "<b>"),
            notes=("no memory",),
        ),
        staleness=Staleness("retrain", ("The cluster is another one.",)),
        n_candidates=5000,
    )
    text = render(build_content(example.bare, created="today", version="0.1.0", recommendation=asked))
    told = text.replace("\xa0", " ")
    parts = [
        '<p class="verdict warning"><b aria-hidden="true">!</b> <span>Retrain before relying on this. The cluster is',
        '<figure id="candidates">',
        "spark-submit \\\n  --conf spark.cores.max=4 \\\n  train.py \\\n  --batch-size 512",
        "--name &#39;&lt;b&gt;&#39;</code>",
        '<p class="note">no memory</p>',
        "Question: minimize time, meeting a deadline of 1 min 00 s, a budget of 0.25 and an accuracy of at least 0.900",
        '<figure id="pareto-front">',
        "meets the<br>limits</th>",
        ">fails</th>",
        '<td class="n">2%</td>',
        "The 4 best of 5,000 configurations.",
    ]
    places = [told.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)


def test_a_page_of_a_plain_recommendation_has_neither_warnings_nor_empty_columns(example: SimpleNamespace) -> None:
    content = build_content(
        example.bare, created="today", version="0.1.0", recommendation=recommended(on_the_front(4, ["time_s"]))
    )
    text = render(replace(content, figures=()))
    assert "verdict warning" not in text
    assert 'id="paste"' not in text
    assert ">fails</th>" not in text
    assert "meets the<br>" not in text


def test_the_chosen_candidate_is_labeled_above_all_points_and_the_deadline_in_the_legend() -> None:
    limits = (Limit("time_s", 55.0),)
    for drawing in (figures.candidates, figures.pareto_front):
        figure = drawn(drawing(recommended(on_the_front(9, THREE), limits=limits)))
        for spec in (figure.spec, figure.narrow_spec):
            labels = [layer for layer in spec["layer"] if "chosen: " in str(layer["encoding"].get("text"))]
            assert [layer["encoding"]["y"] for layer in labels] == [{"value": 0}]
            assert "deadline of 55.0 s" in str(spec["layer"])
            [rule] = [
                one for one in spec["layer"] if one["mark"].get("strokeWidth") == 2 and one["mark"]["type"] == "rule"
            ]
            [top] = [rule["encoding"]["y"]["value"]]
            assert top >= 15, "the line ends below the label"


def test_no_name_stands_on_the_line_of_the_deadline() -> None:
    for limit in (50.5, 53.0, 57.0):
        figure = drawn(figures.candidates(recommended(on_the_front(9, THREE), limits=(Limit("time_s", limit),))))
        low, high = next(s["domain"] for s in scales_of(figure.spec, "x"))
        line = (limit - low) / (high - low)
        for row in figure.spec["datasets"]["rows"]:
            at = (row["x"] - low) / (high - low)
            if row["side"]:
                reaches = 0.008 * len(row["name"]) + 0.02
                to_left, to_right = "left" in row["side"], "right" in row["side"]
                assert not (to_left and at - reaches < line < at), row
                assert not (to_right and at < line < at + reaches), row


def scales_of(spec: Any, channel: str) -> list[dict[str, Any]]:
    found = (layer["encoding"].get(channel, {}) for layer in spec["layer"])
    return [one["scale"] for one in found if isinstance(one, dict) and isinstance(one.get("scale"), dict)]
