"""For the models that are sums of non-negative terms: their settings, and least squares on relative errors."""

import numpy as np

from sparkcast.arrays import Floats
from sparkcast.errors import StudyError
from sparkcast.fitting.encoding import Domain
from sparkcast.fitting.problem import Problem
from sparkcast.study import Role
from sparkcast.units import as_number


def require_times(problem: Problem, model: str) -> None:
    if not problem.scale.is_log:
        raise StudyError(
            f"{model} predicts times, but {problem.response.name} is not a time", hint="use another model for it"
        )


def positive_setting(model: str, domain: Domain, x: Floats, *roles: Role) -> Floats:
    """The setting with one of these roles, in every row; 1 when there is none."""
    factors, fixed = [axis.name for axis in domain.axes], dict(domain.fixed)
    name = domain.first(*roles)
    if name in factors:
        values = x[:, factors.index(name)]
    else:
        # Runs know their fixed settings (cores: 2), who asks may leave them out.
        number = None if name is None else as_number(fixed[name])
        values = np.full(len(x), 1.0 if number is None else number)
    if (values <= 0).any():
        problem = f"{model} works on positive numbers: it needs positive {name}, not {values.min():g}"
        raise StudyError(problem, hint="check the settings")
    return values


def relative_nnls(problem: Problem, terms: Floats) -> Floats:
    """Non-negative coefficients that minimize sum((terms @ b / value - 1)^2) over all runs.

    The replicates of a configuration share their terms, so their sum of squares is that of one row with weight
    W = sum(1 / value^2) and target sum(1 / value) / W.
    """
    from scipy.optimize import nnls

    inverse = [1 / np.array(values) for values in problem.values]
    weights = np.sqrt(np.array([(inv**2).sum() for inv in inverse]))
    rows = terms * weights[:, None]
    # Columns of very different size (records, seconds) would stop the solver early.
    norms: Floats = np.linalg.norm(rows, axis=0)
    norms[norms == 0] = 1.0
    found: Floats = nnls(rows / norms, np.array([inv.sum() for inv in inverse]) / weights)[0]
    return found / norms
