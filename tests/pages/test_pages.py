"""What pages answer, without a browser: words, addresses, forms, what is refused."""

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from pages_support import EVIL, a_fleet, a_study, a_table, learn_all
from sparkcast import api
from sparkcast.recommend.browsing import SCORES, browse
from sparkcast.recommend.question import Question
from sparkcast.report.marks import marks_style
from sparkcast.serve.app import create_app
from sparkcast.serve.pages import _words as words
from sparkcast.serve.pages._options import chance_below
from sparkcast.serve.pages._query import RunQuery
from sparkcast.serve.pages._site import POLICY, STATIC
from sparkcast.serve.settings import ServeSettings

LOG = Path(__file__).parent.parent / "data" / "eventlog-3.5-pi.zstd"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("pages")
    settings = ServeSettings((str(a_study(folder)), str(a_table(folder))), workers=0)
    with TestClient(app := create_app(settings), raise_server_exceptions=False) as made:
        learn_all(app)
        yield made


def title_of(client: TestClient, path: str) -> str:
    found = re.search(r"<h1[^>]*>(.*?)</h1>", client.get(path, headers={"accept": "text/html"}).text, re.DOTALL)
    assert found is not None
    return found[1]


def test_no_page_may_run_a_script_that_stands_in_it(client: TestClient) -> None:
    for path in ("/run", "/studies", "/studies/intent-model", "/logs", "/capacity?time=1m&rate=6/h", "/login", "/nope"):
        answer = client.get(path, headers={"accept": "text/html"})
        assert answer.headers["content-security-policy"] == POLICY
        assert "unsafe" not in POLICY
        inside = re.findall(r"<script(?![^>]*src=)([^>]*)>", answer.text)
        assert all('type="application/json"' in attributes for attributes in inside), path
        assert not re.search(r"\son\w+=|\sstyle=|javascript:", answer.text), path


def test_what_people_named_is_escaped_everywhere(client: TestClient) -> None:
    asked = {"job": "runs", "hold.codec": EVIL, "within": EVIL, "pin": EVIL, "budget": EVIL}
    for path in ("/run", "/run/answer"):
        text = client.get(path, params=asked).text
        assert EVIL not in text.replace("\\u003c", "&lt;")
    for path in ("/studies/runs", f"/studies/{EVIL}", f"/run?job={EVIL}", f"/capacity?time={EVIL}&rate={EVIL}"):
        assert EVIL not in client.get(path, headers={"accept": "text/html"}).text, path


def test_the_page_answers_as_the_command_does(client: TestClient, tmp_path: Path) -> None:
    data = api.load_data(a_study(tmp_path))
    for within in (450, 600, 900, 2000):
        expected = api.recommend(data, within_s=within, maximize="accuracy")
        settings = words.settings(expected.chosen.configuration, expected.vocabulary)
        assert title_of(client, f"/run?job=intent-model&within={within}s") == f"Run it with {settings}."


def test_an_address_keeps_the_whole_question() -> None:
    asked = RunQuery.of(
        [
            ("job", "a b"),
            ("within", "45m"),
            ("budget", "$2.50"),
            ("confidence", "90"),
            ("hold.size", "4g"),
            ("running", "2"),
        ]
    )
    again = RunQuery.of([tuple(pair.split("=")) for pair in _unquoted(asked.address())])  # type: ignore[misc]
    assert (again.job, again.within_s, again.budget, again.confidence) == ("a b", 2700.0, 2.5, 0.9)
    assert (again.hold, again.running) == ({"size": "4g"}, 2)


def _unquoted(address: str) -> list[str]:
    from urllib.parse import parse_qsl, urlsplit

    return [f"{name}={value}" for name, value in parse_qsl(urlsplit(address).query)]


@pytest.mark.parametrize(
    ("name", "text"),
    [("within", "soon"), ("within", "-5s"), ("budget", "much"), ("confidence", "0"), ("running", "-1")],
)
def test_a_part_of_an_address_that_makes_no_sense_is_told_and_left_out(name: str, text: str) -> None:
    asked = RunQuery.of([("job", "x"), (name, text)])
    assert len(asked.problems) == 1
    assert asked.problems[0].startswith(f"{name}: ")
    assert (asked.within_s, asked.budget, asked.running) == (None, None, None)


def test_chances_from_the_table_are_those_of_the_model(tmp_path: Path) -> None:
    from sparkcast.api.advisor import Advisor

    advisor = Advisor.of(api.load_data(a_study(tmp_path)))
    table = browse(advisor.recommender, Question(maximize="accuracy"))
    assert len(table.rows) == table.total == 12
    asked, _ = advisor.recommender.standing(Question(maximize="accuracy", within_s=600))
    for within in (200.0, 400.0, 700.0):
        below = asked.tables["time_s"].probability_below(within)
        for one in table.rows:
            row = asked.view.candidates.configurations().index(one.configuration)
            assert chance_below(one.time_s, within) == pytest.approx(below[row], abs=0.01)


def test_of_many_candidates_those_that_can_be_an_answer_are_kept(tmp_path: Path) -> None:
    from sparkcast.api.advisor import Advisor

    advisor = Advisor.of(api.load_data(a_study(tmp_path)))
    whole = browse(advisor.recommender, Question(maximize="accuracy"))
    few = browse(advisor.recommender, Question(maximize="accuracy"), most=6)
    assert len(few.rows) == 6
    assert few.total == 12
    assert few.rows[0].configuration == whole.rows[0].configuration
    fastest = min(whole.rows, key=lambda one: one.time_s[len(SCORES) // 2])
    assert fastest.configuration in [one.configuration for one in few.rows]


def test_what_is_not_known_says_so_in_the_headline_and_which_run_would_tell(client: TestClient) -> None:
    page = client.get("/run?job=runs&hold.input_gb=90000").text
    assert "Not known: input_gb = 90000 is too far from the measured range (50 to 400)." in page
    assert "This run would tell: " in page
    assert "extrapolate" not in page
    assert 'id="options"' not in page


def test_only_a_limit_that_keeps_something_better_out_is_offered_to_be_relaxed(tmp_path: Path) -> None:
    data = api.load_data(a_table(tmp_path))
    for within in (1500, 2400, 4560):
        found = api.recommend(data, within_s=within, fix={"input_gb": 2000}, extrapolate=True)
        assert all(one.needed > one.limit.value for one in found.alternatives)


def test_the_first_to_ask_sees_that_it_is_being_learned(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparkcast.serve.pages.run.is_learned", lambda *_: False)
    answer = client.get("/run?job=runs")
    assert answer.status_code == 202
    assert "Learning from the runs of runs." in answer.text
    assert 'http-equiv="refresh"' in answer.text


def test_an_error_of_the_server_is_a_page_that_tells_nothing_of_it(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("/home/secret/path")

    monkeypatch.setattr("sparkcast.serve.pages.run.view_of", broken)
    answer = client.get("/run?job=runs", headers={"accept": "text/html"})
    assert answer.status_code == 500
    assert "Something went wrong." in answer.text
    assert "secret" not in answer.text
    assert answer.headers["content-security-policy"] == POLICY


# ---------------------------------------------------------------- an answer as it was given


def test_an_answer_is_kept_as_it_was_given_and_a_newer_one_is_offered(client: TestClient) -> None:
    asked = "/run?job=intent-model&within=1200s"
    token = token_of(client)
    kept = client.post("/a", data={"token": token, "asked": asked}, headers={"accept": "application/json"}).json()
    assert (
        kept == client.post("/a", data={"token": token, "asked": asked}, headers={"accept": "application/json"}).json()
    )
    assert title_of(client, kept["href"]) == title_of(client, asked)
    assert "newer answer" not in client.get(kept["href"]).text
    rows = client.app.state.service.rows  # type: ignore[attr-defined]
    study, document = rows.kept_answer(kept["href"].removeprefix("/a/"))
    rows.keep_answer("older", study, {**document, "digest": "of other runs", "runs": 20})
    assert "4 runs came in since." in client.get("/a/older").text


def test_an_answer_is_kept_only_from_a_page_of_ours(client: TestClient) -> None:
    asked = "/run?job=intent-model&within=1200s"
    assert client.post("/a", data={"asked": asked, "token": "x" * 43}).status_code == 422
    assert client.post("/a", data={"asked": "https://evil.example", "token": token_of(client)}).status_code == 422
    assert client.get("/a/nothing", headers={"accept": "text/html"}).status_code == 404


# ---------------------------------------------------------------- recurring jobs


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    from sparkcast.study import Price

    settings = ServeSettings(
        store=str(a_fleet(tmp_path_factory.mktemp("fleet") / "team.sqlite")),
        workers=0,
        price=Price(core_hour=0.05, gib_hour=0.006),
        deadlines={"features-nightly": 900.0, "ranker-train": 1200.0},
    )
    with TestClient(app := create_app(settings)) as made:
        learn_all(app)
        yield made


def test_the_list_tells_savings_in_money_and_which_deadlines_are_at_risk(jobs: TestClient) -> None:
    page = jobs.get("/").text
    assert re.search(r"1 job could cost about \$\d+\.\d\d less a month\. Two jobs need a look\. One deadline is", page)
    assert "1 of 2 jobs is safe: at least 95 in 100." in page
    assert "Set a price" not in page
    assert jobs.get("/?show=deadline").text.count('class="jn"') == 1


def test_a_job_whose_deadline_is_at_risk_is_offered_no_saving(jobs: TestClient) -> None:
    page = jobs.get("/jobs/features-nightly").text
    assert "Deadline at risk." in page
    assert "deadline 15 min" in page
    assert "What should I change?" not in page
    assert page.count("p-work") >= 3  # before, since, and in the table


def test_of_one_run_its_parts_are_told_and_no_history(jobs: TestClient) -> None:
    page = jobs.get("/jobs/ab-readout").text
    assert 'id="history"' not in page
    assert "Where does the time go?" in page
    assert "its only run: " in page


def test_of_a_few_runs_no_forecast_is_told(jobs: TestClient) -> None:
    page = jobs.get("/jobs/geo-enrich").text
    assert "3 runs: too few for a forecast of each" in page
    assert "forecast 9" not in page


# ---------------------------------------------------------------- forms


def token_of(client: TestClient) -> str:
    found = re.search(r'name="token" value="([^"]+)"', client.get("/logs").text)
    assert found is not None
    return found[1]


def test_a_log_is_read_only_from_a_form_of_ours(client: TestClient) -> None:
    files = {"log": ("log.zstd", LOG.read_bytes())}
    assert client.post("/logs", files=files).status_code == 422
    token = token_of(client)
    assert client.post("/logs", files=files, data={"token": token[:-1] + "x"}).status_code == 422
    elsewhere = client.post("/logs", files=files, data={"token": token}, headers={"origin": "https://evil.example"})
    assert elsewhere.status_code == 403
    answer = client.post("/logs", files=files, data={"token": token})
    assert answer.status_code == 200
    assert "Which value to set?" in answer.text


def test_nothing_of_an_upload_is_left(client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    token = token_of(client)
    answer = client.post("/logs", files={"log": ("../../x.zstd", LOG.read_bytes())}, data={"token": token})
    assert answer.status_code == 200
    assert [*tmp_path.rglob("*")] == []
    assert str(tmp_path) not in answer.text


def test_an_upload_that_is_too_large_is_refused(tmp_path: Path) -> None:
    settings = ServeSettings((str(a_table(tmp_path)),), workers=0, max_body_bytes=1000)
    with TestClient(create_app(settings)) as client:
        token = token_of(client)
        answer = client.post("/logs", files={"log": ("l", b"x" * 5000)}, data={"token": token})
        assert answer.status_code == 413


def test_files_are_sent_with_their_type_and_others_not_at_all(client: TestClient) -> None:
    page = client.get("/logs").text
    style = re.search(r'href="(/static/[^"]+page\.css)"', page)
    assert style is not None
    found = client.get(style[1])
    assert found.headers["content-type"].startswith("text/css")
    assert "immutable" in found.headers["cache-control"]
    assert "--pred:" in found.text
    assert client.get("/static/x/../run.py").status_code == 404
    assert client.get("/static/x/secrets.txt").status_code == 404


# ---------------------------------------------------------------- colors and words


def _luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(first: str, second: str) -> float:
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_texts_and_marks_stand_out_in_both_themes(theme: int) -> None:
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", marks_style())
    color = {name: themes[theme] for name, *themes in found}
    for name in ("ink", "soft", "pred", "bad", "ok", "doubt"):
        assert _contrast(color[name], color["page"]) >= 4.5, name
    for name in ("ink", "pred", "bad"):
        assert _contrast(color[name], color["band"]) >= 3, name
    assert _contrast(color["edge"], color["page"]) >= 3


def test_no_style_or_script_asks_another_machine() -> None:
    for file in STATIC.iterdir():
        text = re.sub(r"http://www\.w3\.org/\d+/svg", "", file.read_text())
        assert not re.search(r"https?://|@import|url\((?!data:)", text), file.name


@given(st.floats(0.0, 1.0))
def test_a_chance_is_never_rounded_up(chance: float) -> None:
    told = words.in_hundred(chance)
    if told[0].isdigit():
        assert int(told.split()[0]) / 100 <= chance + 1e-9


@given(st.floats(1e-3, 1e6))
def test_a_time_is_told_to_within_a_few_percent(seconds: float) -> None:
    told = words.duration(seconds)
    units = {"s": 1, "min": 60, "h": 3600}
    parts = told.split()
    total = sum(float(number) * units[unit] for number, unit in zip(parts[::2], parts[1::2], strict=True))
    assert math.isclose(total, seconds, rel_tol=0.05)


@given(st.floats(1, 1e5), st.floats(1.5, 100))
def test_sliders_have_few_round_steps_that_cover_their_range(low: float, ratio: float) -> None:
    steps = words.nice_seconds(low, low * ratio, 100)
    assert 2 <= len(steps) <= 130
    assert steps[-1] >= low * ratio * 0.999
