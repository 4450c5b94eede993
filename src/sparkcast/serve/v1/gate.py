"""Questions at submission: may this start, and with which settings?"""

import shlex
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Response

from sparkcast import api
from sparkcast.api.exploring import explored
from sparkcast.errors import NotEnoughDataError, StudyError, UnknownNameError
from sparkcast.recommend.advise import with_load
from sparkcast.recommend.question import Question
from sparkcast.recommend.submission import AskedLine, advise_line
from sparkcast.recommend.verdict import check_settings
from sparkcast.serve.learning import digest_of
from sparkcast.serve.problems import JsonBytes
from sparkcast.serve.v1.answers import question_of
from sparkcast.serve.v1.bodies import CheckBody, QuestionBody, SubmissionBody
from sparkcast.serve.v1.common import Ask, Asking, answers
from sparkcast.wire.documents import document_of
from sparkcast.workloads.lines import parse_line

router = APIRouter(prefix="/v1", tags=["at submission"])


@router.post("/check", responses=answers("check", "admit, change, refuse, or unknown"))
def check(body: CheckBody, ask: Ask) -> Response:
    """May this start now? Of a recurring job by its line and history; of a study by its model."""
    if (body.line is None) == (body.study is None):
        raise StudyError("give either `line` or `study`", hint="a line asks a job's history, a study its model")
    if body.line is not None:
        return _by_line(body, body.line, ask)
    learned = ask.learned(str(body.study))
    ask.note_deadline(str(body.study), body.within)
    limits = body.model_dump(include={"within", "budget", "confidence", "limits"})
    question = question_of(QuestionBody(study=str(body.study), **limits))
    recommender = learned.advisor.recommender
    if body.jobs_running is not None:
        question = replace(question, fix=with_load(recommender, question.fix, body.jobs_running))
    found = check_settings(recommender, {**body.configuration, **question.fix}, question)
    return ask.document("check settings", found, learned)


def _by_line(body: CheckBody, line: str, ask: Asking) -> Response:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise StudyError(f"the line cannot be read: {error}", hint="is a quote missing?") from None
    parsed = parse_line(words)
    found = ask.state.job_of_line(parsed, body.job)
    if found is None or not ask.who.sees(ask.access.owner_of(found.history.name)):
        what = body.job or parsed.kept.get("name") or parsed.application
        raise UnknownNameError(f"the store has no runs of {what!r}", hint="GET /v1/jobs lists the jobs")
    ask.request.state.about = found.history.name
    options: dict[str, Any] = {"within_s": body.within, "budget": body.budget, "confidence": body.confidence}
    options |= {"input_size": body.input_size, "free_cores": body.free_cores}
    return JsonBytes(document_of("check", api.check(words, history=found.history, prior=found.prior, **options)))


@router.post("/submission", responses=answers("", "what to add to the line"))
def submission(body: SubmissionBody, ask: Ask) -> Response:
    """Settings to add to a spark-submit line, which keep to the limits given what the line says already."""
    line, question = AskedLine(body.properties, body.given, body.passed), question_of(body)
    if body.explore:
        return _exploring(body, line, question, ask)
    learned = ask.learned(body.study)
    ask.note_deadline(body.study, body.within)
    found = advise_line(learned.advisor.recommender, question, line, body.jobs_running)
    return ask.document("submission", found, learned)


def _exploring(body: SubmissionBody, line: AskedLine, question: Question, ask: Asking) -> Response:
    """From the runs as they are now: what the last one showed decides whether the next goes back."""
    try:
        data = ask.entry(body.study).load()
    except (UnknownNameError, NotEnoughDataError):
        owner = ask.access.owner_of(body.study)
        if not body.levels or not ask.who.sees(owner):
            raise
        data = None
    found = explored(data, question, line, body.levels, risk=body.risk)
    runs = 0 if data is None else len(data.dataset.observations)
    digest = "" if data is None else digest_of(data.dataset)
    basis = {"study": body.study, "model": "safe tuning", "runs": runs, "digest": digest, "is_current": True}
    return JsonBytes(document_of("submission", found, {"basis": basis}))
