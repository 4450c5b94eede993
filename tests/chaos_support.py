"""Killing anything at any moment of a real study, and what must hold afterwards."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import sqlalchemy as sa

from postgres_support import PostgresServer
from sparkcast.engines import _warden
from sparkcast.store import databases, open_store
from tests_support import left_behind, wait_until

_COMMANDS = {
    "driver": "org.apache.spark.deploy.SparkSubmit",
    "executor": "CoarseGrainedExecutorBackend",
    "worker": "org.apache.spark.deploy.worker.Worker",
    "master": "org.apache.spark.deploy.master.Master",
}
TARGETS = ("driver", "executor", "sparkcast", "worker", "master")
_STUDY = """\
study: crash
workload: pi
settings:
  executors: [1, 2]
  samples: [20000, 40000]
  pause_s: 0.5
design: {{replicates: {replicates}, seed: 3}}
limits: {{trial: 4m, total: {total_s}s}}
"""
_TOTAL_S = 3600
_UNSEEN_S = 30.0  # a process that is killed is charged for what it was seen to do, and a little more
_FINALS = "SELECT t.key, o.* FROM observations o JOIN trials t ON t.id = o.trial_id WHERE o.is_final"


@dataclass
class Chaos:
    """One study, from its first start to its end. `broken` tells what did not hold."""

    folder: Path
    chance: random.Random
    server: PostgresServer | None = None  # SQLite without
    runners: int = 1
    replicates: int = 2
    kills: Counter[str] = field(default_factory=Counter)
    inside: int = 0  # kills while a trial ran
    ended_with: Counter[str] = field(default_factory=Counter)  # what a user was told when a run had to be resumed
    broken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._file = self.folder / "crash.yaml"
        self._file.write_text(_STUDY.format(replicates=self.replicates, total_s=_TOTAL_S))
        self._url = f"sqlite:///{self.folder / 'crash.results' / 'store.sqlite'}"
        if self.server is not None:
            self._url = self.server.new_url()
            open_store(self._url).close()
        self._process: subprocess.Popen[bytes] | None = None
        self._kept: dict[str, str] = {}

    # ------------------------------------------------------------ what is done

    def run(self, targets: list[str], *, wait_for_results: bool = True) -> None:
        """Kill these one after the other, then let the study end, and look whether all held."""
        self._start()
        for number, target in enumerate(targets):
            while wait_for_results and len(self._finals()) < min(number, self.n_trials - 2):
                self._resume_if_ended()
                time.sleep(0.2)
            if self.chance.random() < 0.75:
                self._wait_for_a_trial()
            time.sleep(self.chance.uniform(0.0, 3.0))
            if len(self._finals()) == self.n_trials:
                break
            self._kill(target)
            self._compare(f"kill of {target}")
        while self._wait() != 0:
            self._resume_if_ended()
        self._compare("the end")
        self._look_at_the_end()

    @property
    def n_trials(self) -> int:
        return 4 * self.replicates

    def _start(self) -> None:
        options = ["--runners", str(self.runners)] if self.runners > 1 else []
        options += ["--store", self._url] if self.server is not None else []
        command = [sys.executable, "-m", "sparkcast", "run", "crash.yaml", "--resume", *options]
        with (self.folder / "run.log").open("wb") as log:
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, env={**os.environ})

    def _wait(self) -> int:
        assert self._process is not None
        return self._process.wait()

    def _resume_if_ended(self) -> None:
        """A trial lost three times, or a cluster killed while it starts, ends a run: resume it, as its hint says."""
        assert self._process is not None
        if self._process.poll() is None:
            return
        said = (self.folder / "run.log").read_text()
        if self._process.returncode not in (0, 2, 3) or "Traceback" in said:
            self.broken.append(f"exit code {self._process.returncode}: {said[-500:]}")
        if self._process.returncode != 0:
            problem = said.rpartition("Error: ")[2].partition("\n")[0]
            self.ended_with[problem[:80]] += 1
        self._start()

    def _wait_for_a_trial(self) -> None:
        while not self._is_inside() and len(self._finals()) < self.n_trials:
            self._resume_if_ended()
            time.sleep(0.1)

    def _kill(self, target: str) -> None:
        assert self._process is not None
        if target == "postgresql":
            assert self.server is not None
            self.inside += self._is_inside()
            self.server.crash()
            self.kills[target] += 1
            return
        victims = list[int]()
        while not victims and len(self._finals()) < self.n_trials:
            time.sleep(0.1)
            self._resume_if_ended()
            victims = [self._process.pid] if target == "sparkcast" else self._pids(_COMMANDS[target])
        if not victims:
            return
        self.inside += self._is_inside()
        families = self._families()
        try:
            psutil.Process(self.chance.choice(victims)).kill()
        except psutil.NoSuchProcess:  # it ended by itself
            return
        self.kills[target] += 1
        if target == "sparkcast":
            self._process.wait()
            wait_until(lambda: not any(_warden.members(family) for family in families))  # nothing outlives it
            self._start()

    def _families(self) -> list[str]:
        """The marks that this run's engines gave to everything they started."""
        assert self._process is not None
        try:
            lines = [child.cmdline() for child in psutil.Process(self._process.pid).children()]
        except psutil.Error:
            return []
        return [line[2] for line in lines if _warden.__file__ in line]

    def _pids(self, main_class: str) -> list[int]:
        found = []
        for member in (one for family in self._families() for one in _warden.members(family)):
            try:
                if any(main_class in word for word in member.cmdline()):
                    found.append(member.pid)
            except psutil.Error:
                continue
        return found

    # ------------------------------------------------------------ what must hold

    def _finals(self) -> dict[str, str]:
        """Trial key -> everything stored about its observation, as text."""
        rows = self._rows(_FINALS)
        if len({row[0] for row in rows}) != len(rows):
            self.broken.append("a trial was counted twice")
        return {str(row[0]): repr(tuple(row)) for row in rows}

    def _is_inside(self) -> bool:
        return bool(self._rows("SELECT 1 FROM runs WHERE state = 'running'"))

    def _rows(self, query: str) -> list[Any]:
        if self.server is None and not (self.folder / "crash.results" / "store.sqlite").exists():
            return []
        engine = databases.engine_of(self._url)
        try:
            with engine.connect() as connection:
                return list(connection.execute(sa.text(query)).all())
        except sa.exc.DBAPIError:  # killed before the tables were made, or just now
            return []
        finally:
            engine.dispose()

    def _compare(self, when: str) -> None:
        now = self._finals()
        if not self._kept.items() <= now.items():
            self.broken.append(f"{when}: what was measured before is not there any more")
        self._kept = now

    def _look_at_the_end(self) -> None:
        counts = {
            "trials": "SELECT count(*) FROM trials",
            "results": "SELECT count(*) FROM observations WHERE is_final AND outcome = 'ok'",
            "finals": "SELECT count(*) FROM observations WHERE is_final",
        }
        for name, query in counts.items():
            [[count]] = self._rows(query)
            if count != self.n_trials:
                self.broken.append(f"{count} {name} instead of {self.n_trials}")
        if open_runs := self._rows("SELECT id FROM runs WHERE state = 'running'"):
            self.broken.append(f"{len(open_runs)} runs were left open")
        [[spent]] = self._rows("SELECT sum(ended_at - launched_at) FROM runs")
        if spent > _TOTAL_S + _UNSEEN_S * self.runners:
            self.broken.append(f"{spent:.0f} s spent, of {_TOTAL_S} s")
        if left := left_behind(os.environ.get("TMPDIR", "")):
            self.broken.append(f"left behind: {sorted(left)}")
