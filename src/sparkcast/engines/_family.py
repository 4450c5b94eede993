"""The processes an engine starts, tied to the life of this process by a warden."""

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from sparkcast.engines import Submission, _warden
from sparkcast.engines.conf import property_line
from sparkcast.engines.handle import Exit
from sparkcast.errors import StudyError

_COLLECT_S = 5.0


class Family:
    """Start processes that cannot outlive this one. `folder` is theirs, and goes with them."""

    def __init__(self) -> None:
        self.mark = secrets.token_hex(8)
        self._started: list[subprocess.Popen[bytes]] = []
        self.folder = Path(tempfile.mkdtemp(prefix="sparkcast-"))
        self._warden = self._start_warden()

    def _start_warden(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, _warden.__file__, self.mark, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C at the terminal is for us alone
        )

    def start(
        self,
        argv: tuple[str, ...],
        env: Mapping[str, str],
        log: Path,
        *,
        output: Path | None = None,
        directory: Path | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a member with its output in `log`, or only its errors when there is a file for the rest."""
        if self._warden.poll() is not None:  # the kernel kills anything when memory runs out
            self._warden = self._start_warden()
        with log.open("ab") as errors, (output or log).open("ab") as printed:
            process = subprocess.Popen(
                argv,
                env={**os.environ, **env, _warden.MARK: self.mark},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=errors,
                cwd=directory,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def submit(self, submission: Submission, log: Path, *, defaults: str = "") -> "ChildProcess":
        """Start a spark-submit whose secrets go through a file that only this user can read.

        Given such a file, Spark does not read its spark-defaults.conf: `defaults` is the text of it. Nor does it read
        a second one: the user's properties file goes into ours.
        """
        argv, users = submission.argv, submission.properties_file
        if users is not None:
            defaults = _text_of(users)
            argv = (argv[0], "--properties-file", str(users), *argv[1:])
        if submission.secrets:
            argv = submission.argv
            lines = [defaults, *(property_line(key, value) for key, value in submission.secrets.items()), ""]
            descriptor, name = tempfile.mkstemp(dir=self.folder, suffix=".conf")  # readable by its owner only
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
            argv = (argv[0], "--properties-file", name, *argv[1:])
        process = self.start(argv, submission.env, log, output=submission.output, directory=submission.directory)
        return ChildProcess(process, log)

    def leave_behind(self, command: Submission) -> Path:
        """Have a command run when this process is gone, or closes the family, unless the file that is returned is."""
        descriptor, name = tempfile.mkstemp(dir=self.folder, suffix=_warden.LAST_WORDS)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"argv": command.argv, "env": dict(command.env)}, file)
        return Path(name)

    def has_member(self, word: str) -> bool:
        """Whether a living member has `word` in its command line."""
        for process in _warden.members(self.mark):
            try:
                if any(word in part for part in process.cmdline()):
                    return True
            except psutil.Error:
                continue
        return False

    def close(self) -> None:
        """End all members and wait until they and the folder are gone, also when the warden is gone before them."""
        if self._warden.stdin:
            self._warden.stdin.close()
        self._warden.wait()
        _warden.say_last_words(str(self.folder))
        _warden.end_family(self.mark, str(self.folder))
        for process in self._started:
            with suppress(subprocess.TimeoutExpired):  # one that even SIGKILL does not end waits for a disk
                process.wait(timeout=_COLLECT_S)  # already dead: this only collects the exit code


def _text_of(properties_file: Path) -> str:
    try:
        return properties_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"cannot read the properties file {str(properties_file)!r}: {error}") from error


class ChildProcess:
    """A member as a handle: spark-submit in client mode is the driver itself."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process, self.log = process, log

    @property
    def name(self) -> str:
        return f"pid {self._process.pid}"

    @property
    def exit(self) -> Exit | None:
        code = self._process.returncode
        return None if code is None else Exit(code)

    def poll(self) -> Exit | None:
        self._process.poll()
        return self.exit

    def stop(self, *, patience_s: float = 5.0) -> None:
        """End it, politely first, with all of its process group."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is not None:
                break
            try:
                os.killpg(self._process.pid, number)
                self._process.wait(timeout=patience_s)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
