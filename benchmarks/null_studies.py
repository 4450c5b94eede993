"""How often `analyze` says that a setting matters in studies where none does and replicates share a block.

    python benchmarks/null_studies.py [STUDIES]

Replicates of a configuration run one after the other and share a disturbance with the given standard deviation, next to
noise of 1 per run. "least squares" is what the classic p values say of the same studies (Holm, 5 %).
"""

import sys
from itertools import product

import numpy as np

from sparkcast.analysis.anova import analyze
from sparkcast.analysis.sentences import holm
from sparkcast.study import Dataset, Observation

SHAPES = (((3, 3), 3), ((2, 2, 2), 3), ((2, 3), 4), ((3, 3, 2), 2), ((2, 2, 2, 2), 2))


def null_study(seed: int, levels: tuple[int, ...], replicates: int, block_sd: float) -> Dataset:
    draw = np.random.default_rng(seed)
    cells = draw.permutation(list(product(*(range(1, n + 1) for n in levels)))).tolist()
    names = tuple(f"x{i}" for i in range(len(levels)))
    runs: list[Observation] = []
    for cell in cells:
        shared = 60 + draw.normal(0, block_sd)
        for replicate in range(1, replicates + 1):
            at = dict(zip(names, cell, strict=True))
            time_s = shared + draw.normal(0, 1)
            runs.append(Observation(at, {"time_s": time_s}, replicate=replicate, position=len(runs) + 1))
    return Dataset(names, tuple(runs))


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"{studies} null studies each; share in which a setting matters")
    for (levels, replicates), block_sd in product(SHAPES, (0.0, 1.0, 3.0)):
        honest = classic = 0
        for seed in range(studies):
            found = analyze(null_study(seed, levels, replicates, block_sd))
            honest += any(verdict.matters for verdict in found.factors)
            plain = holm({row.term: row.p for row in found.rows if row.p is not None})
            classic += any(p < 0.05 for p in plain.values())
        shape = "x".join(map(str, levels))
        told = f"analyze {honest / studies:6.1%}   least squares {classic / studies:6.1%}"
        print(f"{shape:>8} x {replicates} replicates, blocks {block_sd:g}: {told}", flush=True)


if __name__ == "__main__":
    main()
