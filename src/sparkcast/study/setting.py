"""What a study may set: a name with its meaning."""

from dataclasses import dataclass
from enum import StrEnum

from sparkcast.errors import StudyError
from sparkcast.registry import did_you_mean
from sparkcast.study.configuration import Level
from sparkcast.units import BYTES, as_number, parse_bytes


class Role(StrEnum):
    """What a setting means to models, prices and labels, whatever its name is."""

    MACHINES = "machines"  # executors, nodes, GPUs: those that share the work
    CORES = "cores"  # of each machine
    TOTAL_CORES = "total-cores"  # of all machines together
    MEMORY = "memory"  # of each machine
    MACHINE_TYPE = "machine-type"
    DATA_SIZE = "data-size"
    FRACTION = "fraction"  # of the data
    BATCH = "batch"  # records in one step
    EPOCHS = "epochs"  # passes over the data
    ITERATIONS = "iterations"  # steps of one batch each where there is a batch size, else passes over the data
    JOBS = "jobs"  # running at once
    OTHER = "other"


SIZES = (Role.FRACTION, Role.DATA_SIZE)  # how much data a run works on
PASSES = (Role.EPOCHS, Role.ITERATIONS)  # how often
CLUSTER = (Role.MACHINES, Role.CORES, Role.MEMORY, Role.JOBS)  # what the cluster is asked for, not the job
SYSTEM = (*CLUSTER, Role.TOTAL_CORES, Role.MACHINE_TYPE)  # what a run runs on, not what it learns

_UNITS = {
    Role.MACHINES: "number",
    Role.CORES: "per machine",
    Role.TOTAL_CORES: "number",
    Role.MEMORY: "bytes",
    Role.FRACTION: "share of the data",
    Role.BATCH: "records",
    Role.EPOCHS: "passes over the data",
    Role.JOBS: "number at once",
}
_NOUNS = {
    Role.MACHINES: "the number of machines",
    Role.CORES: "cores",
    Role.TOTAL_CORES: "cores",
    Role.MEMORY: "memory",
    Role.DATA_SIZE: "the size of the data",
    Role.FRACTION: "the share of the data",
    Role.BATCH: "the batch size",
    Role.EPOCHS: "the number of epochs",
    Role.ITERATIONS: "the number of iterations",
    Role.JOBS: "the number of jobs",
}
_LEAST_BYTES = 2**20  # No executor has less memory: a smaller bare number counts something else.


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing a study may set or vary. The default's type is the setting's type; `choices` make it a category.

    A setting of a table has no default and takes whatever it has.

    >>> Setting("hosts", role=Role.MACHINES).unit, Setting("memory_gb", role=Role.MEMORY, unit="gb").bytes(4)
    ('number', 4294967296)
    """

    name: str
    default: Level | None = None
    help: str = ""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    is_size: bool = False  # written like Spark's sizes: 512m, 4g
    role: Role = Role.OTHER
    unit: str = ""  # as people read it; of a memory also what a bare number counts: bytes, mb, gb
    # Its workload had results before it had this setting: at its default it is not recorded, so that they still fit.
    is_later: bool = False
    argument: str = ""  # how a job is given it, with {} for its level; "" is --name {}

    def __post_init__(self) -> None:
        if not self.unit and self.role in _UNITS:
            object.__setattr__(self, "unit", _UNITS[self.role])

    def check(self, level: Level) -> None:
        """Raise StudyError when `level` cannot be a value of this setting."""
        if self.is_size:
            if not isinstance(level, str) or parse_bytes(level) <= 0:
                raise StudyError(f"{self.name} = {level!r} is not a size", hint="write it as 512m or 4g")
        elif self.choices:
            if level not in self.choices:
                raise StudyError(
                    f"{self.name} = {level!r} is not one of its choices", hint=did_you_mean(str(level), self.choices)
                )
        elif isinstance(self.default, str):
            if not isinstance(level, str):
                raise StudyError(f"{self.name} = {level!r} is not a string", hint=self.help)
        elif self.default is not None:
            self._check_number(level)

    def require_possible(self, level: Level) -> None:
        """Raise StudyError for a number that no run can have: nothing runs on 0 machines, or reads -1 bytes."""
        number = as_number(level) if self.role in _NOUNS else None
        if number is not None and number <= 0:
            raise StudyError(
                f"{self.name} = {level} is impossible: {_NOUNS[self.role]} must be above 0",
                hint=f"give {self.name} a number above 0",
            )

    def _check_number(self, level: Level) -> None:
        whole = isinstance(self.default, int)
        if isinstance(level, (str, bool)) or (whole and not isinstance(level, int)):
            raise StudyError(f"{self.name} = {level!r} is not {'an integer' if whole else 'a number'}", hint=self.help)
        if self.minimum is not None and level < self.minimum:
            raise StudyError(f"{self.name} = {level!r} is below its minimum {self.minimum:g}", hint=self.help)

    def number(self, level: Level) -> float:
        """The number behind a level, where one is needed."""
        if (found := as_number(level)) is None:
            raise StudyError(f"{self.name} = {level!r} is not a number, but a price needs one", hint="write a number")
        return found

    def bytes(self, level: Level) -> int:
        """The size behind a level: a bare number is in the setting's unit."""
        if isinstance(level, str):
            return parse_bytes(level)
        if not self.is_size_clear(level):
            raise StudyError(
                f"{self.name} = {level!r} is a memory without a unit",
                hint=f"declare the role memory:gb or memory:mb for {self.name}",
            )
        return int(level * self._unit_bytes)

    def is_size_clear(self, level: Level) -> bool:
        """Whether the unit of a memory is known: 4g, or a number in a declared unit, or enough to be bytes."""
        return isinstance(level, str) or self._unit_bytes > 1 or level >= _LEAST_BYTES

    @property
    def _unit_bytes(self) -> int:
        return BYTES.get(self.unit.lower(), 1)

    @property
    def takes_fractions(self) -> bool:
        """Whether its levels may lie between whole numbers, where all that are listed are whole."""
        return isinstance(self.default, float)
