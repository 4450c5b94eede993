import os
import subprocess
import sys
from pathlib import Path

import psutil

from sparkcast.engines import _warden
from sparkcast.engines._family import ChildProcess, Family
from sparkcast.engines.handle import Exit
from tests_support import wait_until


def test_closing_a_family_ends_children_of_children_in_other_sessions(tmp_path: Path) -> None:
    family = Family()
    script = "import subprocess, time; subprocess.Popen(['sleep', '600'], start_new_session=True); time.sleep(600)"
    family.start((sys.executable, "-c", script), {}, tmp_path / "log")
    wait_until(lambda: len(_warden.members(family.mark)) == 2)
    family.close()
    assert not _warden.members(family.mark)
    assert not family.folder.exists()


def test_a_family_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from sparkcast.engines._family import Family; f = Family(); "
        f"f.start(('sleep', '600'), {{}}, Path({str(tmp_path / 'log')!r})); print(f.mark, f.folder, flush=True); "
        "time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    mark, folder = parent.stdout.readline().split()
    wait_until(lambda: len(_warden.members(mark)) == 1)
    parent.kill()
    parent.communicate()
    wait_until(lambda: not _warden.members(mark) and not Path(folder).exists())


def test_stopping_a_process_that_ignores_sigterm_kills_it(tmp_path: Path) -> None:
    family = Family()
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
    )
    process = family.start((sys.executable, "-c", stubborn), {}, tmp_path / "log")
    wait_until(lambda: "up" in (tmp_path / "log").read_text())
    handle = ChildProcess(process, tmp_path / "log")
    assert handle.poll() is None
    handle.stop(patience_s=0.3)
    assert (handle.exit, handle.log) == (Exit(-9), tmp_path / "log")
    family.close()


def test_members_of_another_family_are_left_alone() -> None:
    bystander = subprocess.Popen(["sleep", "600"], env={**os.environ, _warden.MARK: "another"})
    Family().close()
    assert psutil.pid_exists(bystander.pid)
    bystander.kill()
    bystander.wait()


def test_a_family_ends_even_when_its_warden_was_killed(tmp_path: Path) -> None:
    family = Family()
    family.start(("sleep", "600"), {}, tmp_path / "log")
    family._warden.kill()
    family._warden.wait()
    family.close()
    assert not _warden.members(family.mark)
    assert not family.folder.exists()


def test_a_warden_that_was_killed_is_replaced_with_the_next_member(tmp_path: Path) -> None:
    script = (
        "import time; from pathlib import Path; from sparkcast.engines._family import Family; f = Family(); "
        "f._warden.kill(); f._warden.wait(); "
        f"f.start(('sleep', '600'), {{}}, Path({str(tmp_path / 'log')!r})); print(f.mark, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    mark = parent.stdout.readline().strip()
    wait_until(lambda: len(_warden.members(mark)) == 1)
    parent.kill()
    parent.communicate()
    wait_until(lambda: not _warden.members(mark))
