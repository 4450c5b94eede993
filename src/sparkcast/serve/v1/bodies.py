"""What requests bring, as they may be written."""

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    WithJsonSchema,
)

from sparkcast.units import parse_seconds

Value = Annotated[StrictBool | StrictInt | StrictFloat | StrictStr, Field(description="a level of a setting")]
Name = Annotated[str, Field(min_length=1, max_length=300, description="of a study, table or job; GET /v1/studies")]
Settings = Annotated[dict[str, Value], Field(max_length=200)]
Share = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0, lt=1e12, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=100_000)]


def _seconds(given: object) -> object:
    return parse_seconds(given) if isinstance(given, str) else given


_SECONDS = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}], "examples": [300, "5m"]}
Seconds = Annotated[Positive, BeforeValidator(_seconds), WithJsonSchema(_SECONDS)]


class Body(BaseModel):
    """A misspelled field is refused: it would change the answer without a word."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AnalyzeBody(Body):
    study: Name
    response: str | None = None
    formula: str | None = Field(None, max_length=2000)
    anova_type: int = Field(2, ge=1, le=3)
    transform: str = "auto"


class PredictBody(Body):
    study: Name
    at: Settings | Annotated[list[Settings], Field(min_length=1, max_length=1000)]
    response: str | None = None
    level: Share = 0.9
    extrapolate: bool = False


class QuestionBody(Body):
    study: Name
    within: Seconds | None = None
    budget: Positive | None = None
    min_accuracy: float | None = Field(None, ge=0, le=100)
    limits: list[Annotated[str, Field(max_length=200)]] = Field([], max_length=20)
    confidence: Share = 0.95
    maximize: str | None = None
    minimize: str | None = None
    fix: Settings = {}
    jobs_running: int | None = Field(None, ge=0, le=10_000, description="on the cluster; the new job joins them")


class RecommendBody(QuestionBody):
    most: int = Field(20, ge=2, le=1000, description="how many candidates the answer lists")
    levels: dict[str, Annotated[list[Value], Field(min_length=1, max_length=1000)]] = Field({}, max_length=50)
    free_epochs: bool = False
    extrapolate: bool = False
    brief: bool = Field(False, description="only the choice, the runner-up and their chances: for schedulers")


class CheckBody(Body):
    """Either `line`, of a recurring job; or `study` and `configuration`."""

    line: str | None = Field(None, max_length=20_000, description="the spark-submit line of a recurring job")
    job: str | None = Field(None, max_length=300, description="its name, where the line does not tell it")
    input_size: Positive | None = Field(None, description="bytes that it will read")
    free_cores: Count | None = None
    study: Name | None = None
    configuration: Settings = Field({}, description="of the study")
    jobs_running: int | None = Field(None, ge=0, le=10_000, description="on the cluster; of a study that varied them")
    within: Seconds | None = None
    budget: Positive | None = None
    confidence: Share = 0.95
    limits: list[Annotated[str, Field(max_length=200)]] = Field([], max_length=20)


class SubmissionBody(QuestionBody):
    properties: dict[str, str] = Field({}, max_length=500, description="of Spark, that the line has")
    given: Settings = Field({}, description="settings that the program has already")
    passed: list[str] = Field([], max_length=100, description="settings that the program can be given")
    explore: bool = Field(False, description="safe tuning: one change for each run, within the risk")
    levels: dict[str, Annotated[list[Value], Field(min_length=1, max_length=100)]] = Field(
        {}, max_length=50, description="what may be explored; the first level of each is what the job has today"
    )
    risk: Share = 0.05


class ValidateBody(Body):
    study: Name
    response: str | None = None
    protocol: str = "loo"
    models: list[str] | None = None
    level: Share = 0.9
    seed: int = 0


class QueueBody(Body):
    study: Name | None = Field(None, description="whose runs tell the service times; else `service_time`")
    arrival_rate: Positive | None = Field(None, description="jobs per second")
    arrival_scv: Annotated[float, Field(ge=0, le=1000)] = 1.0
    service_time: Seconds | None = None
    scv: float | None = Field(None, ge=0, le=1000)
    width: Count = 1
    at: Settings = {}
    servers: Count = 1
    discipline: str | None = None
    overtake: bool = False
    places: Count | None = None
    slo: Seconds | None = None
    percentile: float = Field(95.0, gt=0, lt=100)
    compare: list[Count] = Field([], max_length=50)
    price_per_server_hour: Annotated[float, Field(ge=0, lt=1e9)] | None = None
    jobs: Annotated[int, Field(ge=1000, le=50_000)] = 10_000
    replications: Annotated[int, Field(ge=2, le=20)] = 5
    seed: int = Field(0, ge=0, le=2**32 - 1)


class RunBody(Body):
    """One finished run of a job."""

    configuration: Settings
    responses: Annotated[dict[str, Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=200)] = {}
    outcome: str = Field("ok", description="ok, oom, timeout, lost or error")
    cause: str = Field("", max_length=2000)
    started_at: Annotated[float, Field(ge=0, lt=1e11)] | None = Field(None, description="seconds since the Unix epoch")
    run_id: Annotated[str, Field(pattern=r"^[\w.:-]{1,100}$")] | None = None


class ObservationsBody(Body):
    runs: Annotated[list[RunBody], Field(min_length=1, max_length=1000)]


class TokenBody(Body):
    name: Annotated[str, Field(pattern=r"^[\w.@-]{1,100}$")]
    scope: str = Field("read", pattern="^(read|write|admin)$")
    team: Annotated[str, Field(pattern=r"^[\w.-]{0,100}$")] = ""
    days: Positive | None = Field(None, description="until it expires")
    per_minute: Count | None = None


class SessionBody(Body):
    token: Annotated[str, Field(min_length=1, max_length=5000)]


class OwnerBody(Body):
    study: Name
    team: Annotated[str, Field(pattern=r"^[\w.-]{0,100}$")] = Field("", description='"" for everybody')


Options = dict[str, Any]
