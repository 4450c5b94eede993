"""A real Spark cluster on this machine, to which lines of spark-submit are given."""

import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sparkcast.engines import SparkJob
from sparkcast.engines.embedded import EmbeddedCluster
from sparkcast.study import SparkOptions

PROGRAMS = Path(__file__).with_name("programs")
SMALL = {
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.cores.max": "1",
}


@dataclass(frozen=True)
class RealCluster:
    """Takes lines, and says how many jobs run."""

    engine: EmbeddedCluster
    folder: Path
    ui: str  # of its master

    def line(self, program: str, name: str, conf: Mapping[str, str], arguments: Sequence[str] = ()) -> list[str]:
        """The words of spark-submit."""
        job = SparkJob(PROGRAMS / program, tuple(arguments), {**self.engine.defaults(), **conf}, name)
        submission = self.engine.submission(job)
        secret = self.folder / "secret.conf"
        secret.touch(mode=0o600)
        secret.write_text("".join(f"{key} {value}\n" for key, value in submission.secrets.items()))
        return [submission.argv[0], "--properties-file", str(secret), *submission.argv[1:]]

    def environment(self) -> dict[str, str]:
        submission = self.engine.submission(SparkJob(PROGRAMS / "train_digits.py", (), {}, "none"))
        return {**os.environ, **submission.env, "PYTHONWARNINGS": "ignore"}


@contextmanager
def real_cluster() -> Iterator[RealCluster]:
    """The embedded cluster, with its master's own pages."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedCluster(SparkOptions()) as engine:
        log = (engine._running().folder / "logs" / "master.log").read_text()
        found = re.search(r"started at http://\S+?:(\d+)", log)
        if found is None:
            raise SystemExit(f"the master's log names no address of its pages:\n{log[-2000:]}")
        yield RealCluster(engine, Path(folder), f"http://127.0.0.1:{found[1]}")
