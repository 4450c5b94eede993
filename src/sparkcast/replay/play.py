"""An event loop that plays a workload on a cluster.

Spark's rules: jobs begin when those before them have ended, stages when their parents have; tasks of the first job go
first (or pools share), one at a time to the executor with most free slots; a barrier stage starts all tasks together;
a task whose partition is cached waits for the executor that has it.
"""

import heapq
from bisect import insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, inf

from sparkcast.errors import InfeasibleError
from sparkcast.replay.cluster import Allocation, Node, ReplayCluster, core_hours, gib_hours
from sparkcast.replay.workload import RecordedWork, StageWork

# What ends comes before what begins at the same moment.
_FINISH, _STAGE_DONE, _JOB_END, _SUBMIT, _READY, _UP, _DOWN, _LOOK, _RETRY = range(9)

_NEWS_S = 0.001  # Spark hears of a failure after it has given the slot away


@dataclass(frozen=True, slots=True)
class TaskPlayed:
    stage: int
    index: int
    node: int
    launch_s: float
    finish_s: float


@dataclass(frozen=True, slots=True)
class Played:
    """What came out. Seconds since the application began; jobs and stages by their place in the workload."""

    wall_s: float
    jobs: tuple[tuple[float, float], ...] = field(repr=False)
    stages: tuple[tuple[float, float], ...] = field(repr=False)  # from the first launch to the last finish
    core_hours: float
    gib_hours: float
    busy_s: float  # slot-seconds with a task
    tasks: tuple[TaskPlayed, ...] = field(default=(), repr=False)

    @property
    def in_jobs_s(self) -> float:
        """From the first submission to the last end."""
        return max((end for _, end in self.jobs), default=0.0) - min((start for start, _ in self.jobs), default=0.0)


def play(workload: RecordedWork, cluster: ReplayCluster, *, record: bool = False) -> Played:
    """Play one on the other.

    Raises:
        InfeasibleError: A stage can never start there: it finds no executor of its profile, or its barrier needs more
            slots than there are.
    """
    return _Loop(workload, cluster, record).run()


class _Open:
    """A stage that may start tasks."""

    __slots__ = ("last", "local", "next", "order", "place", "stage", "times", "waiting")

    def __init__(self, place: int, stage: StageWork, order: Sequence[float]) -> None:
        self.place, self.stage, self.order = place, stage, order
        self.times: list[float] = (stage.work_s + stage.around_s).tolist()
        self.next = 0  # of those that go anywhere
        self.waiting: list[int] | None = None  # those that go anywhere, where others do not
        self.local: dict[int, deque[int]] = {}  # by executor
        self.last = 0.0  # when a task last started where its data are

    @property
    def n_anywhere(self) -> int:
        return len(self.times) if self.waiting is None else len(self.waiting)

    @property
    def n_pending(self) -> int:
        return self.n_anywhere - self.next + sum(map(len, self.local.values()))


class _Loop:
    def __init__(self, workload: RecordedWork, cluster: ReplayCluster, record: bool) -> None:
        self.work, self.cluster, self.record = workload, cluster, record
        self.events: list[tuple[float, int, int, int]] = []
        self.n_tasks = 0  # that run
        self.nodes: list[Node] = list(cluster.nodes)
        self.free = [0] * len(self.nodes)
        self.is_up = [False] * len(self.nodes)
        self.offers: dict[int, list[tuple[int, int]]] = {}
        self.left = [stage.n_tasks for stage in workload.stages]
        self.waits = [len(stage.parents) + 1 for stage in workload.stages]
        self.open: list[tuple[tuple[float, ...], _Open]] = []
        self.started = [inf] * len(workload.stages)
        self.ended = [0.0] * len(workload.stages)
        self.jobs = [[0.0, 0.0] for _ in workload.jobs]
        self.job_left = [len(job.stages) for job in workload.jobs]
        self.job_waits = [len(job.after) for job in workload.jobs]
        self.children: dict[int, list[int]] = {}
        for place, stage in enumerate(workload.stages):
            for parent in stage.parents:
                self.children.setdefault(parent, []).append(place)
        self.later: dict[int, list[int]] = {}
        for place, job in enumerate(workload.jobs):
            for earlier in job.after:
                self.later.setdefault(earlier, []).append(place)
        self.in_pool: dict[str, int] = {}
        self.retried: dict[int, _Open] = {}  # stages in which tasks fail
        self.cached: dict[int, dict[int, int]] = {}  # RDD -> partition -> executor
        self.busy_s = 0.0
        self.tasks: list[TaskPlayed] = []
        self.policy = _Policy(self, cluster.allocation) if cluster.allocation else None

    def run(self) -> Played:
        for place, job in enumerate(self.work.jobs):
            if not job.after:
                self.push(job.gap_s, _SUBMIT, place)
        for number, node in enumerate(self.nodes):
            if self.policy is None or number < self.policy.n_asked:
                self.push(node.ready_s, _UP, number)
            if (until := min(node.gone_s, node.retired_s)) < inf:
                self.push(max(until, node.ready_s), _DOWN, number)
        events, handle = self.events, self.handle
        while events:
            now = events[0][0]
            while events and events[0][0] <= now:
                _, kind, one, other = heapq.heappop(events)
                handle(now, kind, one, other)
            if self.policy is not None:
                self.policy.release(now)
            if self.open:
                self.dispatch(now)
            if self.policy is not None:
                self.policy.request(now)
        self.require_all()
        wall = max((end for _, end in self.jobs), default=0.0) + self.work.after_s
        lives = ReplayCluster(tuple(self.nodes if self.policy is None else self.policy.lives(wall)))
        return Played(
            wall,
            tuple((start, end) for start, end in self.jobs),
            tuple(zip(self.started, self.ended, strict=True)),
            core_hours(lives, wall),
            gib_hours(lives, wall),
            self.busy_s,
            tuple(self.tasks),
        )

    def push(self, moment: float, kind: int, one: int, other: int = 0) -> None:
        heapq.heappush(self.events, (moment, kind, one, other))

    def handle(self, now: float, kind: int, one: int, other: int) -> None:
        if kind == _FINISH:
            self.finished(now, one, other)
        elif kind == _STAGE_DONE:
            self.stage_done(now, one)
        elif kind == _JOB_END:
            self.jobs[one][1] = now
            for place in self.later.get(one, ()):
                self.job_waits[place] -= 1
                if not self.job_waits[place]:
                    self.push(now + self.work.jobs[place].gap_s, _SUBMIT, place)
        elif kind == _SUBMIT:
            self.submitted(now, one)
        elif kind == _READY:
            self.opened(now, one)
        elif kind == _UP:
            self.is_up[one] = True
            self.free[one] = self.nodes[one].slots
            self.offer(one)
        elif kind == _DOWN:
            self.go(one)
        elif kind == _RETRY:
            self.failed(one, other)

    def failed(self, place: int, retry: int) -> None:
        """A task has failed: Spark starts it again before those that have not run yet."""
        opened = self.retried[place]
        if opened.waiting is not None:
            opened.waiting.insert(opened.next, retry)
        if all(one is not opened for _, one in self.open):
            self.let_in(opened)

    def let_in(self, opened: _Open) -> None:
        insort(self.open, (tuple(opened.order), opened), key=lambda pair: pair[0])

    def go(self, node: int) -> None:
        """An executor takes no more tasks; those that run there end as they did."""
        self.is_up[node] = False
        self.free[node] = 0

    def submitted(self, now: float, place: int) -> None:
        self.jobs[place][0] = now
        stages = self.work.jobs[place].stages
        for stage in stages:
            self.unblock(now, stage)
        if not stages:
            self.push(now + self.work.jobs[place].tail_s, _JOB_END, place)

    def unblock(self, now: float, stage: int) -> None:
        self.waits[stage] -= 1
        if not self.waits[stage]:
            self.push(now + self.work.stages[stage].delay_s, _READY, stage)

    def opened(self, now: float, place: int) -> None:
        stage = self.work.stages[place]
        if not stage.n_tasks:
            self.started[place] = self.ended[place] = now
            self.push(now + stage.tail_s, _STAGE_DONE, place)
            return
        opened = _Open(place, stage, (stage.job, stage.stage_id, stage.attempt))
        where = self.cached.get(stage.reads_cached)
        if where:
            opened.waiting, opened.last = [], now
            for task, index in enumerate(stage.index.tolist()):
                node = where.get(index, -1)
                if node >= 0 and self.is_up[node] and self.nodes[node].profile_id == stage.profile_id:
                    opened.local.setdefault(node, deque()).append(task)
                else:
                    opened.waiting.append(task)
        if stage.retries and not stage.is_barrier:
            repeats = set(stage.retries.values())
            anywhere = range(stage.n_tasks) if opened.waiting is None else opened.waiting
            opened.waiting = [t for t in anywhere if t not in repeats]
            opened.local = {node: deque(t for t in own if t not in repeats) for node, own in opened.local.items()}
            self.retried[place] = opened
        self.let_in(opened)

    def finished(self, now: float, place: int, node: int) -> None:
        self.n_tasks -= 1
        if self.is_up[node]:
            self.free[node] += 1
            self.offer(node)
        stage = self.work.stages[place]
        pool = self.work.jobs[stage.job].pool
        self.in_pool[pool] = self.in_pool.get(pool, 0) - 1
        self.left[place] -= 1
        if not self.left[place]:
            self.ended[place] = now
            self.push(now + stage.tail_s, _STAGE_DONE, place)

    def stage_done(self, now: float, place: int) -> None:
        for child in self.children.get(place, ()):
            self.unblock(now, child)
        job = self.work.stages[place].job
        self.job_left[job] -= 1
        if not self.job_left[job]:
            self.push(now + self.work.jobs[job].tail_s, _JOB_END, job)

    # Who starts next, and where.

    def dispatch(self, now: float) -> None:
        if self.is_alone() and self.at_one_go(now):
            return
        if self.work.is_fair and len({self.pool(one) for _, one in self.open}) > 1:
            self.share(now)
        else:
            for _, one in self.open:
                while self.launch_one(now, one):
                    pass
        self.open = [pair for pair in self.open if pair[1].n_pending]

    def share(self, now: float) -> None:
        """Pools with fewest running tasks first."""
        candidates = [one for _, one in self.open]
        while candidates:
            first = min(candidates, key=lambda one: (self.in_pool.get(self.pool(one), 0), *one.order))
            if not self.launch_one(now, first):
                candidates.remove(first)

    def pool(self, one: _Open) -> str:
        return self.work.jobs[one.stage.job].pool

    def is_alone(self) -> bool:
        """One stage has all slots that there are, until the next event: nothing can come between its tasks."""
        if len(self.open) != 1 or self.n_tasks or self.record or self.policy is not None:
            return False
        one = self.open[0][1]
        stage = one.stage
        return not (one.next or one.local or one.waiting is not None or stage.is_barrier or stage.caches)

    def at_one_go(self, now: float) -> bool:
        """List scheduling with one heap: most stages of most applications, and ten times as fast as single events."""
        one = self.open[0][1]
        profile = one.stage.profile_id
        n_free = sum(n for n, node in zip(self.free, self.nodes, strict=True) if node.profile_id == profile)
        if not n_free:
            return False
        times = one.times
        if len(times) <= n_free:
            end = now + max(times)
        else:
            ends = [now + took for took in times[:n_free]]
            heapq.heapify(ends)
            replace = heapq.heapreplace
            for took in times[n_free:]:
                replace(ends, ends[0] + took)
            end = max(ends)
        if self.events and self.events[0][0] < end:
            return False
        place = one.place
        self.busy_s += sum(times)
        self.started[place], self.ended[place], self.left[place] = now, end, 0
        self.open.clear()
        self.push(end + one.stage.tail_s, _STAGE_DONE, place)
        return True

    def launch_one(self, now: float, one: _Open) -> bool:
        profile = one.stage.profile_id
        if one.stage.is_barrier:
            return self.launch_together(now, one)
        for node, tasks in one.local.items():
            if tasks and self.is_up[node] and self.free[node] > 0:
                self.start(now, one, tasks.popleft(), node)
                one.last = now
                return True
        if one.next < one.n_anywhere:
            node = self.best(profile)
            if node < 0:
                return False
            task = one.next if one.waiting is None else one.waiting[one.next]
            one.next += 1
            self.start(now, one, task, node)
            return True
        return self.launch_far(now, one)

    def launch_far(self, now: float, one: _Open) -> bool:
        """Away from its data, once the stage has waited long enough for a slot beside them."""
        longest = max(one.local.values(), key=len, default=None)
        if not longest:
            return False
        until = one.last + self.work.locality_wait_s
        gone = next((tasks for node, tasks in one.local.items() if tasks and not self.is_up[node]), None)
        if now < until and gone is None:
            if (node := self.best(one.stage.profile_id)) >= 0:
                self.offer(node)
                self.push(until, _LOOK, 0)
            return False
        node = self.best(one.stage.profile_id)
        if node < 0:
            return False
        self.start(now, one, (gone or longest).popleft(), node)
        return True

    def launch_together(self, now: float, one: _Open) -> bool:
        profile = one.stage.profile_id
        free = [
            n
            for n, node in enumerate(self.nodes)
            if node.profile_id == profile and self.is_up[n]
            for _ in range(self.free[n])
        ]
        n_tasks = len(one.times)
        if one.next or len(free) < n_tasks:
            return False
        for task in range(n_tasks):
            node = self.best(profile)
            one.next += 1
            self.start(now, one, task, node)
        return True

    def start(self, now: float, one: _Open, task: int, node: int) -> None:
        place, took = one.place, one.times[task]
        self.free[node] -= 1
        if self.free[node] > 0:
            self.offer(node)
        self.n_tasks += 1
        self.busy_s += took
        self.started[place] = min(self.started[place], now)
        pool = self.pool(one)
        self.in_pool[pool] = self.in_pool.get(pool, 0) + 1
        for rdd in one.stage.caches:
            self.cached.setdefault(rdd, {})[int(one.stage.index[task])] = node
        if self.record:
            self.tasks.append(TaskPlayed(place, int(one.stage.index[task]), node, now, now + took))
        heapq.heappush(self.events, (now + took, _FINISH, place, node))
        if place in self.retried and (retry := one.stage.retries.get(task)) is not None:
            self.push(now + took + _NEWS_S, _RETRY, place, retry)

    def offer(self, node: int) -> None:
        if self.free[node] > 0 and self.is_up[node]:
            heapq.heappush(self.offers.setdefault(self.nodes[node].profile_id, []), (-self.free[node], node))

    def best(self, profile: int) -> int:
        """The executor with most free slots; -1 for none. Its offer is taken."""
        offers = self.offers.get(profile, [])
        while offers:
            free, node = heapq.heappop(offers)
            if self.is_up[node] and self.free[node] == -free:
                return node
        return -1

    def require_all(self) -> None:
        for place, n_left in enumerate(self.left):
            stage = self.work.stages[place]
            if not n_left or self.waits[place]:
                continue
            most = sum(node.slots for node in self.nodes if node.profile_id == stage.profile_id)
            if stage.is_barrier and most < stage.n_tasks:
                raise InfeasibleError(
                    f"{stage.label} is a barrier stage of {stage.n_tasks} tasks, which start together: {most} slots "
                    "are too few",
                    hint=f"give it at least {stage.n_tasks} slots",
                )
            raise InfeasibleError(
                f"{stage.label} finds no executor of resource profile {stage.profile_id}",
                hint="give executors of the profile that it asks for",
            )


class _Policy:
    """Dynamic allocation: requests double every second while tasks wait; executors without a task for long go."""

    def __init__(self, loop: _Loop, rules: Allocation) -> None:
        self.loop, self.rules = loop, rules
        self.n_asked = min(rules.least, len(loop.nodes))
        self.added = 1
        self.next_request: float | None = None
        self.idle_since = [node.ready_s for node in loop.nodes]
        self.came = [one.registered_s if n < self.n_asked else inf for n, one in enumerate(loop.nodes)]
        self.went = [inf] * len(loop.nodes)
        self.spare = deque(range(self.n_asked, len(loop.nodes)))

    def request(self, now: float) -> None:
        loop, rules = self.loop, self.rules
        per_node = max((node.slots for node in loop.nodes), default=1) or 1
        pending = sum(one.n_pending for _, one in loop.open)
        wanted = min(ceil((pending + loop.n_tasks) / per_node), rules.most)
        if not pending or wanted <= self.n_asked:
            self.added, self.next_request = 1, None
            return
        if self.next_request is None:
            self.next_request = now + rules.backlog_s
            loop.push(self.next_request, _LOOK, 0)
        if now < self.next_request:
            return
        for _ in range(min(self.added, wanted - self.n_asked, len(self.spare))):
            node = self.spare.popleft()
            self.n_asked += 1
            self.came[node], self.idle_since[node] = now, now + rules.lag_s
            loop.push(now + rules.lag_s, _UP, node)
        self.added *= 2
        self.next_request = now + rules.backlog_s
        loop.push(self.next_request, _LOOK, 0)

    def release(self, now: float) -> None:
        """Those that have been idle for too long by now went when they had been; others may come in their place."""
        loop, rules = self.loop, self.rules
        keeps = {node for where in loop.cached.values() for node in where.values()}
        for node in range(len(loop.nodes)):
            if not loop.is_up[node] or node in keeps:
                continue
            if loop.free[node] < loop.nodes[node].slots:
                self.idle_since[node] = inf
            elif self.idle_since[node] == inf:
                self.idle_since[node] = now
            elif now - self.idle_since[node] >= rules.idle_s and self.n_asked > rules.least:
                loop.go(node)
                self.went[node] = self.idle_since[node] + rules.idle_s
                self.n_asked -= 1
                self.add_spare(loop.nodes[node])

    def add_spare(self, node: Node) -> None:
        loop = self.loop
        self.spare.append(len(loop.nodes))
        loop.nodes.append(node)
        loop.free.append(0)
        loop.is_up.append(False)
        self.idle_since.append(inf)
        self.came.append(inf)
        self.went.append(inf)

    def lives(self, end_s: float) -> list[Node]:
        """Every executor with the time it was paid for."""
        return [
            Node(node.slots, node.cores, came, came, min(went, end_s), profile_id=node.profile_id, gib=node.gib)
            for node, came, went in zip(self.loop.nodes, self.came, self.went, strict=True)
            if came < inf
        ]
