"""Sections 3 and 5 of the paper: are the runs those that its tables describe?"""

from pathlib import Path

from sparkcast.arrays import Floats
from sparkcast.replications import PaperPart, PartResult, Row, Section
from sparkcast_papers.myung2020 import PARTS, _reference
from sparkcast_papers.myung2020._generate import Runs
from sparkcast_papers.myung2020._honest import level_means
from sparkcast_papers.myung2020._rows import compare, near, section, show
from sparkcast_papers.myung2020._runs import runs
from sparkcast_papers.myung2020._scenarios import column, groups, scaled
from sparkcast_papers.myung2020._tables import (
    LEVELS,
    T1_FULL,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5A,
    TABLE_5B,
    TABLE_6A,
    Spread,
)


@PARTS.register("data")
class Data(PaperPart):
    """Tables 2 to 6 and 9 from the runs, the counts of rows and groups, and Table 5a from Table 6a."""

    def run(self, data: Path | None) -> PartResult:
        networks = runs(data)
        note = (
            "the authors published no runs: all numbers here come from synthetic runs generated to match the "
            "paper's tables, and say nothing about any real cluster"
        )
        sections = (
            section(networks[0], "Rows and groups", "sections 4 to 6", _counts(networks[0])),
            *(_tables(k, network) for k, network in enumerate(networks)),
            _level_1_at_full_data(networks),
            _one_measurement(networks),
        )
        return PartResult(sections, notes=(note,) if networks[0].is_synthetic else ())


def _counts(network: Runs) -> list[Row]:
    full, samples = network.at(100), network.at(1, 10)
    few, more = full.aggregated(), samples.aggregated()
    rows = [
        compare("runs", "of one network", "1260", len(network)),
        compare("runs", "at 100 %", "420", len(full)),
        compare("runs", "at 1 % and 10 %", "840", len(samples)),
        compare("aggregated", "at 100 %", "12", len(few)),
        compare("aggregated", "at 1 % and 10 %", "24", len(more)),
    ]
    expected = {"cores": ("3", "6"), "executors": ("4", "8")}
    for feature, (at_full, at_samples) in expected.items():
        rows.append(compare(f"groups, {feature}", "scenarios 3", at_full, groups(few, feature)))
        rows.append(compare(f"groups, {feature}", "scenarios 4", at_samples, groups(more, feature)))
    rows.append(compare("groups, sampling_rate", "scenarios 4", "12", groups(more, "sampling_rate")))
    return rows


def _tables(k: int, network: Runs) -> Section:
    rows = []
    for rate in (1, 10):
        share = _shares(network, "sampling_rate")[network.sampling_rate == rate]
        rows += _spread(f"Table 2, {rate} %", TABLE_2[rate][k], share, 0.02 * TABLE_2[rate][k].mean)
    for number, setting, table in (("3", "memory", TABLE_3), ("4", "partition_size", TABLE_4)):
        rows += _spread(f"Table {number}", table[k], _shares(network, setting), 0.01)
    for number, setting, printed in (("5a", "cores", TABLE_5A[k]), ("5b", "executors", TABLE_5B[k])):
        share = _shares(network, setting)
        for level, text in zip(LEVELS[setting], printed, strict=True):
            mean = float(share[getattr(network, setting) == level].mean())
            rows.append(near(f"Table {number}", f"mean at {level} {setting}", text, mean, 0.01))
    t1 = float(network.at(100).aggregated().minutes.sum())
    rows.append(near("t1", "minutes, 12 runs at 100 %", T1_FULL[k], t1, 1))
    return section(network, f"Scaled completion times, {network.cnn}", "Tables 2 to 5", rows)


def _spread(item: str, printed: Spread, shares: Floats, within: float) -> list[Row]:
    found = {"least": (printed.low, shares.min()), "mean": (printed.mean, shares.mean())}
    found["greatest"] = (printed.high, shares.max())
    return [near(item, what, f"{expected:g}", float(ours), within) for what, (expected, ours) in found.items()]


def _shares(network: Runs, setting: str) -> Floats:
    """Each time over the longest of those that differ in this setting only."""
    import numpy as np

    others = np.column_stack([getattr(network, name) for name in LEVELS if name != setting])
    _, group = np.unique(others, axis=0, return_inverse=True)
    longest = np.zeros(group.max() + 1)
    np.maximum.at(longest, group, network.minutes)
    return network.minutes / longest[group]


def _level_1_at_full_data(networks: tuple[Runs, ...]) -> Section:
    """What a straight line through 1 % and 10 % says about 100 %: a multiple of the time at 10 %."""
    import numpy as np

    rows = []
    for network in networks:
        train = network.at(1, 10).aggregated()
        line = level_means(column(train, "sampling_rate")[:, None], scaled(train, "sampling_rate"))
        ours = float(line(np.array([[100.0]]))[0])
        if network.cnn == "inception_v4":
            rows.append(near(network.cnn, "s(100)", _reference.S_100_INCEPTION, ours, 0.01))
        else:
            rows.append(show(network.cnn, "s(100)", ours))
    return section(networks[0], "Scaled time at 100 % by a line through 1 % and 10 %", "computed independently", rows)


def _one_measurement(networks: tuple[Runs, ...]) -> Section:
    """Table 6a over the cores is Table 5a, as far as two printed digits can tell."""
    rows = []
    exact = 0
    for k, network in enumerate(networks):
        for i, cores in enumerate(LEVELS["cores"][1:], start=1):
            first, own = float(TABLE_6A[k][0]), float(TABLE_6A[k][i])
            ratio = (own / cores) / (first / LEVELS["cores"][0])
            reach = ratio * (0.005 / own * (own < 1) + 0.005 / first) + 0.005
            rows.append(near(network.cnn, f"Table 6a / cores, at {cores}", TABLE_5A[k][i], ratio, round(reach, 4)))
            exact += round(ratio, 2) == float(TABLE_5A[k][i])
        shares = [sum(map(float, table[k])) for table in (TABLE_5A, TABLE_5B)]
        rows.append(show(network.cnn, "minutes at 1 executor, 2 cores", float(T1_FULL[k]) / (shares[0] * shares[1])))
    notes = (
        f"{exact} of 9 are equal to the second decimal, the others within what rounding of both tables allows: Tables "
        "5a and 6a are one measurement printed twice",
        "the last row of each network is t1 over the sum of all products of Tables 5a and 5b",
    )
    return Section("Table 5a from Table 6a, both as printed", "Table 5a", tuple(rows), notes)
