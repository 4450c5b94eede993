"""Types shared by tests."""

import subprocess
from collections.abc import Callable

Sparkcast = Callable[..., "subprocess.CompletedProcess[str]"]
