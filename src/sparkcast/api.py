"""What sparkcast does, as functions: the command line and the web service only parse, call one of these, and print."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

from sparkcast.errors import InfeasibleError, NotEnoughDataError, StudyError
from sparkcast.study import Configuration, Dataset, Level, Observation, Plan, Price, SparkOptions, Study, Trial

if TYPE_CHECKING:
    from sparkcast.analyse import Analysis
    from sparkcast.campaign import CampaignResult, OnProgress
    from sparkcast.recommend import Prediction, Recommendation
    from sparkcast.report import Check
    from sparkcast.validate import Validation

T = TypeVar("T")
Source = str | Path


# ---------------------------------------------------------------- study and plan


def load_study(path: Source) -> Study:
    """Read a study file, check it against its workload and design, and fill in the workload's defaults."""
    from sparkcast.designs import DESIGNS
    from sparkcast.study.file import load_study as read
    from sparkcast.workloads import resolve

    study = resolve(read(Path(path)))
    DESIGNS.get(study.design.kind)
    return study


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """A plan with what it will take."""

    study: str
    design: str
    seed: int
    replicates: int
    trials: tuple[Mapping[str, Level], ...]  # varied settings in run order, with replicate and position
    fixed: Configuration
    excluded: tuple[Configuration, ...]
    done: int
    trial_s: float | None  # how long one trial takes, if known
    total_s: float | None
    price: float | None
    estimated_from: str
    left_out: int  # trials that the limit leaves no time for


def plan(path: Source, *, budget_s: float | None = None) -> PlanSummary:
    """The runs of a study in order, and an estimate of what they take."""
    from sparkcast.designs import make_plan

    study = load_study(path)
    made = make_plan(study)
    observed = _observations(study, Path(path))
    times = [o.responses["total_s"] for o in observed if "total_s" in o.responses]
    if times:
        trial_s, source = fmean(times), f"the mean of {len(times)} runs so far"
    elif study.limits.trial_s is not None:
        trial_s, source = study.limits.trial_s, "the limit of one trial (an upper bound)"
    else:
        trial_s, source = None, "nothing is known yet: run one trial, or set limits: {trial: ...}"
    budget = budget_s if budget_s is not None else study.limits.total_s
    affordable = len(made.trials) if budget is None or not trial_s else int(budget // trial_s)
    return PlanSummary(
        study=study.name,
        design=made.design,
        seed=made.seed,
        replicates=study.design.replicates,
        trials=tuple(_planned(study, trial) for trial in made.trials),
        fixed=study.fixed,
        excluded=tuple(_varied(study, configuration) for configuration in made.excluded),
        done=len(observed),
        trial_s=trial_s,
        total_s=None if trial_s is None else trial_s * len(made.trials),
        price=_plan_price(study, made, trial_s),
        estimated_from=source,
        left_out=max(0, len(made.trials) - affordable),
    )


def _varied(study: Study, configuration: Configuration) -> dict[str, Level]:
    return {factor.name: configuration[factor.name] for factor in study.factors}


def _planned(study: Study, trial: Trial) -> dict[str, Level]:
    return {**_varied(study, trial.configuration), "replicate": trial.replicate, "position": trial.position}


def _plan_price(study: Study, made: Plan, trial_s: float | None) -> float | None:
    from sparkcast.study.derive import run_cost

    if study.price is None or trial_s is None:
        return None
    return sum(run_cost(trial_s, trial.configuration, study.price) for trial in made.trials)


# ---------------------------------------------------------------- running


def run(
    path: Source,
    *,
    resume: bool = False,
    allow_changed: bool = False,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    on_progress: "OnProgress" = lambda progress: None,
) -> "CampaignResult":
    """Run the trials of a study that have no result yet. Results go to the folder beside the study file."""
    from sparkcast.campaign import run_campaign
    from sparkcast.designs import make_plan
    from sparkcast.store import results_folder

    study = with_spark(load_study(path), master, conf)
    return run_campaign(
        study,
        make_plan(study),
        results_folder(Path(path)),
        resume=resume,
        allow_changed=allow_changed,
        on_progress=on_progress,
    )


def dry_run(path: Source, *, master: str | None = None, conf: Mapping[str, str] | None = None) -> list[str]:
    """The spark-submit lines that `run` would execute, in order."""
    from sparkcast import campaign
    from sparkcast.designs import make_plan
    from sparkcast.store import results_folder

    study = with_spark(load_study(path), master, conf)
    return campaign.dry_run(study, make_plan(study), results_folder(Path(path)))


def with_spark(study: Study, master: str | None, conf: Mapping[str, str] | None) -> Study:
    """The study on another cluster, with more Spark properties."""
    options = SparkOptions(master or study.spark.master, {**study.spark.conf, **(conf or {})})
    return dataclasses.replace(study, spark=options)


# ---------------------------------------------------------------- data


@dataclass(frozen=True, slots=True)
class Data:
    """Observations, and the study they came from when there is one."""

    dataset: Dataset
    study: Study | None = None

    @property
    def price(self) -> Price | None:
        return self.study.price if self.study else None

    def candidates(self) -> list[Configuration]:
        """Every allowed combination of the levels at hand, as varied settings only."""
        if self.study is None:
            seen = {self.dataset.key(o): dict(o.configuration) for o in self.dataset.observations}
            return list(seen.values())
        return [_varied(self.study, c) for c in self.study.combinations() if self.study.allows(c)]


def load_data(
    source: Source, *, factors: Sequence[str] = (), responses: Sequence[str] = (), study: str | None = None
) -> Data:
    """A study file (with its results), a CSV, or a store (folder, file or database URL)."""
    from sparkcast.store import open_store
    from sparkcast.store.table import read_csv
    from sparkcast.study.derive import make_dataset

    path = Path(source)
    if path.suffix in (".yaml", ".yml"):
        loaded = load_study(path)
        observations = _observations(loaded, path)
        if not observations:
            raise NotEnoughDataError(f"study {loaded.name!r} has no results yet", hint=f"sparkcast run {path.name}")
        return Data(make_dataset(loaded, observations), loaded)
    if path.suffix == ".csv":
        return Data(read_csv(path, factors, responses))
    store = open_store(str(source))
    try:
        name = store.only_study(study)
        stored = store.observations(name)
    finally:
        store.close()
    if not stored:
        raise NotEnoughDataError(f"study {name!r} has no results yet", hint="make some: sparkcast run STUDY")
    varied = tuple(n for n in stored[0].configuration if len({o.configuration.get(n) for o in stored}) > 1)
    measured = tuple(dict.fromkeys(n for o in stored for n in o.responses))
    return Data(Dataset(tuple(factors) or varied, stored, name, measured))


def _observations(study: Study, path: Path) -> tuple[Observation, ...]:
    """The results that fit the study: --allow-changed may have kept some with other fixed settings in the store."""
    from sparkcast.store import open_store, results_folder

    folder = results_folder(path)
    if not (folder / "store.sqlite").exists():
        return ()
    store = open_store(folder)
    try:
        stored = store.observations(study.name)
    finally:
        store.close()
    return tuple(o for o in stored if all(o.configuration.get(name) == v for name, v in study.fixed.items()))


def export(data: Data, target: Source) -> int:
    """Write the observations to a .csv or .parquet file; returns how many."""
    from sparkcast.store.table import write_table

    write_table(data.dataset, Path(target))
    return len(data.dataset.observations)


# ---------------------------------------------------------------- answers


def analyze(
    data: Data,
    response: str = "time_s",
    *,
    formula: str | None = None,
    anova_type: int = 2,
    transform: str = "none",
) -> "Analysis":
    """Which settings matter for a response."""
    from sparkcast.analyse.anova import analyze as analyse

    return analyse(data.dataset, response, formula=formula, anova_type=anova_type, transform=transform)


def validate(
    data: Data,
    response: str = "time_s",
    *,
    protocol: str = "loo",
    models: Sequence[str] | None = None,
    level: float = 0.9,
) -> "Validation":
    """How well models predict configurations they have not seen."""
    from sparkcast.validate.score import validate as score

    return score(data.dataset, response, protocol=protocol, models=models, level=level)


@dataclass(frozen=True, slots=True)
class PredictionAt:
    configuration: Configuration
    model: str
    prediction: "Prediction"


def predict(
    data: Data, at: Configuration, *, response: str = "time_s", model: str = "auto", level: float = 0.9
) -> PredictionAt:
    """A response at settings that need not have been run, with the interval of the next run."""
    from sparkcast.models import MODELS
    from sparkcast.recommend import Prediction
    from sparkcast.registry import did_you_mean
    from sparkcast.validate.score import choose

    for name in at:
        if name not in data.dataset.factors:
            hint = did_you_mean(name, data.dataset.factors)
            raise StudyError(f"{name!r} is not a factor of {data.dataset.name!r}", hint=hint)
    if not 0 < level < 1:
        raise StudyError(f"the level {level:g} is not between 0 and 1", hint="e.g. --level 0.9")
    if model == "auto":
        model, fitted = choose(data.dataset, response)
    else:
        fitted = MODELS.get(model)().fit(data.dataset, response)
    [value], [(low, high)] = fitted.predict([at]), fitted.interval([at], level=level)
    return PredictionAt(at, model, Prediction(response, value, low, high, level))


def recommend(
    data: Data,
    *,
    within_s: float | None = None,
    confidence: float = 0.95,
    maximize: str | None = None,
    minimize: str | None = None,
    fix: Mapping[str, Level] | None = None,
    model: str = "auto",
) -> "Recommendation":
    """The settings that meet the deadline with the wanted probability and are best otherwise."""
    from sparkcast.recommend.choose import recommend as choose

    return choose(
        data.dataset,
        data.candidates(),
        within_s=within_s,
        confidence=confidence,
        maximize=maximize,
        minimize=minimize,
        fix=fix or {},
        price=data.price,
        model=model,
    )


# ---------------------------------------------------------------- getting started


def starter_study(workload: str) -> str:
    """The text of a commented study file."""
    from sparkcast.workloads.starter import starter_study as make

    return make(workload)


def list_plugs(kind: str) -> dict[str, str]:
    """Name and one line for each design, workload, engine, model, searcher or protocol at hand."""
    from sparkcast.designs import DESIGNS
    from sparkcast.engines import ENGINES
    from sparkcast.errors import UnknownNameError
    from sparkcast.models import MODELS
    from sparkcast.recommend.searchers import SEARCHERS
    from sparkcast.registry import Registry, did_you_mean
    from sparkcast.validate import PROTOCOLS
    from sparkcast.workloads import WORKLOADS

    registries: tuple[Registry[Any], ...] = (DESIGNS, WORKLOADS, ENGINES, MODELS, SEARCHERS, PROTOCOLS)
    known = {f"{registry.kind}s": registry for registry in registries}
    if kind not in known:
        raise UnknownNameError(f"no list of {kind!r}", hint=did_you_mean(kind, tuple(known)))
    return known[kind].summaries()


# ---------------------------------------------------------------- report


def report(path: Source, output: Source, *, within_s: float | None = None, check: "Check | None" = None) -> None:
    """Write one self-contained HTML file about a study. What cannot be computed yet is left out with a note."""
    from datetime import datetime

    from sparkcast import __version__
    from sparkcast.designs import make_plan
    from sparkcast.report import build_content, write_report
    from sparkcast.validate.score import fit_best

    data = load_data(path)
    assert data.study is not None
    responses = [name for name in data.dataset.responses if data.dataset.successful(name)]
    notes: list[str] = []
    analyses = [a for name in responses if (a := _or_note(notes, analyze, data, name))]
    validations = [v for name in responses[:2] if (v := _or_note(notes, validate, data, name))]
    chosen = {v.response: c[1] for v in validations if (c := _or_note(notes, fit_best, data.dataset, v))}
    recommendation = _or_note(notes, lambda: recommend(data, within_s=within_s))
    content = build_content(
        data.dataset,
        created=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        version=__version__,
        study=data.study,
        plan=make_plan(data.study),
        analyses=analyses,
        validations=validations,
        recommendation=recommendation,
        check=check,
        fitted=chosen,
        notes=tuple(dict.fromkeys(notes)),
    )
    write_report(Path(output), content)


def _or_note(notes: list[str], compute: Callable[..., T], *arguments: Any) -> T | None:
    """The result, or None and a note why there is none: a report shows what it can."""
    try:
        return compute(*arguments)
    except (NotEnoughDataError, InfeasibleError, StudyError) as error:
        notes.append(error.problem)
        return None
