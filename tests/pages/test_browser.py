"""Every page and state in a real Chromium: wide and narrow, light and dark, with the keyboard, on paper."""

import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pages_support import EVIL, a_fleet, a_study, a_table, chromium, service

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSER = chromium()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("playwright") is None, reason="playwright is not installed"),
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine: apt-get install chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
LOG = Path(__file__).parent.parent / "data" / "eventlog-3.5-pi.zstd"
WIDTHS, SCHEMES = (1280, 390), ("light", "dark")
CHECKED = ((1280, "dark"), (390, "light"))  # with axe-core, which takes a while


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    studies = [a_study(folder), a_study(folder, "half-done", done=9), a_study(folder, "not-begun", done=0)]
    with service(*studies, a_table(folder)) as address:
        yield address


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    deadlines = {"features-nightly": 900.0, "ads-attribution": 1200.0, "ranker-train": 1200.0}
    with service(store=a_fleet(tmp_path_factory.mktemp("fleet") / "team.sqlite"), deadlines=deadlines) as address:
        yield address


@pytest.fixture(scope="module")
def empty_site() -> Iterator[str]:
    with service() as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=BROWSER,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
        )
        yield started
        started.close()


class Watched:
    """A page that remembers what went wrong."""

    def __init__(self, browser: "Browser", width: int = 1280, scheme: Any = "light", **more: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **more)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.complaints: list[str] = []
        self.addresses: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.addresses.append(request.url))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))

    def close(self) -> None:
        self.context.close()


@pytest.fixture
def watch(browser: "Browser") -> Iterator[Callable[..., Watched]]:
    opened: list[Watched] = []

    def make(width: int = 1280, scheme: str = "light", **more: Any) -> Watched:
        opened.append(Watched(browser, width, scheme, **more))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


# What is looked at: a page, and the heading that it must have.
PAGES = {
    "/run?job=intent-model": r"Run it with \d executors?, batch size \d+\.",
    "/run?job=intent-model&within=20m&budget=any": r"Run it with",
    "/run?job=intent-model&within=1m": r"Nothing keeps 1 min in 95 of 100 runs\.",
    "/run?job=intent-model&within=5m&budget=0.05": r"Nothing keeps 5 min and .* in 95 of 100 runs\.",
    "/run?job=runs&hold.input_gb=90000": r"Not known: input_gb = 90000 is too far",
    "/run?job=runs&hold.input_gb=2000&far=1": r"Run it with",
    "/run?job=not-begun": r"Not known: not-begun has no results yet\.",
    "/run?job=intent-model&within=soon": r"Run it with",
    "/studies": r"4 studies|1 study of 4 is running",
    "/studies/half-done": r"9 of 24 runs are done\. Running now: .*\.",
    "/studies/not-begun": r"0 of 24 runs are done\. No run is going on\.",
    "/logs": r"Where did the time of a run go",
    "/capacity?time=2m&rate=6/h&servers=2&within=10m&share=95": r"2 servers meet the 10 min deadline",
    "/capacity?time=2m&rate=600/h&servers=2&within=10m&share=95": r"This cannot be answered\.",
    "/login": r"This service needs a token\.",
    "/no-such-page": r"There is no such page\.",
    "/run?job=no-such-job": r"There is no such page\.",
}


# The same of a store of recurring jobs.
JOB_PAGES = {
    "/": r"1 job could take about \d+ core-hours less a month\. Two jobs need a look\. One deadline is at risk\.",
    "/?show=deadline": r"1 job could take",
    "/?show=few&sort=job": r"1 job could take",
    "/?find=nothing-like-this": r"1 job could take",
    "/jobs/features-nightly": r"features-nightly is \d+% slower since November \d+\.",
    "/jobs/ranker-train": r"ranker-train could take about \d+ core-hours less a month\.",
    "/jobs/clickstream-sessions": r"clickstream-sessions took unusually long: 2\d min\.",
    "/jobs/geo-enrich": r"geo-enrich: 3 runs, so the forecast is wide and raises no alarms yet\.",
    "/jobs/ab-readout": r"ab-readout: 1 run, so nothing to compare it with yet\.",
    "/jobs/search-index": r"search-index: its last log is of November \d+\.",
    "/jobs/%C5%81%C3%B3d%C5%BA%20%E2%86%92%20%C3%BCbersicht": r"Łódź → übersicht runs as forecast",
    "/jobs/none-of-these": r"There is no such page\.",
}


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_whole_wide_and_narrow_light_and_dark(
    site: str, watch: Callable[..., Watched], path: str
) -> None:
    look_at(site, path, PAGES[path], watch)


@pytest.mark.parametrize("path", JOB_PAGES)
def test_every_page_about_jobs_is_whole_too(fleet: str, watch: Callable[..., Watched], path: str) -> None:
    look_at(fleet, path, JOB_PAGES[path], watch)


def look_at(site: str, path: str, title: str, watch: Callable[..., Watched]) -> None:
    is_error = title.startswith("There is no")
    for width in WIDTHS:
        for scheme in SCHEMES:
            one = watch(width, scheme)
            one.page.goto(site + path)
            heading = one.page.locator("h1")
            assert heading.count() == 1
            assert re.search(title, heading.inner_text()), heading.inner_text()
            assert one.page.evaluate("document.documentElement.scrollWidth") <= width, f"{width}: scrolls sideways"
            complaints = [text for text in one.complaints if not (is_error and "404" in text)]
            assert complaints == [], f"{width} {scheme}"
            assert {address for address in one.addresses if not address.startswith((site, "data:"))} == set()
            if (width, scheme) in CHECKED:
                assert problems_of(one.page) == [], f"{width} {scheme}"
            one.close()


def problems_of(page: "Page") -> list[str]:
    """What axe-core finds, with the places."""
    axe = find_spec("axe_playwright_python")
    if axe is None or not axe.submodule_search_locations:
        pytest.skip("axe-core is not installed: pip install --no-deps axe-playwright-python")
    page.evaluate((Path(axe.submodule_search_locations[0]) / "axe.min.js").read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{one['id']}: {one['nodes'][0]['target']} {one['nodes'][0]['html'][:160]}" for one in found["violations"]]


def test_a_service_without_runs_says_what_to_do_first(empty_site: str, watch: Callable[..., Watched]) -> None:
    for width in WIDTHS:
        one = watch(width)
        one.page.goto(empty_site)
        assert one.page.locator("h1").inner_text() == "No runs yet."
        assert "sparkcast init" in one.page.locator("pre").inner_text()
        assert [link.inner_text() for link in one.page.locator("nav a").all()] == ["Profile a log", "Capacity"]
        assert problems_of(one.page) == []
        assert one.complaints == []


def test_a_study_page_shows_effects_trust_and_front(site: str, watch: Callable[..., Watched]) -> None:
    for width, scheme in ((1280, "light"), (390, "dark")):
        one = watch(width, scheme)
        one.page.goto(f"{site}/studies/intent-model")
        one.page.wait_for_selector("html[data-ready]", timeout=240_000)
        assert one.page.locator("h1").inner_text() == "All 24 runs are done, none failed."
        assert one.page.locator("section.part svg:visible").count() >= 4
        assert one.page.locator("#runs tbody tr").count() == 24
        assert one.page.evaluate("document.documentElement.scrollWidth") <= width
        assert one.complaints == []
        assert problems_of(one.page) == [], scheme


def test_names_that_are_markup_are_shown_as_they_are(site: str, watch: Callable[..., Watched]) -> None:
    one = watch()
    one.page.goto(f"{site}/run?job=runs&hold.codec={EVIL}")
    assert EVIL in one.page.locator("h1").inner_text()
    assert one.page.locator("script:not([src])").evaluate_all(
        "all => all.every(one => one.type === 'application/json')"
    )
    one.page.goto(f"{site}/studies/runs")
    assert EVIL in one.page.locator("#runs").inner_text()
    one.page.goto(f"{site}/run?job={EVIL}")
    assert one.complaints == ["Failed to load resource: the server responded with a status of 404 (Not Found)"]


# ---------------------------------------------------------------- moving limits


def test_the_browser_answers_as_the_server_does(site: str, watch: Callable[..., Watched]) -> None:
    """Wherever the sliders stand: the same row is ringed before and after the server was asked."""
    one = watch()
    page = one.page
    page.goto(f"{site}/run?job=intent-model")
    steps = {name: int(page.locator(f"#r-{name}").get_attribute("max") or 0) for name in ("within", "budget")}
    compared = 0
    for within in range(steps["within"] // 12, steps["within"] + 1, max(1, steps["within"] // 8)):
        for budget in (steps["budget"] // 3, steps["budget"] // 2, steps["budget"]):
            with page.expect_response(re.compile("/run/answer")) as reply:
                at = page.evaluate(
                    """([within, budget]) => {
                        for (const [name, value] of [["within", within], ["budget", budget]]) {
                            const range = document.getElementById("r-" + name);
                            range.value = value;
                            range.dispatchEvent(new Event("input"));
                        }
                        return sparkcastRun.chosen();
                    }""",
                    [within, budget],
                )
            answer = reply.value.json()
            is_answer = page.evaluate("document.getElementById('title').textContent.startsWith('Run it')")
            assert is_answer == (answer["kind"] == "answer"), (within, budget)
            if answer["kind"] == "answer":
                assert at == answer["at"], (within, budget)
                compared += 1
    assert compared > 5
    assert one.complaints == []


def test_a_slider_moved_with_the_keyboard_changes_answer_and_address(site: str, watch: Callable[..., Watched]) -> None:
    one = watch()
    page = one.page
    page.goto(f"{site}/run?job=intent-model&within=30m")
    page.locator("#r-within").focus()
    before = page.locator("#r-within").get_attribute("aria-valuetext")
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    assert page.locator("#r-within").get_attribute("aria-valuetext") != before
    page.wait_for_function("() => !location.search.includes('within=30m') && !location.search.includes('within=1800s')")
    asked = page.locator("#title").inner_text()
    again = watch()
    again.page.goto(page.url)  # the address asks the same
    assert again.page.locator("#title").inner_text() == asked


def test_the_main_path_needs_no_mouse(site: str, watch: Callable[..., Watched]) -> None:
    one = watch(permissions=["clipboard-read", "clipboard-write"])
    page = one.page
    page.goto(f"{site}/run?job=intent-model&within=20m")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("j")  # the first candidate
    assert page.evaluate("document.activeElement.name") == "pin"
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("#pins table")
    assert "pin=" in page.url
    page.locator("#title").focus()
    page.keyboard.press("c")
    page.wait_for_function("() => document.getElementById('said').textContent === 'Copied'")
    assert "spark.executor.instances" in page.evaluate("navigator.clipboard.readText()")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    assert one.complaints == []


def test_without_javascript_the_same_address_gives_the_same_answer(site: str, watch: Callable[..., Watched]) -> None:
    path = "/run?job=intent-model&within=1200s&budget=any"
    with_script, without = watch(), watch(java_script_enabled=False)
    for one in (with_script, without):
        one.page.goto(site + path)
    assert with_script.page.locator("#title").inner_text() == without.page.locator("#title").inner_text()
    without.page.fill("#t-within", "10m")
    without.page.click("text=Answer")
    assert "within=10m" in without.page.url
    without.page.goto(f"{site}/studies/intent-model")
    without.page.locator("text=Show").first.click()
    assert without.page.locator("h1").inner_text() == "What was measured?"


def test_a_refusal_offers_the_nearest_that_works(site: str, watch: Callable[..., Watched]) -> None:
    one = watch()
    one.page.goto(f"{site}/run?job=intent-model&within=1m")
    assert "The nearest that works needs" in one.page.locator("#why").inner_text()
    one.page.locator("#notes a.button").first.click()
    assert one.page.locator("#title").inner_text().startswith("Run it with")


def test_when_the_service_is_gone_the_page_keeps_answering(site: str, watch: Callable[..., Watched]) -> None:
    one = watch()
    one.page.goto(f"{site}/run?job=intent-model")
    one.page.route("**/run/answer**", lambda route: route.abort())
    before = one.page.locator("#title").inner_text()
    one.page.locator("#r-within").focus()
    one.page.keyboard.press("Home")
    one.page.wait_for_function("() => document.getElementById('wait').textContent.startsWith('Not updated since')")
    assert one.page.locator("#title").inner_text() != before


def test_a_theme_that_was_chosen_stays(site: str, watch: Callable[..., Watched]) -> None:
    one = watch()
    one.page.goto(f"{site}/studies")
    light = one.page.evaluate("getComputedStyle(document.body).backgroundColor")
    one.page.click("#theme")
    one.page.goto(f"{site}/logs")
    assert one.page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert one.page.locator("#theme").get_attribute("aria-label") == "Switch to light theme"


def test_on_paper_there_are_no_controls(site: str, watch: Callable[..., Watched]) -> None:
    one = watch()
    one.page.goto(f"{site}/run?job=intent-model")
    one.page.emulate_media(media="print")
    assert not one.page.locator("nav").is_visible()
    assert not one.page.locator("#controls").is_visible()
    assert one.page.locator("#title").is_visible()
    assert one.page.locator("#options").is_visible()
    assert len(one.page.pdf()) > 10_000


def test_a_study_on_paper_has_its_pictures(site: str, watch: Callable[..., Watched]) -> None:
    """The paper is narrower than the screen, and what was drawn for the screen must not go."""
    one = watch()
    one.page.goto(f"{site}/studies/intent-model")
    one.page.wait_for_selector("html[data-ready]", timeout=240_000)
    drawn = one.page.locator("section.part svg:visible").count()
    one.page.emulate_media(media="print")
    one.page.set_viewport_size({"width": 720, "height": 900})
    one.page.wait_for_timeout(300)
    assert one.page.locator("section.part svg:visible").count() >= drawn >= 4
    assert one.page.evaluate("document.documentElement.scrollWidth") <= 720


def test_a_link_to_an_answer_keeps_it_as_it_was_given(site: str, watch: Callable[..., Watched]) -> None:
    one = watch(permissions=["clipboard-read", "clipboard-write"])
    page = one.page
    page.goto(f"{site}/run?job=intent-model&within=20m")
    title = page.locator("#title").inner_text()
    page.click("text=Copy a link to this answer")
    page.wait_for_function("() => document.getElementById('said').textContent === 'Copied'")
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(f"{site}/a/[0-9a-f]{{16}}", link)
    page.goto(link)
    assert page.locator("h1").inner_text() == title
    assert "from 24 runs" in page.locator("main").inner_text()
    page.click("text=Open it with its limits")
    assert page.locator("#title").inner_text() == title
    assert problems_of(page) == []
    assert one.complaints == []


def test_at_200_percent_and_320_pixels_nothing_scrolls_sideways(site: str, watch: Callable[..., Watched]) -> None:
    one = watch(320)
    for path in ("/run?job=intent-model", "/studies", "/logs", "/capacity"):
        one.page.goto(site + path)
        assert one.page.evaluate("document.documentElement.scrollWidth") <= 320, path


def test_progress_of_a_running_study_is_told_as_it_happens(tmp_path: Path, watch: Callable[..., Watched]) -> None:
    from sparkcast import api
    from sparkcast.store import open_store, results_folder
    from sparkcast.study import Observation

    file = a_study(tmp_path, "live", done=6)
    with service(file) as address:
        one = watch()
        one.page.goto(f"{address}/studies/live")
        one.page.wait_for_function("() => document.getElementById('progress-text').textContent.startsWith('6 of 24')")
        study = api.load_study(file)
        trial = api.plans.make_plan(study).trials[7]
        store = open_store(results_folder(file))
        run_id, _ = store.begin_run("live", trial)
        store.finish_run("live", trial, Observation(trial.configuration, {"time_s": 9.0}, run_id=run_id))
        store.close()
        one.page.wait_for_function("() => document.getElementById('progress-text').textContent.startsWith('7 of 24')")
        one.page.goto("about:blank")


# ---------------------------------------------------------------- jobs and logs


def test_the_history_of_a_job_is_read_with_the_keyboard(fleet: str, watch: Callable[..., Watched]) -> None:
    for width in WIDTHS:
        one = watch(width)
        one.page.goto(f"{fleet}/jobs/features-nightly")
        assert "runs since November" in one.page.locator("#reading").inner_text()
        one.page.locator("#history").focus()
        one.page.keyboard.press("End")
        last = one.page.locator("#reading").inner_text()
        one.page.keyboard.press("ArrowLeft")
        assert one.page.locator("#reading").inner_text() != last
        assert re.search(r"November \d+: .* forecast .* longer than forecast", last)
        assert one.page.locator("#history").get_attribute("aria-valuetext") != ""
        one.page.mouse.move(width / 2, one.page.locator("#history").bounding_box()["y"] + 60)  # type: ignore[index]
        assert one.complaints == []


def test_jobs_are_found_filtered_and_sorted(fleet: str, watch: Callable[..., Watched]) -> None:
    one = watch()
    page = one.page
    page.goto(fleet)
    assert page.locator("tbody tr .jn").first.inner_text() == "ranker-train"
    page.keyboard.press("/")
    page.keyboard.type("features")
    page.wait_for_function("() => document.querySelectorAll('#live tbody tr').length === 1")
    assert "find=features" in page.url
    page.goto(f"{fleet}/?show=few")
    assert {row.inner_text() for row in page.locator("tbody tr .jn").all()} == {"geo-enrich", "ab-readout"}
    page.locator("th a", has_text="Job and change").click()
    assert page.locator("th[aria-sort]").inner_text().startswith("Job and change")
    with page.expect_download() as download:
        page.click("text=CSV")
    assert Path(download.value.path()).read_text().startswith("job,user,queue,runs")


def test_a_log_is_profiled_and_not_kept(site: str, watch: Callable[..., Watched], tmp_path: Path) -> None:
    evil = tmp_path / "<img src=x onerror=alert(1)>.zstd"
    evil.write_bytes(LOG.read_bytes())
    for width in WIDTHS:
        one = watch(width)
        one.page.goto(f"{site}/logs")
        one.page.set_input_files("#log-file", evil)
        one.page.click("text=Profile it")
        one.page.wait_for_selector("#h-whatif")
        assert "took" in one.page.locator("h1").inner_text()
        assert one.page.evaluate("document.documentElement.scrollWidth") <= width
        assert one.complaints == []
        if width == 1280:
            assert problems_of(one.page) == []


def test_a_file_that_is_no_log_gets_a_clear_answer(site: str, watch: Callable[..., Watched], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a log\n")
    one = watch()
    one.page.goto(f"{site}/logs")
    one.page.set_input_files("#log-file", tmp_path / "notes.txt")
    one.page.click("text=Profile it")
    one.page.wait_for_url("**/logs")
    assert one.page.locator("h1").inner_text() in ("This cannot be answered.", "This did not work.")
