"""How long `sparkcast --help` takes, beside a Python that does nothing.

    python benchmarks/startup.py [--rounds 20]

All sides run in turn, so that other work on the machine slows them alike.
"""

import argparse
import subprocess
import sys
import time
from statistics import median

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import sparkcast": ["-c", "import sparkcast"],
    "sparkcast --help": ["-m", "sparkcast", "--help"],
    "sparkcast list models": ["-m", "sparkcast", "list", "models"],
}


def seconds(arguments: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = range(parser.parse_args().rounds)
    took = [{name: seconds(arguments) for name, arguments in COMMANDS.items()} for _ in rounds]
    for name in COMMANDS:
        times = [1000 * one[name] for one in took]
        print(f"{name:24} least {min(times):5.0f} ms   median {median(times):5.0f} ms")


if __name__ == "__main__":
    main()
