"""How quick the pages are: first paint and weight with many jobs in the store, and the slider's answer in a browser.

    python benchmarks/page.py --jobs 1000 --runs 100   # in a browser; needs Chromium and playwright
    python benchmarks/page.py --jobs 1000 --cpu        # CPU time of the server alone, whatever else runs

Forecasts of many histories take minutes; `--cpu` repeats those of eight jobs under other names instead.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from pages_support import a_fleet, a_study, chromium, learn_all, service

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

_MOVES = 60
_BAR_MS, _PAINT_MS = 100.0, 1000.0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--runs", type=int, default=20, help="of each job")
    parser.add_argument("--cpu", action="store_true", help="measure CPU time of the server instead of a browser")
    given = parser.parse_args()
    if given.cpu:
        measure_cpu(given.jobs)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.perf_counter()
        store = a_fleet(folder / "team.sqlite", usual=given.jobs - 8, runs=given.runs)
        print(f"store of {given.jobs} jobs, {given.jobs * given.runs:,} runs, in {time.perf_counter() - began:.0f} s")
        with service(a_study(folder), store=store) as address:
            measure(address, given.jobs)


def measure_cpu(n_jobs: int) -> None:
    """Median of a few answers, each after another one has warmed it up."""
    from fastapi.testclient import TestClient

    from sparkcast.serve.app import create_app
    from sparkcast.serve.settings import ServeSettings

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = ServeSettings((str(a_study(folder)),), str(a_fleet(folder / "team.sqlite")), workers=0)
        with TestClient(app := create_app(settings)) as client:
            learn_all(app)
            keeper = app.state.board
            board = keeper.board
            numbers = range(n_jobs)
            stories = tuple(
                replace(board.stories[k % len(board.stories)], name=f"job-{k:04d}") if k >= len(board.stories) else s
                for k, s in ((k, board.stories[k % len(board.stories)]) for k in numbers)
            )
            keeper.board = replace(board, stories=stories, sparks=tuple(board.sparks[k % 8] for k in numbers))
            slider = "/run/answer?job=intent-model&within={}s"
            paths = (
                "/",
                f"/?n={n_jobs}",
                "/jobs/features-nightly",
                "/run?job=intent-model",
                slider,
                "/studies",
                "/logs",
            )
            print(f"{n_jobs:,} jobs\n{'page':<44} {'CPU':>8} {'weight':>9}")
            for path in paths:
                took, size = zip(*(_answered(client, path.format(300 + 10 * k)) for k in range(6)), strict=True)
                print(f"{path:<44} {1000 * median(took[1:]):>5.0f} ms {size[-1] / 1024:>6.0f} kB")


def _answered(client: "TestClient", path: str) -> tuple[float, int]:
    began = time.process_time()
    answer = client.get(path)
    assert answer.status_code == 200, answer.text[:200]
    return time.process_time() - began, len(answer.content)


def measure(address: str, n_jobs: int) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        began = time.perf_counter()
        while True:
            page.goto(address)
            if "Reading the histories" not in page.locator("h1").inner_text():
                break
            page.wait_for_timeout(2000)
        print(f"all histories forecast after {time.perf_counter() - began:.0f} s (once, in the background)")
        print(f"{'page':<34} {'first paint':>12} {'answer':>9} {'weight':>9}")
        paths = ["/", f"/?n={n_jobs}", "/jobs/features-nightly", "/run?job=intent-model", "/studies", "/logs"]
        for path in paths:
            show_page(page, address, path)
        show_slider(page, address)
        browser.close()


def show_page(page: "object", address: str, path: str) -> None:
    from playwright.sync_api import Page

    assert isinstance(page, Page)
    paints, answers, weight = [], [], 0
    for _ in range(5):
        page.goto(address + path)
        page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length > 0")
        paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        entry = page.evaluate("performance.getEntriesByType('navigation')[0].toJSON()")
        answers.append(entry["responseEnd"] - entry["requestStart"])
        weight = int(entry["decodedBodySize"])
    note = "" if median(paints) < _PAINT_MS else f"  misses {_PAINT_MS:.0f} ms"
    print(f"{path:<34} {median(paints):>9.0f} ms {median(answers):>6.0f} ms {weight / 1024:>6.0f} kB{note}")


def show_slider(page: "object", address: str) -> None:
    """From the event to the frame in which the answer is drawn."""
    from playwright.sync_api import Page

    assert isinstance(page, Page)
    page.goto(f"{address}/run?job=intent-model")
    page.wait_for_selector("#r-within")
    found = page.evaluate(
        """async (moves) => {
            const range = document.getElementById("r-within"), took = [], server = [];
            for (let k = 0; k < moves; k++) {
                const began = performance.now();
                range.value = Math.round(range.max * (0.15 + 0.7 * ((k * 37) % moves) / moves));
                range.dispatchEvent(new Event("input"));
                const local = performance.now() - began;
                await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
                took.push(performance.now() - began);
                server.push(local);
            }
            return [took, server];
        }""",
        _MOVES,
    )
    painted, computed = found
    p95 = quantiles(painted, n=20)[-1]
    told = "keeps" if p95 < _BAR_MS else "misses"
    print(f"slider, {_MOVES} moves: median {median(painted):.1f} ms to paint, 95% below {p95:.1f} ms", end="")
    print(f" ({told} {_BAR_MS:.0f} ms); of that {median(computed):.1f} ms in the script")
    served = []
    for k in range(_MOVES // 3):
        began = time.perf_counter()
        page.request.get(f"{address}/run/answer?job=intent-model&within={300 + 20 * k}s")
        served.append(1000 * (time.perf_counter() - began))
    print(f"asking the server instead: median {median(served):.1f} ms, 95% below {quantiles(served, n=20)[-1]:.1f} ms")


if __name__ == "__main__":
    main()
