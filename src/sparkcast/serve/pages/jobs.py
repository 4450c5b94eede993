"""The recurring jobs: what could be saved and what needs a look, and the story of each."""

import io
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from sparkcast.history.savings import Saving
from sparkcast.history.stories import ENOUGH, JobStory, StoryRun
from sparkcast.plain import to_json
from sparkcast.report.histories import FEWEST_DRAWN, WIDE_RUNS, day, history
from sparkcast.report.shares import TimeBar, swatch, time_bars
from sparkcast.serve.pages import _words as words
from sparkcast.serve.pages._board import JobBoard, keeper_of
from sparkcast.serve.pages._errors import PageRoute
from sparkcast.serve.pages._joblist import (
    FILTERS,
    MORE,
    JobLine,
    ListQuery,
    cause_sentence,
    cause_text,
    found_in,
    is_slower,
    lines_of,
    look_sentence,
    sums_of,
    together,
)
from sparkcast.serve.pages._site import HEADERS, asking_of, show
from sparkcast.study.names import COST
from sparkcast.study.spreadsheet import escaped

job_pages = APIRouter(route_class=PageRoute)

_SOON_S = 2.0  # a small store is read in that time, and nobody sees a page that waits
_SHOWN_RUNS = 200


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part of the time before a change and since."""

    name: str
    before: float
    since: float

    @property
    def more(self) -> float:
        return self.since - self.before


def board_of(request: Request) -> JobBoard | None:
    keeper = keeper_of(request)
    board = keeper.look()
    if board is None:
        keeper.wait(_SOON_S)
        board = keeper.board
    return board


def stories_seen(request: Request, board: JobBoard) -> list[JobStory]:
    """Of a team, its own jobs and those of nobody."""
    ask = asking_of(request)
    return [story for story in board.stories if ask.who.sees(ask.access.owner_of(story.name))]


@job_pages.get("/")
def home_page(request: Request) -> Response:
    keeper = keeper_of(request)
    if not keeper.has_jobs():
        names = asking_of(request).names()
        if not names:
            return show(request, "home_empty.html.jinja", {}, here="jobs")
        return RedirectResponse("/studies" if len(names) > 1 else "/run", 303)
    board = board_of(request)
    if board is None:
        return waiting_page(request)
    stories = stories_seen(request, board)
    lines = lines_of(board, stories)
    query = ListQuery.of(dict(request.query_params))
    kept = found_in(lines, query)
    report = board.report if not asking_of(request).who.team else None
    values: dict[str, object] = {
        "sums": sums_of(stories, board.until_s, report),
        "report": report,
        "lines": kept[: query.n],
        "n_found": len(kept),
        "n_jobs": len(lines),
        "query": query,
        "filters": [(key, name, sum(keeps(line) for line in lines)) for key, (name, keeps) in FILTERS.items()],
        "look": look_sentence,
        "scale": max((line.saving[2] for line in lines if line.saving), default=1.0),
        "more": MORE,
        "board": board,
        "day": day,
    }
    return show(request, "jobs.html.jinja", values, here="jobs")


def waiting_page(request: Request) -> Response:
    """How far the first look at the histories is; it comes back by itself."""
    keeper = keeper_of(request)
    values = {"progress": keeper.progress, "problem": keeper.problem}
    return show(request, "jobs_wait.html.jinja", values, here="jobs", status=503 if keeper.problem else 202)


@job_pages.get("/jobs.csv")
def jobs_csv(request: Request) -> Response:
    board = board_of(request)
    if board is None:
        raise HTTPException(503, "the histories are still being read")
    kept = found_in(lines_of(board, stories_seen(request, board)), ListQuery.of(dict(request.query_params)))
    return _csv("jobs.csv", _JOB_COLUMNS, (_row_of(line) for line in kept))


_JOB_COLUMNS = (
    "job user queue runs failed usual_seconds core_hours_30_days saves saves_low saves_high change since change_share"
).split()


def _row_of(line: JobLine) -> list[object]:
    story, saving = line.story, line.saving or (None, None, None)
    change = story.change
    return [
        *(story.name, story.user, story.queue, story.n_runs, story.n_failed, story.usual_s, story.core_hours),
        *saving,
        "; ".join(one.text for one in story.savings),
        None if change is None else day(change.since_s),
        None if change is None else change.change,
    ]


def _csv(name: str, columns: Sequence[str], rows: "object") -> Response:
    import csv
    from collections.abc import Iterable

    assert isinstance(rows, Iterable)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([escaped(cell) if isinstance(cell, str) else "" if cell is None else cell for cell in row])
    told = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=told)


@job_pages.get("/jobs/{name:path}/runs.csv")
def job_csv(request: Request, name: str) -> Response:
    story = story_of(request, name)
    columns = "run began_s took_s forecast_low_s forecast_s forecast_high_s input executors core_hours alarm".split()
    rows = (
        [
            *(run.run_id, run.started_s, run.took_s, run.low_s, run.middle_s, run.high_s),
            *(run.input_size, run.executors, run.core_hours, run.is_alarm),
        ]
        for run in story.runs
    )
    return _csv("runs.csv", columns, rows)


def story_of(request: Request, name: str) -> JobStory:
    board = board_of(request)
    if board is None:
        raise HTTPException(503, "the histories are still being read: try again in a minute")
    found = next((story for story in stories_seen(request, board) if story.name == name), None)
    if found is None:
        raise HTTPException(404, f"no job is named {name!r}")
    return found


@job_pages.get("/jobs/{name:path}")
def job_page(request: Request, name: str) -> Response:
    board = board_of(request)
    if board is None:
        return waiting_page(request)
    story = story_of(request, name)
    currency = board.report.currency if board.report is not None else ""
    shown = story.runs[-WIDE_RUNS:]
    values = {
        "story": story,
        "title": title_of(story, currency),
        "look": why_sentence(story),
        "saving": together(story.savings),
        "currency": currency,
        "pictures": [
            history(story, narrow=narrow, deadline_s=story.deadline_s)
            for narrow in (False, True)
            if len(story.runs) > 1
        ],
        "left": time_left(story, time.time()),
        "spent": [(name, seconds) for name, seconds in story.spent.items() if seconds >= 0.05],
        "finding": finding_of(story),
        "readings": _script([reading_of(run, has_forecast=len(story.runs) >= FEWEST_DRAWN) for run in shown]),
        "parts": parts_of(story),
        "bars": bars_of(story),
        "swatch": swatch,
        "runs": story.runs[::-1][:_SHOWN_RUNS],
        "enough": ENOUGH,
        "day": day,
        "slower": is_slower(story),
        "evidence": evidence_of,
        "cause": cause_text,
    }
    return show(request, "job.html.jinja", values, here="jobs")


def title_of(story: JobStory, currency: str) -> str:
    parts = []
    if is_slower(story) and story.change is not None:
        parts.append(f"is {100 * story.change.change:.0f}% slower since {day(story.change.since_s)}")
    elif story.latest is not None and not story.is_stale:
        parts.append(f"took unusually long: {words.duration(story.latest.took_s)}")
    if (saving := together(story.savings)) is not None:
        verb = COST if currency else "take"
        parts.append(f"could {verb} about {words.worth(saving[0], currency)} less a month")
    if parts:
        return f"{story.name} {', and '.join(parts)}."
    n = len(story.runs)
    if n == 0:
        return f"{story.name}: no run has ended well yet."
    if n == 1:
        return f"{story.name}: 1 run, so nothing to compare it with yet."
    if n < ENOUGH:
        return f"{story.name}: {n} runs, so the forecast is wide and raises no alarms yet."
    if story.is_stale and story.last_s is not None:
        return f"{story.name}: its last log is of {day(story.last_s)}."
    return f"{story.name} runs as forecast: nothing worth changing."


def why_sentence(story: JobStory) -> str:
    """What the headline rests on, without saying it again."""
    if is_slower(story) and story.change is not None:
        change = story.change
        likely = f"likely {100 * change.low:.0f}% to {100 * change.high:.0f}%"
        told = f"At the same input it takes {100 * change.change:.0f}% longer ({likely})."
        return f"{told} {cause_sentence(story)}"
    look = look_sentence(story)
    return f"It {look}" if look else ""


def time_left(story: JobStory, now_s: float) -> str:
    """Of a run that goes on: "About 17 min left (13 to 22)"; nothing once it should have ended."""
    if story.ends is None or now_s >= story.ends[2]:
        return ""
    low, middle, high = (max(end - now_s, 1.0) for end in story.ends)
    return f"A run is going on: about {words.duration(middle)} left ({words.duration_range(low, high)})."


def finding_of(story: JobStory) -> str:
    """What the picture of the history shows."""
    change, n = story.change, len(story.runs)
    if n < FEWEST_DRAWN:
        return f"{words.count(n, 'run')}: too few for a forecast of each, so the dots stand alone."
    if change is not None:
        after = [run for run in story.runs if run.started_s >= change.since_s]
        over = sum(run.took_s > run.high_s for run in after)
        word = "longer" if change.change > 0 else "less"
        count = over if change.change > 0 else sum(run.took_s < run.low_s for run in after)
        return (
            f"{count} of {words.count(len(after), 'run')} since {day(change.since_s)} took {word} than their forecast."
        )
    inside = sum(run.is_inside for run in story.runs)
    return f"{inside} of {n} runs fell inside the forecast for the input they read."


def reading_of(run: StoryRun, *, has_forecast: bool = True) -> list[str]:
    """What is read of one run: when, and what it took against its forecast."""
    spread = words.duration_range(run.low_s, run.high_s)
    verdict = "longer than forecast" if run.took_s > run.high_s else "shorter than forecast"
    verdict = "as forecast" if run.is_inside else verdict
    size = f" at {words.size(run.input_size)}" if run.input_size > 0 else ""
    if not has_forecast:
        return [day(run.started_s), f"{words.duration(run.took_s)}{size}"]
    return [day(run.started_s), f"{words.duration(run.took_s)}; forecast {spread}{size}; {verdict}"]


def _script(value: object) -> str:
    text = to_json(value)
    return (text.decode() if isinstance(text, bytes) else text).replace("<", "\\u003c")


def parts_of(story: JobStory) -> list[PartRow]:
    """The largest change first."""
    if story.parts is None:
        return []
    rows = [PartRow(name, before, story.parts.since.get(name, 0.0)) for name, before in story.parts.before.items()]
    rows = [row for row in rows if max(row.before, row.since) >= 0.05]
    return sorted(rows, key=lambda row: -abs(row.more))


def bars_of(story: JobStory) -> list[Markup]:
    """The time of typical runs by part, before the last change and since; of a job without changes, its last runs."""
    if story.parts is not None and story.change is not None:
        when, (first, *_) = day(story.change.since_s, short=True), parts_of(story) or [PartRow("", 0.0, 0.0)]
        sides = (("before", story.parts.before), ("since", story.parts.since))
        drawn = [_bar(f"{word} {when}: ", parts) for word, parts in sides]
        more = f"{'+' if first.more > 0 else '−'}{words.duration(abs(first.more))}" if first.name else ""
        return [time_bars(drawn, grown=first.name, more=more, narrow=narrow) for narrow in (False, True)]
    if not story.spent:
        return []
    title = "its only run: " if len(story.runs) == 1 else "a typical run of the last ones: "
    return [time_bars([_bar(title, story.spent)], narrow=narrow) for narrow in (False, True)]


def _bar(title: str, parts: Mapping[str, float]) -> TimeBar:
    kept = {name: seconds for name, seconds in parts.items() if seconds > 0}
    return TimeBar(title + words.duration(sum(kept.values())), kept)


def evidence_of(saving: Saving) -> str:
    return saving.evidence[:1].upper() + saving.evidence[1:]
