"""What a model file holds in place of scikit-learn's trees and kernels: arrays and numbers, checked before use.

Trees follow the indices in their arrays without looking, in compiled code: a crafted file could make them read any
memory. Hence skops trusts no tree. Here only their arrays are kept, and a tree is built from them once every index is
known to lead to a later node and a present column. Kernels become their names and parameters. A linear regression on
standardized columns becomes its coefficients, so that it can be asked without scikit-learn.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from sparkcast.arrays import Array, Floats, Ints
from sparkcast.errors import StudyError
from sparkcast.study import Configuration, Kind, Level, Role

_KERNELS = (
    "ConstantKernel DotProduct Exponentiation ExpSineSquared Matern Product RBF RationalQuadratic Sum WhiteKernel"
)
Swap = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, eq=False)
class PlainTrees:
    """Regression trees one after the other, and how their answers are put together."""

    n_columns: int
    sizes: Ints  # nodes of each tree
    nodes: Array  # of all trees, as scikit-learn has them
    values: Floats  # one per node
    start: float = 0.0
    rate: float | None = None  # start + rate * sum; None: the mean


@dataclass(frozen=True, slots=True)
class PlainKernel:
    """A kernel of a Gaussian process by name; a parameter may be a kernel."""

    name: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlainWord:
    """A role or a kind by its value."""

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class PlainConfiguration:
    levels: dict[str, Level]


@dataclass(frozen=True, slots=True, eq=False)
class PlainLinear:
    """A linear regression on standardized columns; predicts as the pipeline of scikit-learn did, to the last digit."""

    mean: Floats
    scale: Floats
    coefficients: Floats
    intercept: float

    def predict(self, x: Floats) -> Floats:
        columns = x - self.mean
        columns /= self.scale
        return columns @ self.coefficients + self.intercept


class Trees:
    """Predicts as the scikit-learn ensemble did from which its trees were taken."""

    def __init__(self, plain: PlainTrees) -> None:
        self.plain = plain
        self._trees = _built(plain)

    def predict(self, x: Floats) -> Floats:
        import numpy as np

        rows = np.ascontiguousarray(x, dtype=np.float32)
        if rows.ndim != 2 or rows.shape[1] != self.plain.n_columns:
            raise ValueError(f"trees of {self.plain.n_columns} columns got an array of shape {rows.shape}")
        total = np.full(len(rows), self.plain.start)
        for tree in self._trees:
            answers = tree.predict(rows)[:, 0]
            total += answers if self.plain.rate is None else self.plain.rate * answers
        return total / len(self._trees) if self.plain.rate is None else total


def to_plain(value: Any) -> Any:
    """A copy of a fitted model that holds nothing but plain objects and what skops trusts."""
    return _mapped(value, _plain)


def from_plain(value: Any) -> Any:
    """The model again; raises StudyError for arrays that are no trees."""
    return _mapped(value, _restored)


def _mapped(value: Any, swap: Swap) -> Any:
    """A copy in which `swap` has replaced what it knows, at any depth; the original stays as it is."""
    import numpy as np

    swapped = swap(value)
    if swapped is not value:
        return swapped
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_mapped(item, swap) for item in value)
    if type(value) is dict:
        return {key: _mapped(item, swap) for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.dtype == object:
        copied = np.empty_like(value)
        for index in np.ndindex(value.shape):
            copied[index] = _mapped(value[index], swap)
        return copied
    if is_dataclass(value) and not isinstance(value, type):
        return _with_attributes(value, {f.name: _mapped(getattr(value, f.name), swap) for f in fields(value)})
    if type(value).__module__.startswith("sklearn.") and hasattr(value, "__dict__"):
        return _with_attributes(value, {name: _mapped(item, swap) for name, item in vars(value).items()})
    return value


def _with_attributes(value: Any, attributes: dict[str, Any]) -> Any:
    if all(getattr(value, name) is item for name, item in attributes.items()):
        return value
    copied = copy.copy(value)
    for name, item in attributes.items():
        object.__setattr__(copied, name, item)  # most of them are frozen
    return copied


def _plain(value: Any) -> Any:
    if isinstance(value, Trees):
        return value.plain
    if isinstance(value, Role | Kind):
        return PlainWord(type(value).__name__, value.value)
    if isinstance(value, Configuration):
        return PlainConfiguration(dict(value))
    if type(value).__module__.startswith(("sklearn.tree.", "sklearn.ensemble.")):
        return _plain_trees(value)
    if type(value).__module__ == "sklearn.pipeline":
        return _plain_linear(value)
    if type(value).__module__ == "sklearn.gaussian_process.kernels" and type(value).__name__ in _KERNELS.split():
        parameters = value.get_params(deep=False)
        return PlainKernel(type(value).__name__, {name: _mapped(item, _plain) for name, item in parameters.items()})
    return value


def _plain_linear(pipeline: Any) -> Any:
    """The coefficients of a pipeline; the pipeline itself when it is of a different kind."""
    from sklearn.linear_model import LinearRegression, Ridge, RidgeCV
    from sklearn.preprocessing import StandardScaler

    if [type(step) for _, step in pipeline.steps[:-1]] != [StandardScaler]:
        return pipeline
    scaler, regression = (step for _, step in pipeline.steps)
    if type(regression) not in (LinearRegression, Ridge, RidgeCV) or not (scaler.with_mean and scaler.with_std):
        return pipeline
    if not hasattr(regression, "coef_") or regression.coef_.ndim != 1:  # not fitted, or of several responses
        return pipeline
    return PlainLinear(scaler.mean_, scaler.scale_, regression.coef_, float(regression.intercept_))


def _plain_trees(estimator: Any) -> Any:
    """The trees of an estimator; the estimator itself when it is of a different kind."""
    from sklearn.dummy import DummyRegressor
    from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
    from sklearn.tree import DecisionTreeRegressor

    if isinstance(estimator, DecisionTreeRegressor):
        return _packed([estimator])
    if isinstance(estimator, (RandomForestRegressor, ExtraTreesRegressor)):
        return _packed(estimator.estimators_)
    is_boosted = isinstance(estimator, GradientBoostingRegressor) and estimator.loss == "squared_error"
    if is_boosted and isinstance(estimator.init_, DummyRegressor):
        start = float(estimator.init_.constant_.ravel()[0])
        return _packed(estimator.estimators_[:, 0], start, float(estimator.learning_rate))
    return estimator


def _packed(estimators: Any, start: float = 0.0, rate: float | None = None) -> PlainTrees:
    import numpy as np

    states = [estimator.tree_.__getstate__() for estimator in estimators]
    return PlainTrees(
        n_columns=int(estimators[0].n_features_in_),
        sizes=np.array([len(state["nodes"]) for state in states]),
        nodes=np.concatenate([state["nodes"] for state in states]),
        values=np.concatenate([state["values"][:, 0, 0] for state in states]),
        start=start,
        rate=rate,
    )


def _restored(value: Any) -> Any:
    if isinstance(value, PlainTrees):
        return Trees(value)
    if isinstance(value, PlainKernel):
        return _kernel(value)
    if isinstance(value, PlainWord):
        return Role(value.value) if value.kind == Role.__name__ else Kind(value.value)
    if isinstance(value, PlainConfiguration):
        return Configuration(value.levels)
    return value


def _kernel(plain: PlainKernel) -> Any:
    from sklearn.gaussian_process import kernels

    if plain.name not in _KERNELS.split():
        raise StudyError(f"the model file contains an unknown kernel {plain.name!r}", hint="retrain the model")
    parameters = {name: _mapped(item, _restored) for name, item in plain.parameters.items()}
    return getattr(kernels, plain.name)(**parameters)


def _built(plain: PlainTrees) -> list[Any]:
    import numpy as np

    _check(plain)
    ends = np.cumsum(plain.sizes).tolist()
    starts = [0, *ends[:-1]]
    return [_tree(plain, begin, end) for begin, end in zip(starts, ends, strict=True)]


def _tree(plain: PlainTrees, begin: int, end: int) -> Any:
    import numpy as np
    from sklearn.tree._tree import NODE_DTYPE, Tree

    nodes = plain.nodes[begin:end].astype(NODE_DTYPE)
    _check_nodes(nodes, plain.n_columns)
    tree = Tree(plain.n_columns, np.ones(1, dtype=np.intp), 1)
    values = np.ascontiguousarray(plain.values[begin:end]).reshape(-1, 1, 1)
    # The depth is asked for by other methods than predict.
    tree.__setstate__({"max_depth": 0, "node_count": len(nodes), "nodes": nodes, "values": values})
    return tree


def _check(plain: PlainTrees) -> None:
    import numpy as np
    from sklearn.tree._tree import NODE_DTYPE

    arrays = (plain.sizes, plain.nodes, plain.values)
    # A masked array would hide its masked parts from the checks, but not from the tree.
    are_columns = all(type(array) is np.ndarray and array.ndim == 1 for array in arrays)
    is_whole = (
        type(plain.n_columns) is int
        and plain.n_columns > 0
        and are_columns
        and plain.sizes.dtype.kind == "i"
        and len(plain.sizes) > 0
        and bool((plain.sizes > 0).all())
        and sum(plain.sizes.tolist()) == len(plain.nodes) == len(plain.values)
        and plain.values.dtype == np.float64
    )
    if not is_whole:
        raise _no_trees("its arrays are inconsistent")
    # Joining arrays drops the gaps between fields, so only names and types can be compared.
    if plain.nodes.dtype.names != NODE_DTYPE.names or any(
        plain.nodes.dtype[n] != NODE_DTYPE[n] for n in NODE_DTYPE.names
    ):
        raise _no_trees("its nodes come from another version of scikit-learn")


def _check_nodes(nodes: Any, n_columns: int) -> None:
    """Every inner node leads to two later nodes of the same tree, so that following them ends, inside the arrays."""
    import numpy as np

    own = np.arange(len(nodes))
    left, right, column = nodes["left_child"], nodes["right_child"], nodes["feature"]
    is_leaf = (left == -1) & (right == -1)
    is_inner = (left > own) & (left < len(nodes)) & (right > own) & (right < len(nodes))
    has_column = (column >= 0) & (column < n_columns)
    if not (is_leaf | (is_inner & has_column)).all():
        raise _no_trees("a node points outside its tree")


def _no_trees(reason: str) -> StudyError:
    return StudyError(f"the model file contains unusable trees: {reason}", hint="retrain the model")
