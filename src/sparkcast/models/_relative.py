"""Least squares on relative errors, for the models that are sums of non-negative terms."""

from typing import Any

from sparkcast.errors import StudyError
from sparkcast.models._problem import Problem


def require_times(problem: Problem, model: str) -> None:
    if not problem.scale.is_log:
        raise StudyError(f"{model} predicts times, {problem.response} is not one", hint="use another model for it")


def relative_nnls(problem: Problem, terms: Any) -> Any:
    """Non-negative coefficients that minimise sum((terms @ b / value - 1)^2) over all runs.

    The replicates of a configuration share their terms, so their sum of squares is that of one row with weight
    W = sum(1 / value^2) and target sum(1 / value) / W.
    """
    import numpy as np
    from scipy.optimize import nnls

    inverse = [1 / np.array(values) for values in problem.values]
    weights = np.sqrt(np.array([(inv**2).sum() for inv in inverse]))
    rows = terms * weights[:, None]
    # Columns of very different size (records, seconds) would stop the solver early.
    norms = np.linalg.norm(rows, axis=0)
    norms[norms == 0] = 1.0
    return nnls(rows / norms, np.array([inv.sum() for inv in inverse]) / weights)[0] / norms
