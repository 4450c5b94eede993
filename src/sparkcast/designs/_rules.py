"""What rules cost: runs taken out of a balanced design make its effects less certain."""

from collections.abc import Sequence

import numpy as np

from sparkcast.designs._columns import coding_of, main_columns
from sparkcast.study import Configuration, Study
from sparkcast.study.matrix import Coding


def what_rules_cost(
    study: Study, allowed: Sequence[Configuration], excluded: Sequence[Configuration], n_unlisted: int = 0
) -> tuple[str, ...]:
    """A note on how much less certain main effects are than in the design without rules; none when nothing is lost."""
    n_excluded = len(excluded) + n_unlisted
    if not n_excluded:
        return ()
    lost = f"the rules remove {n_excluded} of {len(allowed) + n_excluded} combinations from the design"
    remedy = (
        f"design: {{kind: optimal, runs: {len(allowed)}}} chooses the same number of runs among those the rules allow"
    )
    if n_unlisted:
        return (f"{lost}; {remedy}",)
    coding = coding_of(study, [*allowed, *excluded])
    before = _variances(coding, [*allowed, *excluded])
    after = _variances(coding, allowed)
    if after is None:
        return (f"{lost}: some main effects can no longer be separated; run other levels, or relax a rule",)
    if before is None:
        return (f"{lost}; {remedy}",)
    ratios = [now / then for now, then in zip(after, before, strict=True)]
    mean = sum(ratios) / len(ratios)
    return (
        f"{lost}: the variance of main effects is x {mean:.2f} on average and x {max(ratios):.2f} at most, "
        f"compared with no rules; {remedy}",
    )


def _variances(coding: Coding, configurations: Sequence[Configuration]) -> list[float] | None:
    """The variance of each main effect's coefficients in units of the noise's; None when they cannot be told apart."""
    columns = list(main_columns(coding, configurations).values())
    matrix = np.hstack([np.ones((len(configurations), 1)), *columns])
    if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        return None
    diagonal = np.diag(np.linalg.inv(matrix.T @ matrix))[1:]
    ends = np.cumsum([block.shape[1] for block in columns])
    return [float(part.mean()) for part in np.split(diagonal, ends[:-1])]
