"""What the console blocks of README and docs show, compared with what their commands print.

    python docs/blocks.py            # the blocks that differ
    python docs/blocks.py --write    # write into them what is printed today

A page brings the files of its commands along: a comment `<!-- file: runs.csv -->` names the block of csv below it, and
`<!-- file: runs.csv of prediction.md -->` takes one of another page. A block below the comment `<!-- printed -->` shows
what any machine prints, but for the last digits. Others show real runs: of those only the commands are checked.
"""

import contextlib
import difflib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.parent.name != "reference"))
PRINTED = "<!-- printed -->"
_BLOCK = re.compile(r"(?:<!-- (?P<note>[^>]*?) -->\n+)?```(?P<language>\w+)\n(?P<text>.*?)```", re.DOTALL)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_WIDTH = "116"
_TOLERANCE = 0.02  # libraries of other versions differ in last digits


@dataclass(frozen=True)
class Command:
    """A command of a block, and the lines that the block shows below it."""

    words: str
    shown: str

    @property
    def arguments(self) -> list[str]:
        """As a shell would give them; comments are for readers."""
        return shlex.split(self.words, comments=True)


@dataclass(frozen=True)
class Block:
    page: Path
    note: str
    text: str

    @property
    def is_printed(self) -> bool:
        return self.note == "printed"

    @property
    def commands(self) -> list[Command]:
        made = []
        for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            lines = part.splitlines(keepends=True)
            n_words = next((n for n, line in enumerate(lines, 1) if not line.rstrip("\n").endswith("\\")), len(lines))
            made.append(Command("".join(lines[:n_words]).replace("\\\n", " ").strip(), "".join(lines[n_words:])))
        return made


def blocks(page: Path, language: str = "console") -> list[Block]:
    found = _BLOCK.finditer(page.read_text())
    return [Block(page, m["note"] or "", m["text"]) for m in found if m["language"] == language]


def files(page: Path) -> dict[str, str]:
    """The files that a page shows, or takes from another page."""
    made = {}
    for block in blocks(page, "csv"):
        if block.note.startswith("file: "):
            made[block.note.removeprefix("file: ")] = block.text
    for name, other in re.findall(r"<!-- file: (\S+) of (\S+) -->", page.read_text()):
        made[name] = files(page.parent / other)[name]
    return made


def run(command: Command, folder: Path) -> str:
    """What it prints, both for people and for programs, in the order in which it does."""
    if command.arguments[0] != "sparkcast":
        shell = subprocess.run(["bash", "-c", command.words], cwd=folder, capture_output=True, text=True, check=True)
        return shell.stdout + shell.stderr
    from sparkcast import cli

    both, before, where = io.StringIO(), sys.argv, Path.cwd()
    width = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _WIDTH
    sys.argv = command.arguments
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(both), contextlib.redirect_stderr(both), contextlib.suppress(SystemExit):
            cli.main()
    finally:
        os.chdir(where)
        sys.argv = before
        os.environ.pop("COLUMNS") if width is None else os.environ.update(COLUMNS=width)
    return both.getvalue()


def differences(page: Path) -> Iterator[str]:
    """Each command whose printed words, or numbers, are not those that the page shows."""
    for command, printed in _answers(page):
        if (chunk := _missing(command, printed)) is not None:
            diff = difflib.unified_diff(chunk.splitlines(), printed.splitlines(), "shown", "printed", lineterm="")
            yield "\n".join([f"{page.name}: $ {command.words}", *diff])


def refreshed(page: Path) -> str:
    """The page with what its commands print today."""
    text = page.read_text()
    for command, printed in _answers(page):
        if _missing(command, printed) is not None:
            text = text.replace(f"{command.words}\n{command.shown}", f"{command.words}\n{_as_shown(command, printed)}")
    return text


def _missing(command: Command, printed: str) -> str | None:
    """The first part of what is shown, between lines of dots, that is not printed after those before it."""
    place, tokens = 0, printed.split()
    for chunk in re.split(r"^\.\.\.\n", command.shown, flags=re.MULTILINE):
        wanted = chunk.split()
        found = next((at for at in range(place, len(tokens) + 1) if _same(wanted, tokens[at : at + len(wanted)])), None)
        if found is None:
            return chunk
        place = found + len(wanted)
    return None


def _answers(page: Path) -> Iterator[tuple[Command, str]]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files(page).items():
            (Path(folder) / name).write_text(text)
        for block in blocks(page):
            for command in block.commands if block.is_printed else ():
                yield command, run(command, Path(folder))


def _as_shown(command: Command, printed: str) -> str:
    """From the first line that resembles what was shown to the last one, with what was left out."""
    old, new = command.shown.splitlines(), [line.rstrip() for line in printed.splitlines()]
    kept: list[str] = []
    chunk: list[str] = []
    for line in [*old, "..."]:
        if line != "...":
            chunk.append(line)
            continue
        if chunk:
            start = _nearest(chunk[0], new)
            end = _nearest(chunk[-1], new[start:]) + start
            while new[end + 1 : end + 2] and new[end + 1].startswith("  "):  # a line that is wrapped elsewhere today
                end += 1
            kept += new[start : end + 1]
            chunk = []
        kept.append("...")
    return "\n".join(kept[:-1]) + "\n"


def _nearest(line: str, lines: list[str]) -> int:
    scores = [difflib.SequenceMatcher(None, _NUMBER.sub("#", line), _NUMBER.sub("#", other)).ratio() for other in lines]
    return scores.index(max(scores))


def _same(wanted: list[str], got: list[str]) -> bool:
    return len(wanted) == len(got) and all(_alike(*pair) for pair in zip(wanted, got, strict=True))


def _alike(wanted: str, got: str) -> bool:
    """The same words; lines of tables may be of other lengths, and numbers differ in the last digit."""
    if wanted == got or (set(wanted) == set(got) == {"─"}):
        return True
    if _NUMBER.sub("#", wanted) != _NUMBER.sub("#", got):
        return False
    pairs = zip(_numbers(wanted), _numbers(got), strict=True)
    return all(abs(a - b) <= max(_TOLERANCE * abs(a), float(a >= 10 and a.is_integer())) for a, b in pairs)


def _numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in _NUMBER.findall(text)]


def main(arguments: list[str]) -> int:
    pages = [page for page in PAGES if any(block.is_printed for block in blocks(page))]
    if "--write" in arguments:
        for page in pages:
            page.write_text(refreshed(page))
        return 0
    found = [difference for page in pages for difference in differences(page)]
    print("\n\n".join(found) or f"{len(pages)} pages show what their commands print")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
