"""Local false neighbours: the samples that a column puts closer than column and target do."""

from functools import partial
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from infosieve._core.chunks import chunks
from infosieve._core.settings import Settings
from infosieve._core.types import (
    ColumnNumbers,
    Columns,
    Device,
    Executor,
    IntArray,
    Runner,
    Scale,
    Which,
)
from infosieve._engines.cuda.engine import CudaEngine
from infosieve._engines.devices import engine_of, require_device
from infosieve._engines.numba.false_neighbors import count_false, strips_of
from infosieve._executors.threads import Threads
from infosieve._input.problem import prepare_tables
from infosieve._input.tables import check_lengths, check_target, read_table

# How many columns a task counts for.
_TASK_COLUMNS = 16


@overload
def false_neighbors(
    X: pd.DataFrame, y: Any, *, scale: Scale = ..., n_jobs: int | None = ..., device: Device = ...
) -> pd.DataFrame: ...
@overload
def false_neighbors(
    X: NDArray[Any], y: Any, *, scale: Scale = ..., n_jobs: int | None = ..., device: Device = ...
) -> IntArray: ...
@overload
def false_neighbors(
    X: Any, y: Any, *, scale: Scale = ..., n_jobs: int | None = ..., device: Device = ...
) -> IntArray | pd.DataFrame: ...
def false_neighbors(
    X: Any,
    y: Any,
    *,
    scale: Scale = "standard",
    n_jobs: int | None = None,
    device: Device = "cpu",
) -> "IntArray | pd.DataFrame":
    """Count the local false neighbours of each sample, for each column.

    The reference for a sample is its nearest neighbour in the space of one column and the target
    together. Counted are the samples that the column alone puts closer than that one: 0 where the
    column is right. Columns with the same counts are wrong about the same samples. They are
    redundant with respect to the target, and :class:`FeatureClustering` joins them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The columns, numbers. Each is judged on its own.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The target. Samples of different categories are infinitely far from each other.
    scale : {"standard", "normal-scores"} or None, default="standard"
        What is done to each column, and to the target, first.
    n_jobs : int or None, default=None
        Threads; -1 for all cores.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where it is computed: on the CPU, on an NVIDIA GPU (``infosieve[gpu]``), or on the GPU if
        there is one and the work is large enough. The result does not depend on it.

    Returns
    -------
    ndarray of int of shape (n_samples, n_features), or DataFrame
        The C vectors of Verleysen, Rossi and François (2009) [1]_, one in each column. A frame
        where X is one.

    See Also
    --------
    FeatureClustering : Join columns whose counts are correlated.

    Notes
    -----
    Distances are Euclidean, after scaling; they are equal if they differ by less than 1e-8,
    relatively. Among several nearest neighbours the one that is nearest along the column counts,
    and "closer" is strict, so repeated values need no noise. A column and its negative have the
    same counts; a constant column has zeros, and so has a sample that is the only one of its
    category.

    References
    ----------
    .. [1] M. Verleysen, F. Rossi and D. François (2009). Advances in feature selection with
       mutual information. https://doi.org/10.1007/978-3-642-01805-3_4

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import false_neighbors
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X[:, 0] ** 3
    >>> false_neighbors(X, y).mean(axis=0).round()
    array([0., 9.])
    """
    Settings.of({"scale": scale, "n_jobs": n_jobs, "device": device})
    executor = Threads(n_jobs)
    require_device(device, executor)
    tables = [read_table(X, "X", False), read_table(y, "y", ())]
    check_lengths(*tables)
    check_target(tables[1])
    x, target = prepare_tables(tables, scale, executor, with_order=True, separate=False)
    engine = engine_of(device, executor, x.n_samples, x.n_columns, 1)
    if isinstance(engine, CudaEngine):
        counts = engine.false_counts(x, target).T
    else:
        counts = false_counts(x, target, target_strips(target), executor).T
    if tables[0].named:
        return pd.DataFrame(counts, columns=tables[0].names, index=tables[0].index)
    return counts


def target_strips(target: Columns) -> Any:
    """Strips of neighbouring targets, about a neighbourhood wide."""
    return strips_of(target.values[0], int(2 * np.sqrt(target.n_samples)) + 1)


def false_counts(x: Columns, target: Columns, strips: Any, executor: Executor) -> IntArray:
    """The C vectors of all columns, of shape (n_columns, n_samples)."""
    m = x.n_columns
    target, strips = executor.share(target), executor.share(strips)
    pieces = executor.place(x).pieces(
        ColumnNumbers(range(m)), executor.batch_size("count", m, m, 16)
    )
    jobs = ((m if isinstance(w, slice) else len(w), (target, strips, ref, w)) for ref, w in pieces)
    return np.concatenate(list(executor.map(_count, jobs, "count")))


def _count(runner: Runner, target: Columns, strips: Any, table: Columns, which: Which) -> IntArray:
    """The C vectors of some columns of a table."""
    x = table.take(which)
    out = np.zeros((x.n_columns, x.n_samples), np.int64)
    order = x.order

    def some(columns: slice) -> None:
        for j in range(columns.start, columns.stop):
            if not x.constant[j]:
                count_false(x.values[j], order[j], target.values, strips, out[j])

    runner.run([partial(some, columns) for columns in chunks(x.n_columns, _TASK_COLUMNS)])
    return out
