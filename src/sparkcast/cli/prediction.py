"""Questions to data: validate, fit, predict, recommend, export."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkcast.cli._output import Details, Force, Json, Verbose, emit, require_free, say, shell, show, tell
from sparkcast.cli._progress import show_steps
from sparkcast.cli._tables import AS_IT_STANDS, TableArguments, names, reads_runs, say_meanings, understood
from sparkcast.wire.results import Exported, FitReport

if TYPE_CHECKING:
    from sparkcast.api import Data
    from sparkcast.learned.saved import SavedModel
    from sparkcast.study import Level

DataSource = Annotated[
    str, typer.Argument(metavar="DATA", help="A study file, a results folder or store, a table, or mlflow:URI.")
]
DataOrModel = Annotated[
    str,
    typer.Argument(
        metavar="DATA|MODEL",
        help="A study file, a results folder or store, a table, mlflow:URI, or a model file from sparkcast fit --save.",
    ),
]
ResponseName = Annotated[
    str | None,
    typer.Option(
        "--response",
        help="What to explain or predict; or 'cost = time_s / accuracy'. Default: the time.",
        show_default=False,
    ),
]
ModelName = Annotated[
    str, typer.Option("--model", help="See: sparkcast list models. auto: those that do best on this kind of question.")
]
ProtocolName = Annotated[
    str,
    typer.Option(
        "--protocol",
        help="What to hold out: loo, kfold[:K], holdout[:SHARE], interpolate:FACTOR, 'extrapolate:FACTOR[>VALUE]', "
        "'cases:FACTOR=a+b|c'. See: sparkcast list protocols.",
    ),
]
Extrapolate = Annotated[
    bool,
    typer.Option("--extrapolate", help="Answer even where the runs say little, with a wide interval."),
]
JobName = Annotated[
    str | None, typer.Option("--job", help="Of a store: only the runs of this job. See: sparkcast jobs STORE.")
]
USUAL_MODEL = "auto"  # the default of --model


def register(app: typer.Typer) -> None:
    for command in (validate, fit, predict, export):
        app.command()(reads_runs(command))


def validate(
    data: DataSource,
    protocol: ProtocolName = "loo",
    model: Annotated[
        str | None, typer.Option("--model", help="Models to test: ridge,ernest or all; default: the usual ones.")
    ] = None,
    response: ResponseName = None,
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.9,
    seed: Annotated[int, typer.Option(help="Random seed, for protocols with random draws.")] = 0,
    details: Details = False,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for figures of the three best models: PNG, SVG and Vega-Lite.")
    ] = None,
    learning_curve: Annotated[
        bool,
        typer.Option(
            "--learning-curve",
            help="With --figures: also the error by number of configurations; fits each model about 30 more times.",
        ),
    ] = False,
    force: Force = False,
    reading: TableArguments = AS_IT_STANDS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """How far predictions can be trusted.

    Example: sparkcast validate mnist.yaml --protocol extrapolate:executors
    """
    from sparkcast import api
    from sparkcast.errors import NotEnoughDataError, StudyError
    from sparkcast.validate.fits import FitCache

    if learning_curve and figures is None:
        raise StudyError("--learning-curve needs --figures", hint="add --figures DIR")
    models = None if model is None else names(model)
    loaded = load(data, reading, [response] if response else [], as_json)
    name, fits = response_name(response), FitCache()
    with show_steps() as on_step:
        result = api.validate(
            *(loaded, name), protocol=protocol, models=models, level=level, seed=seed, on_step=on_step, fits=fits
        )
    if not result.scorecards and result.refused:
        raise NotEnoughDataError(
            f"no model could be tested; {result.refused[0][0]}: {result.refused[0][1]}",
            hint="run more configurations, or hold out less: see sparkcast list protocols",
        )
    # Shown first: a folder that cannot be written must not cost the result of a long validation.
    emit(result, as_json, lambda found: show(found, details), understood(loaded))
    if not as_json and not details:
        tell("--details shows all models and numbers")
    if figures is not None:
        with show_steps() as on_step:
            drawn = api.write_validation_figures(
                *(loaded, result, figures), with_learning_curve=learning_curve, on_step=on_step, fits=fits, force=force
            )
        for reason in drawn.missing:
            say(reason)
        say(f"wrote {len(drawn.files)} files to {figures}")


def fit(
    data: DataSource,
    response: Annotated[
        str | None,
        typer.Option(help="What to predict: time_s,accuracy or a formula. Default: those two, if they were measured."),
    ] = None,
    model: ModelName = USUAL_MODEL,
    grid: Annotated[
        str | None,
        typer.Option(metavar="PAPER", help="Search the hyperparameter grid of a paper. See: sparkcast list grids."),
    ] = None,
    search: Annotated[str, typer.Option(help="How to search: grid, or tpe (needs optuna).")] = "grid",
    trials: Annotated[
        int | None, typer.Option(help="Maximum number of combinations to try; default: the whole grid.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Save the trained model to this file, e.g. mnist.sparkcast.")
    ] = None,
    details: Details = False,
    force: Force = False,
    reading: TableArguments = AS_IT_STANDS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Train the models, and save them with the runs.

    Example: sparkcast fit mnist.yaml --save mnist.sparkcast
    """
    from sparkcast import api
    from sparkcast.learned.fit import GridSearch

    if save is not None:
        require_free(save, force)
        _require_folder(save)
    responses = _responses(response or "")
    loaded = load(data, reading, responses, as_json)
    if grid is None and (trials is not None or search != "grid"):
        raise typer.BadParameter("--search and --trials need --grid", param_hint="--grid")
    wanted = None if grid is None else GridSearch(grid, search, trials)
    result = api.fit(loaded, [text.partition("=")[0].strip() for text in responses], model=model, search=wanted)
    if save is not None:
        api.save_model(result.model, save, force=force)
    learned = FitReport(result.responses, result.notes, save)
    emit(learned, as_json, lambda _: show(result, details), understood(loaded))
    if save is not None:
        say(f"wrote {save}")
        measured = loaded.dataset.observations[0].configuration.only(loaded.dataset.factors)
        if not as_json:
            shell("ask it:", f"sparkcast predict {shlex.quote(str(save))} --at {_at(measured)}")
    elif not as_json:
        tell("--save FILE saves it for sparkcast predict and sparkcast recommend")


def predict(
    data: DataOrModel,
    at: Annotated[
        list[str] | None,
        typer.Option(help="The settings, e.g. executors=4,batch_size=256, or input=1.4TB of a job. Repeatable."),
    ] = None,
    job: JobName = None,
    input_path: Annotated[
        str | None, typer.Option("--input", metavar="PATH", help="With --job: measure the files that would be read.")
    ] = None,
    response: ResponseName = None,
    model: ModelName = USUAL_MODEL,
    level: Annotated[float, typer.Option(help="Confidence level of the interval.")] = 0.9,
    extrapolate: Extrapolate = False,
    reading: TableArguments = AS_IT_STANDS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """A response at settings never run.

    Example: sparkcast predict mnist.yaml --at executors=2,batch_size=256
    """
    from sparkcast import api

    settings = _settings_of(at or (), job, input_path)
    loaded = load_any(data, reading, [response] if response else [], model, as_json, job=job)
    if not settings and job is None:
        raise _nothing_asked(loaded)
    if input_path is not None:
        measured = api.measure_input(input_path, loaded if isinstance(loaded, api.Data) else None)
        say(f"note: {measured}")
        settings["input"] = measured.input_bytes
    name = response_name(response)
    result = api.predict(loaded, settings, response=name, model=model, level=level, extrapolate=extrapolate)
    emit(result, as_json, show, understood(loaded))
    if not as_json:
        follow = "sparkcast recommend finds what meets a deadline"
        can_test = "sparkcast validate shows how far to trust this; " if isinstance(loaded, api.Data) else ""
        tell(f"next: {can_test}{follow}")


def export(
    data: DataSource,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="A .csv or .parquet file; with --to mlflow a tracking folder or URL."),
    ] = None,
    to: Annotated[
        str,
        typer.Option(
            help="table, mlflow (a run per observation, in one experiment), samples (how busy the machines were, "
            "second by second) or stages (stage by stage)."
        ),
    ] = "table",
    response: Annotated[
        list[str] | None,
        typer.Option(help="A response to keep as one, or 'cost = time_s / accuracy'. Repeatable."),
    ] = None,
    force: Force = False,
    reading: TableArguments = AS_IT_STANDS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write the observations to a table or to MLflow, or the samples of their machines to a table.

    Example: sparkcast export mnist.yaml -o mnist.csv
    """
    from sparkcast import api
    from sparkcast.errors import StudyError

    if to not in ("table", "mlflow", "samples", "stages"):
        raise StudyError(f"--to {to!r} is unknown", hint="use table, mlflow, samples or stages")
    if to != "mlflow" and output is None:
        raise StudyError("no output file was given", hint="give -o FILE.csv or FILE.parquet")
    if to != "mlflow":
        require_free(Path(str(output)), force)
    loaded = load(data, reading, response or (), as_json)
    if to in ("samples", "stages"):
        runs = api.export_samples(loaded, str(output), by="sample" if to == "samples" else "stage")
        told = f"wrote the {to} of {runs} runs to {output}"
        emit(Exported(str(output), runs), as_json, lambda w: say(told), understood(loaded))
        return
    target = str(output) if to == "table" else f"mlflow:{output or ''}"
    written = Exported(target, api.export(loaded, target))
    emit(written, as_json, lambda w: say(f"wrote {w.observations} observations to {w.path}"), understood(loaded))


def _nothing_asked(source: "Data | SavedModel") -> Exception:
    """With the settings of a run, which are those to change."""
    from sparkcast import api
    from sparkcast.errors import StudyError

    if isinstance(source, api.Data):
        known, factors = source.dataset.observations[-1].configuration, source.dataset.factors
    else:
        known, factors = source.about.seen[-1].configuration, source.about.factors
    example = shlex.quote(",".join(f"{name}={known[name]}" for name in factors if name in known))
    return StudyError("the settings to predict at are missing", hint=f"change those of a run: --at {example}")


def _settings_of(at: Sequence[str], job: str | None, input_path: str | None) -> "dict[str, Level]":
    from sparkcast.errors import StudyError

    if input_path is not None and job is None:
        raise StudyError(
            "--input measures what a job would read", hint="add --job NAME; sparkcast jobs STORE lists them"
        )
    settings = parse_settings(*at)
    if input_path is not None and "input" in settings:
        raise StudyError("--input and --at input= are both given", hint="give one of them")
    return settings


def _require_folder(path: Path) -> None:
    """Raise StudyError now rather than after a long fit."""
    from sparkcast.errors import StudyError

    if not path.parent.is_dir():
        raise StudyError(
            f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}",
            hint="choose an existing folder that you can write to",
        )


def load(data: str, reading: TableArguments, responses: Sequence[str], as_json: bool = False) -> "Data":
    """Observations; says how they were understood."""
    from sparkcast import api

    loaded = api.load_data(data, table=reading.options(responses), study=reading.study)
    say_meanings(loaded, as_json)
    return loaded


def load_any(
    data: str,
    reading: TableArguments,
    responses: Sequence[str],
    model: str,
    as_json: bool = False,
    *,
    job: str | None = None,
) -> "Data | SavedModel":
    """Data, the runs of one job of a store, or a model file; says what its reader should know."""
    from sparkcast import api
    from sparkcast.errors import StudyError

    if job is not None:
        if reading.study is not None:
            raise StudyError("--job and --study are both given", hint="a job is found in all studies of the store")
        return api.load_job(data, job)
    loaded = api.load_data_or_model(data, table=reading.options(responses), study=reading.study)
    if isinstance(loaded, api.Data):
        say_meanings(loaded, as_json)
        return loaded
    if model != USUAL_MODEL:
        raise StudyError(
            f"{data} is a model file, so --model does not apply", hint="leave out --model, or pass the data"
        )
    for note in loaded.notes:
        say(f"{data}: {note}")
    return loaded


def response_name(response: str | None) -> str | None:
    """The name of a response that may be given with its formula: `cost = time_s / accuracy`."""
    return None if response is None else response.partition("=")[0].strip()


def _responses(text: str) -> list[str]:
    """Names or formulas between commas, which may also stand inside the parentheses of a formula."""
    parts, depth = [""], 0
    for sign in text:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def parse_settings(*texts: str) -> "dict[str, Level]":
    """Parse `executors=4,memory=2g`, or one setting a text."""
    from sparkcast.data.cell import parse_level
    from sparkcast.errors import StudyError

    settings: dict[str, Level] = {}
    for part in (part for text in texts for part in names(text)):
        name, separator, value = part.partition("=")
        if not separator or not name.strip() or not value.strip():
            raise StudyError(f"{part!r} is not name=value", hint="e.g. executors=4,batch_size=256")
        if name.strip() in settings:
            raise StudyError(
                f"{name.strip()} is given twice: {settings[name.strip()]} and {value.strip()}",
                hint="give each setting one value; for several answers, ask several times",
            )
        settings[name.strip()] = parse_level(value.strip())
    return settings


def parse_fixed(texts: Sequence[str]) -> "dict[str, Level]":
    """What all `--fix` together give; a setting that is given twice must be given the same."""
    from sparkcast.errors import StudyError
    from sparkcast.study import same_level

    settings: dict[str, Level] = {}
    for text in texts:
        for name, value in parse_settings(text).items():
            if name in settings and not same_level(settings[name], value):
                raise StudyError(
                    f"--fix gives {name} twice: {settings[name]} and {value}", hint="give each setting one value"
                )
            settings[name] = value
    return settings


def _at(configuration: "Mapping[str, Level]") -> str:
    return shlex.quote(",".join(f"{name}={level}" for name, level in configuration.items()))
