"""Write the reference pages that follow from the code: commands, the Python interface, plugins, workloads, schemas.

    python docs/generate.py

A test fails when the pages in the repository differ from what this writes.
"""

import ast
import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

from sparkcast import api
from sparkcast.study import Setting
from sparkcast.workloads import CLUSTER_SETTINGS, WORKLOADS

REFERENCE = Path(__file__).parent / "reference"
KINDS = ("designs", "workloads", "engines", "models", "protocols", "searchers", "grids", "replications")


def pages() -> dict[str, str]:
    """File name -> text."""
    texts = {"commands.md": _commands(), "api.md": _api(), "plugins.md": _plugins(), "workloads.md": _workloads()}
    return texts | {"json.md": _json()} | _schemas()


def _schemas() -> dict[str, str]:
    import json

    from sparkcast.wire.schemas import schemas

    made = {name.replace(" ", "-"): schema for name, schema in schemas().items()}
    return {f"schemas/{name}.json": json.dumps(schema, indent=1) + "\n" for name, schema in made.items()}


def _json() -> str:
    from sparkcast.wire.schemas import documents, schemas

    made = schemas()
    files = {name: name.replace(" ", "-") for name in documents()}
    rows = [f"| `{n}` | `{made[n]['$id']}` | [{file}.json](schemas/{file}.json) |" for n, file in files.items()]
    return _JSON.format(rows="\n".join(rows))


_JSON = """\
# JSON

With `--json` a command prints one document on stdout, also when it fails; messages for people go to stderr.

Every document begins with `schema`: its name and the version of its form, e.g. `sparkcast/predict/1`. Fields may be
added within a version; when one goes or changes its meaning, the version is raised. A number that does not exist or is
not finite is `null`. Commands that read a table also have `understood`: how its columns were taken.

| command | `schema` | JSON schema |
|---|---|---|
{rows}
| any that fails | `sparkcast/error/1` | [error.json](schemas/error.json) |

Two documents are older than the field `schema` and keep their form: `run --dry-run` prints a list of commands, which
has no place for it; `list KIND` prints each name beside its description, with `schema` among them. `list` alone prints
`kinds`: the names of each.

## Failures

```json
{{
  "schema": "sparkcast/error/1",
  "error": {{
    "code": 2,
    "problem": "no workload named 'mnist'",
    "hint": "did you mean 'mnist-training'?",
    "nearest": ["mnist-training"]
  }}
}}
```

`code` is the [exit code](contracts.md). `nearest` has names that may have been meant, the likeliest first. When
`recommend` finds nothing that meets the limits, it has for each limit what it would have to be, and the settings that
then meet it: `{{"limit": {{...}}, "needed": 39.4, "configuration": {{...}}}}`. A command that fails after its document
was printed (the folder for figures cannot be written, say) says so on stderr and by its exit code only.
"""


def _help(*words: str) -> str:
    from typer.testing import CliRunner

    from sparkcast.cli import app

    answer = CliRunner().invoke(app, [*words, "--help"], prog_name="sparkcast", terminal_width=78, color=False)
    return answer.stdout.strip()


def _command_names() -> list[str]:
    import typer

    from sparkcast.cli import app

    return sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def _commands() -> str:
    parts = ["# Commands", "Every command has `--help` with an example.", f"```text\n{_help()}\n```"]
    for name in _command_names():
        parts += [f"## {name}", f"```text\n{_help(name)}\n```"]
    return "\n\n".join(parts) + "\n"


def _api() -> str:
    """Every public function of `sparkcast.api` with its signature and its docstring."""
    import inspect

    described = inspect.getdoc(api) or ""
    parts = ["# Python", described.replace("What sparkcast does, as functions:", "`sparkcast.api`:"), ""]
    for name in api.__all__:
        found = getattr(api, name)
        if inspect.isfunction(found):
            parts += [
                f"## {name}",
                f"```python\n{_signature(name, found)}\n```",
                _described(inspect.getdoc(found) or ""),
            ]
        elif dataclasses.is_dataclass(found):
            doc = (inspect.getdoc(found) or "").partition("\n>>> ")[0].strip()
            parts += [f"## {name}", doc, f"```python\n{_fields(inspect.getsource(found))}\n```"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _fields(source: str) -> str:
    """The fields and public methods of a dataclass as they are written, with what is said of them."""
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.ClassDef)
    lines = source.splitlines()
    fields = [node for node in tree.body if isinstance(node, ast.AnnAssign)]
    written = [line for field in fields for line in lines[field.lineno - 1 : field.end_lineno]]
    for node in tree.body:
        if (
            isinstance(node, ast.FunctionDef)
            and not node.name.startswith("_")
            and node.args.args[1:] + node.args.kwonlyargs
        ):
            taken = ast.unparse(node.args).removeprefix("self").removeprefix(", ").replace("=", " = ")
            returns = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
            written += ["", f"    # {node.name}({taken}){returns}"]
            written += [f"    #     {line.strip()}" for line in (ast.get_docstring(node) or "").splitlines()[:1]]
    return "\n".join([f"class {tree.name}:", *written])


def _signature(name: str, function: Callable[..., object]) -> str:
    """One argument a line; types as they are written."""
    import inspect

    lines: list[str] = []
    parameters = inspect.signature(function).parameters.values()
    starred = next((p.name for p in parameters if p.kind is p.KEYWORD_ONLY), None)
    for parameter in parameters:
        lines += ["*"] if parameter.name == starred else []
        default = "" if parameter.default is parameter.empty else f" = {_default(parameter.default)}"
        lines.append(f"{parameter.name}: {_type(parameter.annotation)}{default}")
    inner = "".join(f"    {line},\n" for line in lines)
    return f"{name}(\n{inner}) -> {_type(inspect.signature(function).return_annotation)}"


def _default(value: object) -> str:
    return "..." if callable(value) else repr(value)


def _type(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", None) or str(annotation)
    text = str(annotation) if "[" in str(annotation) or "|" in str(annotation) else text
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text).strip("'\"")


def _described(doc: str) -> str:
    """Google's sections as lists, and the example as code."""
    text, mark, example = doc.partition("\n>>> ")
    sections = re.split(r"\n(Args|Returns|Raises):\n", text)
    parts = [sections[0].strip()]
    for title, body in zip(sections[1::2], sections[2::2], strict=True):
        parts.append(f"**{title}**")
        entries = re.split(r"\n(?=    \S)", body.strip("\n"))
        named = [re.sub(r"\s+", " ", entry).strip() for entry in entries]
        if title == "Returns":
            parts.append(" ".join(named))
        else:
            parts.append("\n".join(f"- `{entry.partition(': ')[0]}`: {entry.partition(': ')[2]}" for entry in named))
    if mark:
        parts.append(f"```pycon\n>>> {re.sub(r' *# doctest:.*', '', example).strip()}\n```")
    return "\n\n".join(parts)


def _plugins() -> str:
    parts = ["# Plugins", "What `sparkcast list KIND` prints. Other packages add theirs through entry points."]
    for kind in KINDS:
        parts.append(f"## {kind.capitalize()}")
        found = api.list_plugs(kind)
        for package, names in api.list_packages(kind).items():
            parts += [] if package == "sparkcast" else [f"From `{package}`:"]
            rows = [f"| `{name}` | {found[name]} |" for name in names]
            parts.append("\n".join(["| name | description |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _workloads() -> str:
    parts = ["# Workloads", "## Settings of every workload", _settings(CLUSTER_SETTINGS)]
    for name, package in [(name, package) for package, names in WORKLOADS.by_package().items() for name in names]:
        workload = WORKLOADS.get(name)()
        measured = ", ".join(f"`{r.name}` ({r.kind})" for r in workload.responses)
        origin = "" if package == "sparkcast" else f" From `{package}`."
        parts += [f"## {name}", f"{WORKLOADS.summaries()[name]}{origin}", f"Measures {measured}."]
        parts.append(_settings(workload.settings) if workload.settings else "Its settings are those of the study.")
    return "\n\n".join(parts) + "\n"


def _settings(settings: tuple[Setting, ...]) -> str:
    rows = []
    for setting in settings:
        choices = f" ({', '.join(setting.choices)})" if setting.choices else ""
        rows.append(f"| `{setting.name}` | `{setting.default}` | {setting.role} | {setting.help}{choices} |")
    return "\n".join(["| setting | default | role | description |", "|---|---|---|---|", *rows])


if __name__ == "__main__":
    (REFERENCE / "schemas").mkdir(exist_ok=True)
    for name, text in pages().items():
        (REFERENCE / name).write_text(text)
