"""Arguments that messages name, in the words of the command line.

Below `cli/` a message names an argument as Python writes it, in backticks: "add `force=True` to replace it". Only here
does it become an option: "add --force to replace it". "`force=`", without a value, is the name of the option alone.
"""

import ast
import re
import shlex
from typing import Any

_SAME_NAME = """
    allow_changed app argument arrival_rate at budget certificate cluster complete_rows conf confidence cores data
    decimal dynamic effect engine executors extrapolate factors fill_down fix force formula free_cores free_epochs
    ignore instead_of interactive job jobs_running jwt_issuer jwt_keys keep key level levels master max_cost max_failure
    max_runs minimize model na older_than orphans part partitions places price protocol replicates response resume retry
    runners running runs_to_come scv seconds since stop_late store study time_limit time_unit transform where width
"""
_OPTIONS = {argument: argument.replace("_", "-") for argument in _SAME_NAME.split()} | {
    "every_s": "every",
    "limits": "limit",
    "mix": "job",
    "models": "model",
    "n_jobs": "jobs",
    "outcomes": "outcome",
    "roles": "role",
    "service_time_s": "service-time",
    "settings": "setting",
    "slo_s": "slo",
    "studies": "study",
    "within_s": "within",
}
_COMMANDS = {  # that are not one call
    "api.fit(DATA, search=...)": "sparkcast fit --grid",
    ".text(details=True)": "--details",
    "api.write_plan(PLAN, FILE)": "--csv FILE",
    "api.figures(ANSWER)": "--figures DIR",
    "api.watch(FOLDER, STORE)": "sparkcast watch FOLDER --into STORE",
    "choices=Choices({NAME: range(1, 17)})": "--levels NAME=1..16",
    "fix={NAME: VALUE}": "--fix NAME=VALUE",
    "api.check_store(STORE)": "sparkcast store check STORE",
    "api.copy_store(A, B)": "sparkcast store copy A B",
    "api.migrate_store(STORE)": "sparkcast store migrate STORE",
    "api.prune_store(STORE, orphans=True)": "sparkcast store prune STORE --orphans",
    "api.save_model(api.fit(DATA).model, FILE)": "sparkcast fit DATA --save FILE",
}
# Only what is in the table: other code is the user's, and stays.
_CODE = re.compile(rf"`(\.[a-z][^`]*|choices=[^`]*|api\.[a-z_]+\([^`]*\)|(?:{'|'.join(_OPTIONS)})=[^`]*)`")


def as_options(text: str) -> str:
    """A message as people who type commands read it.

    >>> as_options("`within_s=60` or `fix={'memory': '1g'}`; `api.run(STUDY, resume=True)` continues")
    '--within 60s or --fix memory=1g; sparkcast run STUDY --resume continues'
    """
    return _CODE.sub(_worded, text)


def with_options(plain: Any) -> Any:
    """Plain data with every text as people who type commands read it."""
    if isinstance(plain, dict):
        return {name: with_options(value) for name, value in plain.items()}
    if isinstance(plain, list):
        return [with_options(value) for value in plain]
    return as_options(plain) if isinstance(plain, str) else plain


def _worded(found: re.Match[str]) -> str:
    if found[1] in _COMMANDS:
        return _COMMANDS[found[1]]
    if re.fullmatch(r"\.[a-z_.]+", found[1]):  # a field of the answer
        return "--json"
    code = re.sub("=$", "=...", found[1])
    try:
        call = ast.parse(code if code.startswith("api.") else f"_({code})", mode="eval").body
    except SyntaxError:
        return found[0]
    if not isinstance(call, ast.Call) or any(one.arg not in _OPTIONS for one in call.keywords):
        return found[0]
    command = ["sparkcast", call.func.attr] if isinstance(call.func, ast.Attribute) else []
    return " ".join([*command, *map(_value, call.args), *(_option(str(one.arg), one.value) for one in call.keywords)])


def _option(argument: str, value: ast.expr) -> str:
    option = f"--{_OPTIONS[argument]}"
    if isinstance(value, ast.Constant) and (value.value is True or value.value is ...):
        return option
    return f"{option} {_value(value)}{'s' if argument.endswith('_s') else ''}"


def _value(value: ast.expr) -> str:
    match value:
        case ast.Constant(value=str(text)):
            return shlex.quote(text)
        case ast.Dict(keys=keys, values=values):
            return ",".join(f"{_value(key)}={_value(one)}" for key, one in zip(keys, values, strict=True) if key)
        case ast.Set():  # {...}
            return "NAME=VALUE,..."
        case ast.Call(keywords=[_, *_] as keywords):
            return ",".join(f"{one.arg}={_value(one.value)}" for one in keywords)
        case ast.List(elts=elements):
            return ",".join(map(_value, elements))
        case ast.BinOp(left=left, op=ast.Div()):  # per second for Python; people say it by the hour
            return f"{_value(left)}/h"
    return ast.unparse(value)
