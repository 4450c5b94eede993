"""May this job be submitted now? The answer of its history: nothing is read or started here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import ceil, exp, log
from shlex import join

from sparkcast.display import Displayed
from sparkcast.errors import StudyError
from sparkcast.fitting.distribution import Distribution
from sparkcast.history.failures import failure_chance
from sparkcast.history.jobs import JobHistory
from sparkcast.history.mixture import StudentMixture
from sparkcast.history.model import TOTAL, WORK, JobModel, RunQuantity
from sparkcast.history.points import NAMES, RunPoint, points_of
from sparkcast.history.prior import FleetPrior
from sparkcast.history.replayed import log_ratio
from sparkcast.history.resembling import NewJob, resembling, words_of
from sparkcast.study import ClusterSpeed, Price, Role
from sparkcast.study.derive import held_cost
from sparkcast.study.names import COST
from sparkcast.units import parse_bytes, show_bytes, show_duration, show_level, show_money, show_probability
from sparkcast.workloads.lines import AskedShape, SubmitLine, asked_shape, parse_line, program_of, with_properties

_FEWEST, _FEWEST_IN_FLEET = 3, 1  # runs of a job from which on it is answered; where other jobs say how runs vary
_FLEET = 5  # jobs that say it
_VARIED_RUNS = 3  # with other slots, that say what these do
_FARTHEST = 3.0  # times the largest or smallest input seen
_STEPS = (0.25, 0.33, 0.5, 0.67, 0.75, 1.25, 1.5, 2.0, 3.0, 4.0)  # of the executors, that are thought of
_BETTER = 0.005  # of a probability, that is worth other settings
_PER_DOUBLING = 0.12  # standard deviation of a replay's error, of the logarithm, for twice the slots
_DAY_S = 86400.0
_OLD_S = 30 * _DAY_S
_INSTANCES, _TOTAL_CORES, _CORES = "spark.executor.instances", "spark.cores.max", "spark.executor.cores"


class Verdict(StrEnum):
    ADMIT = "admit"
    CHANGE = "change"  # to the settings that are given
    REFUSE = "refuse"  # no settings are known that keep the limits
    UNKNOWN = "unknown"  # the history does not tell


_EXIT_CODES = {Verdict.ADMIT: 0, Verdict.CHANGE: 5, Verdict.REFUSE: 5, Verdict.UNKNOWN: 4}


@dataclass(frozen=True, slots=True)
class GateQuestion:
    """What is asked of a submission."""

    within_s: float | None = None  # from submission to exit
    budget: float | None = None
    confidence: float = 0.95
    input_size: float | None = None  # bytes
    price: Price | None = None
    free_cores: int | None = None  # that the cluster has now
    at_s: float | None = None  # when it is submitted, in seconds since the Unix epoch
    cluster: str = ""  # that it is for; "": as its last runs
    speed: ClusterSpeed | None = None  # of that, where it was measured

    def __post_init__(self) -> None:
        if self.within_s is None and self.budget is None:
            raise StudyError("there is no limit to check", hint="give `within_s=1800` or `budget=5`")
        for name, value in (("within_s", self.within_s), ("budget", self.budget), ("input_size", self.input_size)):
            if value is not None and not 0 < value < float("inf"):
                raise StudyError(f"`{name}={value:g}` is not above 0", hint="give a number above 0")
        if not 0 < self.confidence < 1:
            raise StudyError(f"`confidence={self.confidence:g}` is not between 0 and 1", hint="write 0.95 for 95%")
        if self.free_cores is not None and self.free_cores < 1:
            raise StudyError(f"`free_cores={self.free_cores}` run nothing", hint="give 1 or more, or leave it out")


@dataclass(frozen=True, slots=True)
class GateAnswer(Displayed):
    """Whether a job may be submitted, with the forecast that says so."""

    verdict: Verdict
    job: str  # "" where none is known
    probability: float | None  # of keeping all limits and not failing, with the line as it is
    reason: str
    within_s: float | None
    budget: float | None
    confidence: float
    time: Distribution | None  # seconds from submission to exit, with the line as it is
    work: Distribution | None  # seconds from the first to the last Spark job
    cost: Distribution | None
    settings: Mapping[str, str] = field(default_factory=dict)  # properties to change
    changed_probability: float | None = None  # with these
    changed_time: Distribution | None = None
    command: str = ""  # the line to paste
    basis: tuple[str, ...] = ()
    currency: str = ""
    n_runs: int = 0

    @property
    def exit_code(self) -> int:
        return _EXIT_CODES[self.verdict]


@dataclass(frozen=True, slots=True)
class _Shape:
    executors: int | None
    cores: int | None

    @property
    def slots(self) -> int | None:
        return self.executors * self.cores if self.executors and self.cores else None


def unknown(question: GateQuestion, reason: str, *, job: str = "", n: int = 0) -> GateAnswer:
    """The answer where the history does not tell."""
    within, budget, confidence = question.within_s, question.budget, question.confidence
    return GateAnswer(Verdict.UNKNOWN, job, None, reason, within, budget, confidence, None, None, None, n_runs=n)


def never_ran(
    words: Sequence[str], question: GateQuestion, reason: str, others: Mapping[str, Sequence[RunPoint]]
) -> GateAnswer:
    """The same for a job without runs, with what jobs that resemble it take."""
    line = parse_line(words)
    shape = asked_shape(line)
    asked = NewJob(
        question.input_size,
        shape.executors * shape.cores if shape.executors and shape.cores else None,
        parse_bytes(shape.memory) if shape.memory else None,
        words_of(line.kept.get("name", ""), program_of(line)),
    )
    found = resembling(others, asked)
    answer = unknown(question, reason)
    if found is None:
        return answer
    told = f"no run of its own: time as of {found.n_jobs} other jobs, most alike {', '.join(found.jobs)}"
    chance = found.time.below(log(question.within_s)) if question.within_s is not None else None
    return replace(answer, time=found.time.distribution(), probability=chance, basis=(told,))


def check_line(
    words: Sequence[str], history: JobHistory, question: GateQuestion, prior: FleetPrior | None = None
) -> GateAnswer:
    """Whether the job of this history may be submitted with this line."""
    return _Gate(words, history, question, prior or FleetPrior()).answer()


class _Gate:
    def __init__(self, words: Sequence[str], history: JobHistory, question: GateQuestion, prior: FleetPrior) -> None:
        self.words, self.history, self.question, self.prior = tuple(words), history, question, prior
        self.line: SubmitLine = parse_line(words)
        self.asked: AskedShape = asked_shape(self.line)
        self.points = points_of(history.runs)
        self.basis: list[str] = []

    def answer(self) -> GateAnswer:
        asked, n = self.question, len(self.points)
        needed = _FEWEST_IN_FLEET if self.prior.n_jobs >= _FLEET else _FEWEST
        if n < needed:
            runs = f"{n} run{'' if n == 1 else 's'} that ended well"
            return unknown(asked, f"{self.history.name} has {runs}; {needed} are needed", job=self.history.name, n=n)
        self.time, self.work = JobModel(self.points, self.prior, TOTAL), JobModel(self.points, self.prior, WORK)
        self.cost = self._cost_model()
        if asked.budget is not None and self.cost is None:
            raise StudyError("a budget needs a price", hint="give `price=Price(core_hour=0.05)`")
        if far := self._too_far():
            return unknown(asked, far, job=self.history.name, n=n)
        shape = self._shape()
        is_changed = self._note_settings()
        self.failing = failure_chance(self.history.runs)
        time, cost = self._at(self.time, shape, is_changed), self._at(self.cost, shape, is_changed)
        chance = self._chance(time, cost)
        self._note_basis(shape)
        if chance >= asked.confidence:
            return self._told(Verdict.ADMIT, self._kept(chance), chance, time, cost, shape, is_changed)
        better = self._better(shape, is_changed)
        if better is None or better[1] < asked.confidence:
            reason = self._missed(chance) + self._nearest(better, chance)
            return self._told(Verdict.REFUSE, reason, chance, time, cost, shape, is_changed)
        other, new_chance, new_time = better
        settings = self._properties(other)
        found = self._told(Verdict.CHANGE, self._missed(chance), chance, time, cost, shape, is_changed)
        return _with_change(found, settings, new_chance, new_time, join(with_properties(self.words, settings)))

    # ------------------------------------------------------------ what is asked about

    def _shape(self) -> _Shape:
        """Of the line, else as the job usually has it; no more than the free cores allow."""
        executors, cores = self.asked.executors, self.asked.cores or self.time.usual_cores
        if executors is None and not self.asked.is_dynamic:
            executors = self.time.usual_executors
            if executors:
                self.basis.append(f"the line leaves the executors open: {executors} assumed, as in the last runs")
        free = self.question.free_cores
        if free is not None and executors and cores and executors * cores > free:
            executors = max(free // cores, 1)
            self.basis.append(f"{free} cores are free: {executors} executors assumed from the start")
        return _Shape(executors, cores)

    def _place(self) -> str | None:
        """The cluster that is asked about: one that is named, or the line's master where the job ran on it."""
        if self.question.cluster:
            return self.question.cluster
        is_known = self.time.places.knows(self.line.master) or self.question.speed is not None
        return self.line.master if self.line.master and is_known else None

    def _note_place(self) -> None:
        place = self._place()
        if place is None or self.time.places.knows(place) or not self.time.places.first:
            return
        told = f"it never ran on {place}"
        if self.time.places.of(place, self.question.speed).expected:
            self.basis.append(f"{told}: its time there follows from the measured speeds of both clusters")
        else:
            self.basis.append(f"{told}, so the forecast is wider; `speed` measures clusters")

    def _note_settings(self) -> bool:
        """Whether the line sets what no run since the last change had."""
        last = self.points[-1].settings
        given = dict(self.line.properties)
        if self.asked.memory is not None:
            given["spark.executor.memory"] = self.asked.memory
        known = dict(last) | {"spark.executor.memory": last.get(NAMES[Role.MEMORY], "")}
        covered = (_INSTANCES, _CORES, _TOTAL_CORES)
        new = [
            name
            for name, value in given.items()
            if name not in covered and name in known and not _is_same(value, known[name])
        ]
        if new:
            differing = ", ".join(f"{name}={given[name]} (was {known[name]})" for name in sorted(new)[:3])
            self.basis.append(f"the last run had other settings, so the forecast is wider: {differing}")
        return bool(new)

    def _too_far(self) -> str:
        """Why the input is none that the runs tell of; "" where it is."""
        size, seen = self.question.input_size, [one.input_size for one in self.points if one.input_size > 0]
        if size is None:
            return ""
        if not seen:
            self.basis.append("the logs of this job record no input, so its size is ignored")
            return ""
        if not min(seen) / _FARTHEST <= size <= max(seen) * _FARTHEST:
            return (
                f"{self.history.name} never read so much or so little: {show_bytes(min(seen))} to "
                f"{show_bytes(max(seen))}, and {show_bytes(size)} are asked about"
            )
        return ""

    def _cost_model(self) -> JobModel | None:
        price = self.question.price
        found = [_cost_of(point, price) for point in self.points]
        if not any(cost for cost in found):
            return None
        return JobModel(self.points, self.prior, RunQuantity(COST, lambda one: _cost_of(one, price), is_per_slot=True))

    # ------------------------------------------------------------ forecasts

    def _at(self, model: JobModel | None, shape: _Shape, is_changed: bool) -> StudentMixture | None:
        if model is None:
            return None
        size, moment = self.question.input_size, self.question.at_s
        place = self._place()
        speed = None if place is None else self.question.speed
        usual = _Shape(model.usual_executors, model.usual_cores)
        if shape.slots is None or usual.slots is None or shape.slots == usual.slots or _varied(self.points):
            return model.forecast(
                input_size=size,
                executors=shape.executors,
                cores=shape.cores,
                is_changed=is_changed,
                at_s=moment,
                cluster=place,
                speed=speed,
            )
        found = model.forecast(input_size=size, is_changed=is_changed, at_s=moment, cluster=place, speed=speed)
        record = self.points[-1].record
        ratio = None if record is None else log_ratio(record, usual.slots, shape.slots)
        if ratio is None:
            return model.forecast(
                input_size=size,
                executors=shape.executors,
                cores=shape.cores,
                is_changed=is_changed,
                at_s=moment,
                cluster=place,
                speed=speed,
            )
        more = log(shape.slots / usual.slots)
        per_slot = more if model.quantity.is_per_slot else 0.0
        return found.moved(ratio + per_slot).wider(_PER_DOUBLING * abs(more) / log(2))

    def _chance(self, time: StudentMixture | None, cost: StudentMixture | None) -> float:
        """Of keeping both limits without failing. Time and cost of a run go together, so the lesser one counts."""
        chances = [1.0]
        if self.question.within_s is not None and time is not None:
            chances.append(time.below(log(self.question.within_s)))
        if self.question.budget is not None and cost is not None:
            chances.append(cost.below(log(self.question.budget)))
        return min(chances) * (1 - self.failing)

    def _better(self, shape: _Shape, is_changed: bool) -> tuple[_Shape, float, StudentMixture] | None:
        """The fewest executors that keep the limits, else those that are likeliest to."""
        if not shape.executors or not shape.cores or self.asked.is_dynamic:
            return None
        most = self.question.free_cores // shape.cores if self.question.free_cores else None
        best: tuple[_Shape, float, StudentMixture] | None = None
        numbers = sorted({max(1, ceil(step * shape.executors)) for step in _STEPS} - {shape.executors})
        for executors in numbers:
            if most is not None and executors > most:
                break
            other = _Shape(executors, shape.cores)
            time, cost = self._at(self.time, other, is_changed), self._at(self.cost, other, is_changed)
            chance = self._chance(time, cost)
            if time is not None and (best is None or chance > best[1] + _BETTER):
                best = (other, chance, time)
            if chance >= self.question.confidence:
                break
        return best

    def _properties(self, shape: _Shape) -> dict[str, str]:
        found = {_INSTANCES: str(shape.executors)}
        if _TOTAL_CORES in self.line.properties or self.line.master.startswith("spark://"):
            found[_TOTAL_CORES] = str((shape.executors or 1) * (shape.cores or 1))
        return found

    # ------------------------------------------------------------ words

    def _limits(self) -> str:
        asked, parts = self.question, []
        if asked.within_s is not None:
            parts.append(f"the {show_duration(asked.within_s)} deadline")
        if asked.budget is not None:
            parts.append(f"the {show_money(asked.budget, self._currency)} budget")
        return " and ".join(parts)

    @property
    def _currency(self) -> str:
        return self.question.price.currency if self.question.price else ""

    def _kept(self, chance: float) -> str:
        return f"meets {self._limits()} with {show_probability(chance)} probability"

    def _missed(self, chance: float) -> str:
        needed = show_level(self.question.confidence)
        return f"meets {self._limits()} with {show_probability(chance)} probability only; {needed} are required"

    def _nearest(self, better: tuple[_Shape, float, StudentMixture] | None, chance: float) -> str:
        if better is None or better[1] <= chance + _BETTER:
            return ", and no other number of executors is known to do better"
        return f"; the best known, {better[0].executors} executors, have {show_probability(better[1])}"

    def _note_basis(self, shape: _Shape) -> None:
        points, asked = self.points, self.question
        since = len(points) - self.time.since
        told = f"{len(points)} run{'' if len(points) == 1 else 's'} of {self.history.name}"
        told += f", {since} since its time changed" if self.time.shifts else ""
        told += f", and how {self.prior.n_jobs} other jobs vary" if len(points) < _FEWEST else ""
        self.basis.insert(0, told)
        if asked.input_size is None and self.time.has_input:
            mean, sd = self.time.next_input(asked.at_s)
            low, high = (show_bytes(exp(mean + side * 1.645 * sd)) for side in (-1, 1))
            self.basis.append(f"input not given: {low} to {high} assumed, as in the last runs")
        if shape.slots and self.time.usual_executors and not _varied(points):
            usual = (self.time.usual_executors or 0) * (self.time.usual_cores or 0)
            if shape.slots != usual:
                self.basis.append("executors never varied in its history: their effect is replayed from its stages")
        self._note_place()
        if asked.at_s is not None and asked.at_s - points[-1].started_s > _OLD_S:
            self.basis.append(f"its last run is {(asked.at_s - points[-1].started_s) / _DAY_S:.0f} days old")
        if self.failing > 0.05:
            self.basis.append(f"it may fail by itself: {show_probability(self.failing)}, from its last runs")

    def _told(
        self,
        verdict: Verdict,
        reason: str,
        chance: float,
        time: StudentMixture | None,
        cost: StudentMixture | None,
        shape: _Shape,
        is_changed: bool,
    ) -> GateAnswer:
        work = self._at(self.work, shape, is_changed)
        return GateAnswer(
            verdict,
            self.history.name,
            chance,
            reason,
            self.question.within_s,
            self.question.budget,
            self.question.confidence,
            None if time is None else time.distribution(),
            None if work is None else work.distribution(),
            None if cost is None else cost.distribution(),
            basis=tuple(self.basis),
            currency=self._currency,
            n_runs=len(self.points),
        )


def _with_change(
    found: GateAnswer, settings: Mapping[str, str], chance: float, time: StudentMixture, command: str
) -> GateAnswer:
    return replace(
        found, settings=settings, changed_probability=chance, changed_time=time.distribution(), command=command
    )


def _cost_of(point: RunPoint, price: Price | None) -> float | None:
    return point.responses.get(COST) if price is None else held_cost(point.responses, price)


def _varied(points: Sequence[RunPoint]) -> bool:
    """Whether runs with other slots say what these do."""
    counts: dict[int, int] = {}
    for point in points:
        if point.slots:
            counts[point.slots] = counts.get(point.slots, 0) + 1
    return sum(count >= _VARIED_RUNS for count in counts.values()) > 1


def _is_same(value: str, known: str) -> bool:
    from sparkcast.units import as_number

    own, other = as_number(value), as_number(known)
    return value.lower() == known.lower() or (own is not None and own == other)
