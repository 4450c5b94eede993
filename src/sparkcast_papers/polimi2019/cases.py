"""The measurements that are public, and the splits they were tested with."""

from pathlib import Path

from sparkcast.replications import PaperPart, PartResult, Section, compare, show
from sparkcast_papers.polimi2019 import PARTS
from sparkcast_papers.polimi2019._cases import (
    K_MEANS_CONFS,
    SLIDE_CONFS,
    SPARK_BENCH,
    SPARK_BENCH_CORES,
    TPC_DS,
    Case,
)
from sparkcast_papers.polimi2019._files import GPU, K_MEANS, MODULES, POWER, gpu_table, k_means, require

_ROWS = {GPU: "4829", POWER: "811", MODULES: "532"}


@PARTS.register("cases")
class Cases(PaperPart):
    """How many runs are public, and which data sizes and cores are learned from and asked."""

    def run(self, data: Path | None) -> PartResult:
        return PartResult((_rows(require(data, *_ROWS, K_MEANS)), _sizes(), _cores()))


def _rows(data: Path) -> Section:
    runs = k_means(data)
    rows = [compare(name, "rows", count, len(gpu_table(data, name))) for name, count in _ROWS.items()]
    rows.append(compare(K_MEANS, "rows", "528", len(runs.observations)))
    rows.append(compare(K_MEANS, "data sizes", "4", len(runs.levels("data_size"))))
    rows.append(compare(K_MEANS, "numbers of cores", str(len(SPARK_BENCH_CORES)), len(runs.levels("cores"))))
    return Section("Public measurements", "the tables' own description", tuple(rows), is_printed=False)


def _sizes() -> Section:
    extrapolating = (*SLIDE_CONFS[3:], *K_MEANS_CONFS)
    shared = sum(conf.test in conf.train for conf in extrapolating)
    rows = (
        compare("Conf 4 to 6, and K-means", "with the same size in training and test", "0", shared),
        *(
            show(f"Conf {number}", f"GB, trained on {'+'.join(map(str, conf.train))}", conf.test)
            for number, conf in enumerate(SLIDE_CONFS, start=1)
        ),
    )
    notes = (
        "the slides' two tables are two axes: Conf 1 to 6 are data sizes, Case 0 to 6 are numbers of cores inside "
        "Conf 3; the TPC-DS runs behind them are not public, so their errors can only be repeated",
    )
    return Section("Data sizes", "the slides", rows, notes)


def _cores() -> Section:
    rows = []
    for name, cases in (("TPC-DS", TPC_DS), ("SparkBench", SPARK_BENCH)):
        for number, case in enumerate(cases, start=1):
            rows.append(show(f"{name} case {number}", "training cores", len(case.train)))
            rows.append(show(f"{name} case {number}", "cores tested", len(case.test)))
        inside = sum(case.interpolates for case in cases)
        rows.append(show(name, f"of {len(cases)} cases test only between training cores", inside))
    beyond = [_beyond(number, case) for number, case in enumerate(SPARK_BENCH, start=1) if not case.interpolates]
    return Section("Cores", "the library's first public release", tuple(rows), tuple(beyond), is_printed=False)


def _beyond(number: int, case: Case) -> str:
    return (
        f"SparkBench case {number} does not only interpolate: it tests {max(case.test)} cores and trains on "
        f"{max(case.train)} at most"
    )
