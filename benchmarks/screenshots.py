"""Every page and state of `sparkcast serve`, as docs/guides/page-states.md shows them: wide and light, narrow and dark.

    python benchmarks/screenshots.py [NAME]...

Needs Chromium, playwright and Pillow. Jobs, studies and their numbers are made up by tests/pages_support.py.
"""

import io
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from pages_support import a_fleet, a_study, a_table, chromium, service
from sparkcast.study import Price

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images" / "pages"
LOG = ROOT / "tests" / "data" / "eventlog-3.5-pi.zstd"
SHOTS = {  # name: which service, and the address
    "jobs": ("fleet", "/"),
    "jobs-none-found": ("fleet", "/?find=nothing-like-this"),
    "job-slower": ("fleet", "/jobs/features-nightly"),
    "job-saving": ("fleet", "/jobs/ranker-train"),
    "job-unusual": ("fleet", "/jobs/clickstream-sessions"),
    "job-few-runs": ("fleet", "/jobs/geo-enrich"),
    "job-one-run": ("fleet", "/jobs/ab-readout"),
    "job-stale": ("fleet", "/jobs/search-index"),
    "run": ("site", "/run?job=intent-model&within=20m"),
    "run-compared": ("site", "/run?job=intent-model&within=20m&pin=4+%C2%B7+512&pin=2+%C2%B7+256"),
    "run-refused": ("site", "/run?job=intent-model&within=5m&budget=1"),
    "run-unknown": ("site", "/run?job=runs&hold.input_gb=90000"),
    "run-extrapolated": ("site", "/run?job=runs&hold.input_gb=2000&far=1"),
    "run-no-results": ("site", "/run?job=not-begun"),
    "studies": ("site", "/studies"),
    "study": ("site", "/studies/intent-model"),
    "study-running": ("site", "/studies/half-done"),
    "study-not-begun": ("site", "/studies/not-begun"),
    "log-form": ("site", "/logs"),
    "log": ("site", "/logs"),
    "capacity": ("site", "/capacity"),
    "capacity-refused": ("site", "/capacity?time=2m&rate=600/h&servers=2&within=10m&share=95"),
    "login": ("site", "/login"),
    "no-such-page": ("site", "/no-such-page"),
    "empty": ("empty", "/"),
}
LOOKS = ((1280, "light", 900), (390, "dark", 390))  # width, scheme, and width of the picture
MOST_HEIGHT, COLORS = 1700, 96


def main() -> None:
    wanted = sys.argv[1:] or [*SHOTS]
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        studies = [a_study(folder), a_study(folder, "half-done", done=9), a_study(folder, "not-begun", done=0)]
        deadlines = {"features-nightly": 900.0, "ranker-train": 1200.0, "ads-attribution": 840.0}
        price, store = Price(core_hour=0.05, gib_hour=0.006), a_fleet(folder / "team.sqlite")
        addresses = {
            "site": stack.enter_context(service(*studies, a_table(folder))),
            "fleet": stack.enter_context(service(store=store, price=price, deadlines=deadlines)),
            "empty": stack.enter_context(service()),
        }
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        for shot in wanted:
            which, path = SHOTS[shot]
            for width, scheme, shown in LOOKS:
                keep(take(browser, shot, addresses[which] + path, width, scheme), f"{shot}-{width}", shown)
        browser.close()


def take(browser: Browser, shot: str, address: str, width: int, scheme: str) -> Image.Image:
    page = browser.new_page(viewport={"width": width, "height": 700}, color_scheme=scheme)  # type: ignore[arg-type]
    page.set_default_timeout(240_000)
    page.goto(address)
    if shot in ("study", "study-running"):
        page.wait_for_selector("html[data-ready]")
    if shot == "log":
        page.set_input_files("#log-file", LOG)
        page.click("text=Profile it")
        page.wait_for_selector("#h-whatif")
    found = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    page.close()
    return found.crop((0, 0, found.width, min(found.height, MOST_HEIGHT)))


def keep(picture: Image.Image, name: str, width: int) -> None:
    """Small: few colors, and no wider than it is shown."""
    if picture.width > width:
        picture = picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)
    file = IMAGES / f"{name}.png"
    picture.quantize(COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.name} {file.stat().st_size // 1024} kB", flush=True)


if __name__ == "__main__":
    main()
