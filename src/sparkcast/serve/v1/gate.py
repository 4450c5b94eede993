"""Questions at submission: may this start, and with which settings?"""

import shlex
from typing import Any

from fastapi import APIRouter, Response

from sparkcast import api
from sparkcast.api.submission import explored
from sparkcast.errors import StudyError, UnknownNameError
from sparkcast.history.found import job_of_line, some_jobs
from sparkcast.history.learn import learn_prior
from sparkcast.recommend.submission import advise_line
from sparkcast.recommend.verdict import check_settings
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
    limits = body.model_dump(include={"within", "budget", "confidence", "limits"})
    question = question_of(QuestionBody(study=str(body.study), **limits))
    found = check_settings(learned.advisor.recommender, body.configuration, question)
    return ask.document("check settings", found, learned)


def _by_line(body: CheckBody, line: str, ask: Asking) -> Response:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise StudyError(f"the line cannot be read: {error}", hint="is a quote missing?") from None
    visible = [job for job in ask.state.histories() if ask.who.sees(ask.access.owner_of(job.name))]
    options: dict[str, Any] = {"within_s": body.within, "budget": body.budget, "confidence": body.confidence}
    options |= {"input_size": body.input_size, "free_cores": body.free_cores}
    parsed = parse_line(words)
    named = [job for job in visible if body.job in (job.name, job.key)] if body.job else None
    found = job_of_line(parsed, visible).history if named is None else next(iter(named), None)
    if found is None:
        what = body.job or parsed.kept.get("name") or parsed.application
        raise UnknownNameError(f"the store has no runs of {what!r}", hint="GET /v1/jobs lists the jobs")
    ask.request.state.about = found.name
    store = ask.state.store()
    prior = None if store is None else learn_prior(some_jobs(store, besides=found).values())
    return JsonBytes(document_of("check", api.check(words, history=found, prior=prior, **options)))


@router.post("/submission", responses=answers("", "what to add to the line"))
def submission(body: SubmissionBody, ask: Ask) -> Response:
    """Settings to add to a spark-submit line, which keep to the limits given what the line says already."""
    learned = ask.learned(body.study)
    recommender, question = learned.advisor.recommender, question_of(body)
    if body.explore:
        found = explored(recommender, learned.data, question, body.properties, body.given, body.passed, risk=body.risk)
    else:
        found = advise_line(recommender, question, body.properties, body.given, body.passed)
    return ask.document("submission", found, learned)
