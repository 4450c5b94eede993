"""CNN training on GPUs: more of them, larger batches, deeper networks, other cards."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from sparkcast.arrays import Floats
from sparkcast.replications import PaperPart, PartResult, Row, Section, compare, show
from sparkcast_papers.polimi2019 import PARTS, _cells, _printed
from sparkcast_papers.polimi2019._files import GPU, MODULES, POWER, require

_OTHERS = "computed independently from the same data"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the slides: its cells, and the errors of each method in each."""

    name: str
    cells: tuple[_cells.Cell, ...]
    errors: Mapping[str, tuple[Floats, ...]]

    def mapes(self, method: str) -> list[float]:
        return [100 * float(relative.mean()) for relative in self.errors[method]]

    def large(self, method: str) -> float:
        """Percent of errors of 30 % or more, in the mean of the cells."""
        return 100 * fmean(float(_cells.is_large(relative).mean()) for relative in self.errors[method])


@PARTS.register("gpu")
class Gpu(PaperPart):
    """CNN training at more GPUs, larger batches, deeper networks and on another card, one model per cell."""

    def run(self, data: Path | None) -> PartResult:
        folder = require(data, GPU, POWER, MODULES)
        tables = [
            table("GPU number", _cells.gpu_number(folder)),
            table("batch size", _cells.batch_size(folder)),
            table("inner modules", _cells.inner_modules(folder)),
            table("new hardware", _cells.new_hardware(folder)),
        ]
        sections = [_summary(tables), *(_beside_the_slide(each, _slide(each.name)) for each in tables)]
        return PartResult(tuple(sections))


def table(name: str, cells: Iterator[_cells.Cell]) -> Table:
    found = tuple(cells)
    methods = {"NNLS": _cells.physical, "log ridge": _cells.log_ridge, "constant": _cells.constant}
    errors = {label: tuple(_cells.errors(cell, method(cell)) for cell in found) for label, method in methods.items()}
    return Table(name, found, errors)


def _summary(tables: list[Table]) -> Section:
    rows: list[Row] = []
    for each in tables:
        mean, middle, large = _printed.PHYSICAL[each.name]
        physical = each.mapes("NNLS")
        rows.append(compare(each.name, "NNLS, mean MAPE of the cells", mean, fmean(physical)))
        rows.append(compare(each.name, "NNLS, median MAPE of the cells", middle, median(physical)))
        rows.append(compare(each.name, "NNLS, % of errors of 30 % or more", large, each.large("NNLS")))
        for method, printed in (("log ridge", _printed.LOG_RIDGE), ("constant", _printed.CONSTANT)):
            mape = fmean(each.mapes(method))
            rows.append(show(each.name, f"{method}, mean MAPE of the cells", mape, printed.get(each.name, "")))
    notes = (
        "NNLS: non-negative least squares on relative errors over 1, i, i b m / (n P), i m, i b, i b / threads, i n "
        "and i (n - 1) / n, with i iterations, b batch size, m inner modules, n GPUs, P TFlops; nothing is tuned",
        "an error of 30 % itself counts as one of 30 % or more, as in the authors' code",
        "penalty and columns of the other log ridge, and which constant it was, are not recorded: shown, not compared",
    )
    return Section("CNN training, mean errors of the cells", _OTHERS, tuple(rows), notes, is_printed=False)


def _beside_the_slide(each: Table, slide: Mapping[tuple[str, str], str]) -> Section:
    found = zip(each.cells, each.mapes("NNLS"), strict=True)
    rows = [show(c.name, f"MAPE, {c.column}", mape, slide.get((c.name, c.column), "")) for c, mape in found]
    printed = [float(number) for number in slide.values()]
    rows.append(show("all cells", "mean MAPE", fmean(each.mapes("NNLS")), f"{fmean(printed):.1f}"))
    return Section(
        f"{each.name[0].upper()}{each.name[1:]}, NNLS compared with the slides",
        "the slides",
        tuple(rows),
        _NOTES[each.name],
    )


def _slide(name: str) -> dict[tuple[str, str], str]:
    """What the slides print, by row and column."""
    if name == "new hardware":
        return {(row, "GTX1080Ti"): number for row, number in _printed.NEW_HARDWARE.items()}
    rows, columns = {
        "GPU number": (_printed.GPU_NUMBER, _printed.GPU_NUMBER_CARDS),
        "batch size": (_printed.BATCH_SIZE, [f"{card} x {n}" for card, n in _printed.BATCH_SIZE_COLUMNS]),
        "inner modules": (
            {f"at most {deepest} modules": numbers for deepest, numbers in _printed.INNER_MODULES.items()},
            [f"{n} GPU{'s' * (n > 1)}" for n in _printed.INNER_MODULES_GPUS],
        ),
    }[name]
    return {
        (row, column): number
        for row, numbers in rows.items()
        for column, number in zip(columns, numbers.split(), strict=True)
        if number != "-"
    }


_NOTES = {
    "GPU number": ("which numbers of GPUs the slides trained on is not published: here all but the largest",),
    "batch size": ("which batch sizes the slides trained on is not published: here all but the largest",),
    "inner modules": (
        "in the public runs the time hardly depends on the depth, so an error of a few percent is easy; the "
        "slides' 8 to 28 % "
        "must come from other runs",
    ),
    "new hardware": (
        "the slides' table has no caption; that it is about a new card is a guess, and it is not reproduced: "
        "work per GFlop differs between cards by a factor of two or more, which their GFlops do not show "
        "(mistake 6)",
    ),
}
