"""Questions about a study, a table or a job: analyze, predict, recommend, validate, queue."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Response

from sparkcast import api
from sparkcast.errors import StudyError
from sparkcast.learned.predict import PredictionAt
from sparkcast.recommend.brief import choose_briefly
from sparkcast.recommend.question import Question
from sparkcast.serve.problems import JsonBytes
from sparkcast.serve.v1.bodies import AnalyzeBody, PredictBody, QuestionBody, QueueBody, RecommendBody, ValidateBody
from sparkcast.serve.v1.common import Ask, answers
from sparkcast.serve.v1.work import accepted
from sparkcast.wire.documents import document_of

router = APIRouter(prefix="/v1", tags=["questions"])


@dataclass(frozen=True, slots=True)
class ManyPredictions:
    """A response at several settings, in the order they were given."""

    predictions: tuple[PredictionAt, ...]


@router.post("/analyze", responses=answers("analyze", "which settings matter"))
def analyze(body: AnalyzeBody, ask: Ask) -> Response:
    """Which settings matter for a response, and how far to trust the answer."""
    learned = ask.learned(body.study)
    options = body.model_dump(exclude={"study", "response"})
    return ask.document("analyze", api.analyze(learned.data, body.response, **options), learned)


@router.post("/predict", responses=answers("predict", "the prediction with its interval"))
def predict(body: PredictBody, ask: Ask) -> Response:
    """A response, with an interval for the next run, at settings that need not have been run."""
    learned = ask.learned(body.study)
    options: dict[str, Any] = body.model_dump(exclude={"study", "at"})
    if isinstance(body.at, dict):
        return ask.document("predict", api.predict(learned.source, body.at, **options), learned)
    many = api.predict(learned.source, body.at, **options)
    return ask.document("predict", ManyPredictions(many.items), learned)


def question_of(body: QuestionBody, most: int = 20) -> Question:
    """As `recommend` takes it."""
    return Question(
        limits=body.limits,
        confidence=body.confidence,
        maximize=body.maximize,
        minimize=body.minimize,
        fix=body.fix,
        most=most,
        within_s=body.within,
        budget=body.budget,
        min_accuracy=body.min_accuracy,
    )


@router.post("/recommend", responses=answers("recommend", "the settings to choose"))
def recommend(body: RecommendBody, ask: Ask) -> Response:
    """The best settings that meet every limit with the required probability."""
    learned = ask.learned(body.study)
    question = question_of(body, body.most)
    if body.brief:
        if body.levels or body.free_epochs or body.extrapolate or body.jobs_running is not None:
            raise StudyError(
                "a brief answer chooses among the known levels only", hint="leave out `brief`, or the other options"
            )
        found = None if learned.is_replayed else choose_briefly(learned.advisor.recommender, question)
        if found is not None:
            return ask.document("recommend brief", found, learned)
    if learned.is_replayed and body.jobs_running is None:
        choices = api.Choices(body.levels, body.free_epochs)
        return ask.document("recommend", api.recommend(learned.data, question, choices=choices), learned)
    advisor = learned.advisor
    if body.levels or body.free_epochs or body.extrapolate:
        choices = api.Choices(body.levels, body.free_epochs)
        advisor = type(advisor).of(
            learned.data, learned.model, known=learned.knowledge, choices=choices, extrapolate=body.extrapolate
        )
    found_all = advisor.recommend(question, api.Present(jobs_running=body.jobs_running))
    return ask.document("recommend", found_all, learned)


@router.post("/validate", status_code=202, responses={**answers("", "the work, done or under way")})
def validate(body: ValidateBody, ask: Ask, wait: float = 0.0) -> Response:
    """How well models predict configurations they have not seen. Takes long: answers with work to follow."""
    ask.entry(body.study)
    row = ask.work.add("validate", body.model_dump(), ask.who.team)
    return accepted(ask, row, wait)


@router.post("/queue", responses=answers("queue", "waiting times and capacity"))
def queue(body: QueueBody, ask: Ask) -> Response:
    """How long jobs wait for one another, and how many the cluster can take."""
    load = api.Load(
        body.arrival_rate,
        (),
        body.arrival_scv,
        body.service_time,
        body.scv,
        body.width,
        body.at,
    )
    goal = api.Goal(body.slo, body.percentile, body.compare, body.price_per_server_hour)
    shared: dict[str, Any] = body.model_dump(include={"servers", "discipline", "overtake", "places"})
    effort = api.Effort(body.jobs, body.replications, body.seed)
    learned = None if body.study is None else ask.learned(body.study)
    known = None if learned is None else learned.knowledge
    found = api.queue(known, load, goal=goal, effort=effort, **shared)
    if learned is not None:
        return ask.document("queue", found, learned)
    return JsonBytes(document_of("queue", found))
