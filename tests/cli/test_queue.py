"""sparkcast queue and sparkcast queue admit, as people call them."""

import json
from pathlib import Path

import pytest

from sparkcast.queues.markovian import MMc
from tests_support import Call

SMALL = ("--jobs", "1000", "--replications", "2")
NUMBERS = ("--service-time", "30s", "--arrival-rate", "0.1/s", "--servers", "4")
SLOWDOWN = {1: 1.0, 2: 1.25, 4: 2.3}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Times by executors and jobs at once; two replicates that differ a little."""
    rows = [
        f"{executors},{jobs},{(20 + 120 / executors) * SLOWDOWN[jobs] * wobble}"
        for executors in (1, 2, 4)
        for jobs in SLOWDOWN
        for wobble in (0.97, 1.03)
    ]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["executors,jobs,time_s", *rows]) + "\n")
    return path


def test_plain_numbers_get_the_formula_the_simulation_and_the_capacity(call: Call) -> None:
    answer = call("queue", *NUMBERS, "--slo", "300s", "--price", "0.5", *SMALL)
    assert answer.code == 0
    for words in (
        "4 servers meet the 300 s deadline for 95% of all jobs.\n",
        "6/min (Poisson)",
        "4 servers, first come first served; utilization 75%",
        "(M/M/4, exact; simulated ",
        "capacity by number of servers",
        "cost/job",
    ):
        assert words in answer.out
    assert f"{MMc(0.1, 30.0, 4).response_quantile(0.95):.4g} s (exact)" in answer.out


def test_json_has_everything(call: Call) -> None:
    answer = call("queue", *NUMBERS, "--percentile", "90", "--json", *SMALL)
    found = json.loads(answer.out)
    assert found["closed_forms"][0]["mean_response_s"] == pytest.approx(45.2830, abs=1e-4)
    assert found["response_s"]["value"] == pytest.approx(MMc(0.1, 30.0, 4).response_quantile(0.9))
    assert found["simulation"]["response_percentiles"]["0.9"]["low"] < found["response_s"]["value"]


def test_without_a_rate_the_capacity_is_told(call: Call) -> None:
    answer = call("queue", "--service-time", "30s", "--servers", "4", "--slo", "300s", *SMALL)
    assert answer.code == 0
    assert "stable below 8/min" in answer.out
    assert answer.out.startswith("4 servers meet the 300 s deadline up to 7.361/min.")
    assert "meets 300 s up to" in answer.out


def test_runs_tell_times_and_slowdown(call: Call, runs: Path) -> None:
    answer = call("queue", runs, "--at", "executors=2", "--arrival-rate", "20/h", "--slo", "300s", *SMALL)
    assert answer.code == 0
    assert "as measured: all jobs run concurrently and slow each other down" in answer.out
    assert "Service time  1 min 20 s" in answer.out
    assert "slowdown as measured (jobs at once × factor): 1 × 1, 2 × 1.25, 4 × 2.3" in answer.err


def test_runs_can_be_served_one_after_another(call: Call, runs: Path) -> None:
    answer = call("queue", runs, "--arrival-rate", "20/h", "--discipline", "fifo", "--servers", "2", *SMALL)
    assert "2 servers, first come first served" in answer.out
    assert "the jobs are a mix of the 3 configurations" in answer.err


def test_settings_that_were_never_run_are_predicted(call: Call, runs: Path) -> None:
    at = ("--at", "executors=3", "--model", "linear")
    answer = call("queue", runs, *at, "--arrival-rate", "10/h", "--discipline", "fifo", *SMALL)
    assert answer.code == 0
    assert "service times at executors=3 are predicted, not measured" in answer.err


def test_a_model_file_answers_too(call: Call, runs: Path) -> None:
    assert call("fit", runs, "--model", "linear", "--save", "m.sparkcast").code == 0
    given = ("--arrival-rate", "10/h", *SMALL)
    answer = call("queue", "m.sparkcast", "--at", "executors=2", *given)
    assert answer.code == 0
    assert "M/G/1" in answer.out
    refused = call("queue", "m.sparkcast", *given)
    assert refused.code == 2
    assert "a model predicts the time of given settings" in refused.err


def test_arrivals_come_from_a_file(call: Call, tmp_path: Path) -> None:
    (tmp_path / "come.txt").write_text("seconds\n" + "\n".join(str(60 * i) for i in range(2000)))
    answer = call("queue", "--service-time", "30s", "--scv", "0", "--arrivals", "come.txt", *SMALL, "--json")
    found = json.loads(answer.out)
    assert found["arrival_rate"] == pytest.approx(1 / 60)
    assert found["simulation"]["mean_wait_s"]["value"] == 0


def test_figures_are_written(call: Call, tmp_path: Path) -> None:
    answer = call("queue", *NUMBERS, "--slo", "300s", "--figures", "pictures", *SMALL)
    assert answer.code == 0
    names = {path.stem.split(".")[0] for path in (tmp_path / "pictures").iterdir()}
    assert names == {"queue-response", "queue-percentiles", "queue-utilization", "queue-day"}
    assert call("queue", *NUMBERS, "--figures", "pictures", *SMALL).code == 2


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--service-time", "30s", "--arrival-rate", "12"), 2, ["'12' is a rate without a unit", "12/h"]),
        (("--service-time", "30s", "--arrival-rate", "x/h"), 2, ["'x/h' is not a rate"]),
        (("--service-time", "30s", "--arrival-rate", "0/h"), 2, ["a rate of 0/h cannot be"]),
        (("--service-time", "30s", "--arrival-rate=-3/h"), 2, ["a rate of -3/h cannot be"]),
        (("--service-time", "0s", "--arrival-rate", "3/h"), 2, ["a mean time cannot be 0 s"]),
        (("--service-time", "30s", "--arrival-rate", "3/min"), 5, ["can do at most 2/min", "stable below 2/min"]),
        (("--service-time", "30s", "--arrival-rate", "1/h", "--servers", "0"), 2, ["needs at least 1 core"]),
        (("--service-time", "30s"), 2, ["neither an arrival rate nor a deadline"]),
        (("--arrival-rate", "3/h"), 2, ["nothing says how long a job takes", "--service-time"]),
        (("--service-time", "30s", "--arrival-rate", "1/h", "--scv", "-1"), 2, ["variation of times cannot be -1"]),
        (
            ("--service-time", "30s", "--arrival-rate", "1/h", "--percentile", "100"),
            2,
            ["no percentile 100", "95 or 0.95"],
        ),
        (("--service-time", "30s", "--arrival-rate", "1/h", "--discipline", "lifo"), 2, ["no discipline 'lifo'"]),
        (("--service-time", "30s", "--arrival-rate", "1/h", "--slo", "1s"), 5, ["no number of servers"]),
        (("--service-time", "30s", "--compare", "two", "--slo", "1h"), 2, ["not a list of numbers"]),
        (("--service-time", "30s", "--arrivals", "nowhere.txt"), 2, ["nowhere.txt cannot be read"]),
        (("--service-time", "30s", "--arrival-rate", "1/h", "--width", "2"), 2, ["holds 2 cores"]),
    ],
)
def test_a_bad_question_gets_a_message_a_hint_and_its_exit_code(
    call: Call, options: tuple[str, ...], code: int, words: list[str]
) -> None:
    answer = call("queue", *options, *SMALL)
    assert answer.code == code
    assert answer.out == ""
    for word in [*words, "hint: "]:
        assert word in answer.err


def test_a_percentile_means_the_same_in_percent_and_as_a_share(call: Call) -> None:
    by_percent, by_share = (
        json.loads(call("queue", *NUMBERS, "--percentile", text, "--json", *SMALL).out) for text in ("95", "0.95")
    )
    assert by_percent["share"] == by_share["share"] == 0.95
    assert by_percent["response_s"] == by_share["response_s"]


def test_one_run_does_not_show_how_much_times_vary(call: Call, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("executors,time_s\n2,30\n")
    given = ("queue", "one.csv", "--factors", "executors", "--arrival-rate", "20/h", *SMALL)
    answer = call(*given)
    assert answer.code == 4
    assert "not how much that varies" in answer.err
    assert "--scv" in answer.err
    assert call(*given, "--scv", "1").code == 0


def test_an_empty_table_and_runs_that_were_never_alone_are_refused(call: Call, tmp_path: Path, runs: Path) -> None:
    (tmp_path / "empty.csv").write_text("executors,time_s\n")
    assert call("queue", "empty.csv", "--arrival-rate", "1/h").code in (2, 4)
    crowded = [line for line in runs.read_text().splitlines() if ",1," not in line]
    (tmp_path / "crowded.csv").write_text("\n".join(crowded))
    answer = call("queue", "crowded.csv", "--arrival-rate", "1/h")
    assert answer.code == 4
    assert "no run was alone on the cluster" in answer.err
    assert call("queue", runs, "--at", "hosts=2", "--arrival-rate", "1/h").code == 2


# ---------------------------------------------------------------- admit


def test_a_job_is_admitted_shrunk_delayed_or_refused(call: Call) -> None:
    running = ("queue", "admit", "--running", "time=300s,elapsed=120s,within=320s")
    answer = call(*running, "--new", "time=60s,within=200s", "--servers", "2")
    assert (answer.code, answer.out.splitlines()[0]) == (0, "admit: start new job now")
    answer = call(*running, "--new", "time=60s,within=400s", "--smaller", "time=10s,within=100s")
    assert (answer.code, answer.out.splitlines()[0]) == (0, "shrink: start new job, form 2 now")
    answer = call(*running, "--new", "time=60s,within=400s")
    assert (answer.code, answer.out.splitlines()[0]) == (
        0,
        "delay: start new job once one job has finished, in about 3 min 00 s",
    )
    answer = call(*running, "--new", "time=60s,within=100s")
    assert answer.code == 5
    assert answer.out.startswith("refuse: no way to start the new job meets every deadline")
    assert "would miss its deadline" in answer.out


def test_admission_by_runs(call: Call, runs: Path) -> None:
    given = ("queue", "admit", runs, "--model", "linear", "--running", "executors=2,elapsed=30s,within=400s")
    found = json.loads(call(*given, "--new", "executors=4,within=400s", "--json").out)
    assert found["verdict"] == "admit"
    [old, new] = found["chosen"]["ends"]
    assert found["without"][0]["ends_s"] < old["ends_s"] < 400
    assert new["name"] == "new job (executors=4)"


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("0\n-5\n", 2, "an arrival at -5 s is not possible"),
        ("0\n5\n9\n", 4, "3 arrivals are too few"),
        ("0\nsoon\n", 2, "line 2: 'soon' is not a number of seconds"),
        ("\n", 2, "has no arrival times"),
    ],
)
def test_a_file_that_is_no_stream_is_refused(call: Call, tmp_path: Path, text: str, code: int, words: str) -> None:
    (tmp_path / "come.txt").write_text(text)
    answer = call("queue", "--service-time", "1s", "--arrivals", "come.txt", *SMALL)
    assert answer.code == code
    assert words in answer.err
    assert "hint: " in answer.err


def test_priorities_of_jobs_that_no_run_knows_are_refused(call: Call, runs: Path) -> None:
    answer = call("queue", runs, "--job", "hosts=1,priority=1", "--job", "executors=1", "--arrival-rate", "1/h", *SMALL)
    assert answer.code == 2
    assert "'hosts' is not a factor" in answer.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "the new job is missing"),
        (("--new", "executors=2"), "nothing says how long new job (executors=2) takes"),
        (("--new", "time=3s,executors=2"), "settings mean nothing without runs"),
        (("--new", "time=soon"), "'soon' is not a duration"),
        (("--new", "time=3s", "--confidence", "95"), "confidence is 95"),
    ],
)
def test_a_bad_admission_gets_a_message(call: Call, options: tuple[str, ...], words: str) -> None:
    answer = call("queue", "admit", *options)
    assert answer.code == 2
    assert words in answer.err


def test_runs_that_never_varied_the_number_of_jobs_cannot_tell(call: Call, tmp_path: Path) -> None:
    (tmp_path / "alone.csv").write_text("executors,time_s\n1,30\n2,20\n4,12\n")
    answer = call("queue", "admit", "alone.csv", "--new", "executors=2")
    assert answer.code == 4
    assert "how many jobs ran at once" in answer.err
    unknown = call("queue", "admit", "alone.csv", "--new", "hosts=2", "--role", "executors=jobs")
    assert unknown.code == 2


# ---------------------------------------------------------------- several job classes

URGENT, LONG = "time=30s,share=0.7,priority=1", "time=2m,scv=0.2,share=0.3,width=2,priority=2"


def test_job_classes_are_told_apart_and_priorities_count(call: Call) -> None:
    given = ("queue", "--job", URGENT, "--job", LONG, "--servers", "4", "--arrival-rate", "2/min", *SMALL)
    answer = call(*given)
    assert answer.code == 0
    assert "4 servers, by priority" in answer.out
    assert "job class" in answer.out
    by_priority, in_order = (
        json.loads(call(*given, *more, "--json").out)["simulation"]["classes"]
        for more in ((), ("--discipline", "fifo"))
    )
    assert [one["name"] for one in by_priority] == [URGENT, LONG]
    assert [one["share"] for one in by_priority] == pytest.approx([0.7, 0.3])
    assert by_priority[0]["mean_wait_s"]["value"] < in_order[0]["mean_wait_s"]["value"]


def test_job_classes_can_be_settings_of_runs(call: Call, runs: Path) -> None:
    sorts = ("--job", "executors=1,share=3", "--job", "executors=4,share=1")
    answer = call("queue", runs, *sorts, "--arrival-rate", "10/h", "--json", *SMALL)
    found = json.loads(answer.out)
    assert found["service_time_s"] == pytest.approx((3 * 140 + 50) / 4)
    assert [one["share"] for one in found["simulation"]["classes"]] == [0.75, 0.25]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--job", "30s"), "'30s' is not name=value"),
        (("--job", "time=30s,time=3s"), "time appears twice"),
        (("--job", "time=30s,share=0"), "its share is not above 0"),
        (("--job", "time=30s,share=most"), "share = most is not a number"),
        (("--job", "time=30s,width=1.5"), "width is not an integer"),
        (("--job", "time=30s,width=0"), "holds 0 cores"),
        (("--job", "time=30s,share=0.5", "--job", "time=60s"), "its share is missing, and other classes have one"),
        (("--job", "time=30s,prority=1"), "prority=1: settings mean nothing without runs"),
        (("--job", "time=30s,priority=high"), "priority = high is not a number"),
        (("--job", "share=1"), "nothing says how long a job takes"),
        (("--job", "time=30s", "--service-time", "3s"), "gives the time and the settings of each job class itself"),
    ],
)
def test_a_bad_job_class_gets_a_message(call: Call, options: tuple[str, ...], words: str) -> None:
    answer = call("queue", *options, "--arrival-rate", "1/h", *SMALL)
    assert answer.code == 2
    assert words in answer.err
    assert "hint: " in answer.err


# ---------------------------------------------------------------- stability, deadlines of classes, exact formulas

NARROW, WIDE = "time=60s,share=0.5,width=1", "time=60s,share=0.5,width=5"


def test_jobs_of_different_width_that_saturate_the_cluster_are_refused_with_the_rate_that_is_stable(call: Call) -> None:
    """8 cores would do 2.67/min if none were ever idle; with a line that never ends they do 1.95/min."""
    answer = call("queue", "--job", NARROW, "--job", WIDE, "--servers", "8", "--arrival-rate", "2.5/min", *SMALL)
    assert answer.code == 5
    assert "can do at most 1.9" in answer.err
    assert "at least 10 servers" in answer.err


def test_a_deadline_is_judged_for_each_job_class(call: Call) -> None:
    given = ("queue", "--job", "time=10s,share=0.97", "--job", "time=5m,scv=0,share=0.03", "--servers", "4")
    load = ("--arrival-rate", "2/min", "--slo", "200s", *SMALL)
    answer = call(*given, *load)
    assert answer.out.startswith("4 servers meet the 200 s deadline for 95% of all jobs, but 1 of 2 job classes")
    assert "would miss it" in answer.out
    assert "would miss its deadline even alone" in answer.err
    found = json.loads(call(*given, *load, "--json").out)
    assert (found["meets_slo"], found["servers_needed"]) == (True, None)
    assert [one["meets_slo"] for one in found["simulation"]["classes"]] == [True, False]
    assert found["capacities"][0]["most_rate"] is None


@pytest.mark.parametrize(
    ("options", "method", "mean_s"),
    [
        (("--scv", "0"), "M/D/1", 45.0),
        (("--scv", "2"), "M/G/1", 75.0),
        (("--scv", "2", "--discipline", "fair"), "M/G/1-PS", 60.0),
        (("--servers", "2", "--scv", "0.5"), "simulated", None),
    ],
)
def test_a_formula_that_is_exact_is_the_headline(
    call: Call, options: tuple[str, ...], method: str, mean_s: float | None
) -> None:
    given = ("queue", "--service-time", "30s", "--arrival-rate", "1/min", *options, *SMALL)
    found = json.loads(call(*given, "--json").out)
    assert found["method"] == method
    is_exact = found["mean_response_s"]["low"] == found["mean_response_s"]["high"]
    assert is_exact == (mean_s is not None)
    if mean_s is not None:
        assert found["mean_response_s"]["value"] == pytest.approx(mean_s)
        assert f"response time {mean_s:.4g} s" in call(*given).out


def test_a_system_capacity_says_where_its_formula_is_not_exact(call: Call) -> None:
    given = ("queue", *NUMBERS, "--places", "6", "--details", *SMALL)
    assert "exact, 9.13% rejected" in call(*given).out
    assert "approximation, 9.13% rejected" in call(*given, "--scv", "0.2").out
    refused = call(
        "queue", "--job", NARROW, "--job", WIDE, "--servers", "8", "--arrival-rate", "1/min", "--places", "9"
    )
    assert refused.code == 2
    assert "different width" in refused.err
