"""A commented study file to start from."""

import textwrap

from sparkcast.study import Role, Setting
from sparkcast.workloads import WORKLOADS, HasStarter, settings_of

_WIDTH = 80
_TEMPLATE = """\
# A sparkcast study: each level of a list is tried, a single value is fixed.
# Then: sparkcast design FILE, run FILE, recommend FILE --within 60s
study: {name}
workload: {workload}

settings:
{settings}

# Combinations that violate a rule are never run.
rules:
  - {rule}

design:
  kind: full          # every combination; or two-level (the extremes). See: sparkcast list designs
  replicates: 2       # runs of each combination: without replicates there is no measure of noise
  seed: 1             # the run order is random, and the same for the same seed

responses: [{responses}]

limits:
  total: 30m          # hard limit; reports what was left out
  trial: 5m           # a longer trial is stopped and counts as a timeout

spark:
  master: embedded    # a cluster on this machine; or spark://host:7077, yarn, k8s://..., local[2]
  conf: {{}}            # any Spark property; overrides sparkcast's own

price:
  core_hour: 0.05     # price per core-hour; gib_hour adds memory
  currency: USD
"""


def starter_study(workload_name: str) -> str:
    """The text of a study file for a workload, with every setting it takes explained."""
    workload = WORKLOADS.get(workload_name)()
    if isinstance(workload, HasStarter):
        return workload.starter()
    known = {setting.name: setting for setting in settings_of(workload)}
    lines = [_line(known[name], value) for name, value in workload.example.items()]
    lines += [_line(s, s.default, commented=True) for name, s in known.items() if name not in workload.example]
    machines, cores = (next(s.name for s in known.values() if s.role is role) for role in (Role.MACHINES, Role.CORES))
    batch = next((s.name for s in known.values() if s.role is Role.BATCH and s.name in workload.example), None)
    text = _TEMPLATE.format(
        name=f"{workload_name}-study",
        workload=workload_name,
        settings="\n".join(lines),
        rule=f"{batch} % ({machines} * {cores}) == 0" if batch else f"{machines} * {cores} <= 16",
        responses=", ".join(response.name for response in workload.responses),
    )
    return "".join(f"{_fitted(line)}\n" for line in text.splitlines())


def _fitted(line: str) -> str:
    """A line whose comment goes on below where it is too long."""
    code, mark, comment = line.rpartition("# ")
    if len(line) <= _WIDTH or not mark:
        return line
    first, *others = textwrap.wrap(comment, _WIDTH - len(code) - len(mark), break_long_words=False)
    below = " " * len(code) + mark if code.strip() else code + mark
    return "\n".join([f"{code}{mark}{first}", *(f"{below}{other}" for other in others)])


def _line(setting: Setting, value: object, *, commented: bool = False) -> str:
    shown = f"[{', '.join(map(str, value))}]" if isinstance(value, (list, tuple)) else value
    choices = f" ({' | '.join(setting.choices)})" if setting.choices else ""
    mark = "# " if commented else ""
    return f"  {mark}{setting.name}: {shown}".ljust(34) + f"# {setting.help}{choices}"
