"""Rows in order of time: of a target that is not stationary, changes are measured.

Two columns that are not stationary look related in any stretch of time (Granger and Newbold 1974):
there is no sample of their levels, only one path. Their changes can be compared. All columns give
way to them, or none: given the level of a column, the changes of two others that follow it are
still related.
"""

import numpy as np

from infosieve._core.types import FloatArray

# A stationary column takes no longer than a tenth of its length to return to its mean.
_RETURNS = 10.0


def most_lags(n_samples: int) -> int:
    """The largest order of an autoregression."""
    return max(1, min(int(10 * np.log10(n_samples)), n_samples // 4))


def bridged(values: FloatArray) -> FloatArray:
    """The same with straight lines across gaps."""
    there = np.isfinite(values)
    if there.all() or not there.any():
        return np.where(there, values, 0.0)
    at = np.arange(values.size)
    return np.asarray(np.interp(at, at[there], values[there]))


def is_non_stationary(values: FloatArray) -> bool:
    """Whether a column does not return to its mean often enough to know it."""
    from infosieve._engines.numba.series import autoregression, persistence

    row = bridged(values)
    spread = float(np.ptp(row))
    if row.size < 8 or not 0.0 < spread < np.inf:
        return False
    row = (row - row.mean()) / spread
    found = autoregression(row, most_lags(row.size))
    return bool(persistence(found, row.size) > 1.0 - _RETURNS / row.size)


def changes(values: FloatArray) -> FloatArray:
    """From the last value before each row to that of the row; the first has the middle change."""
    out = np.full(values.size, np.nan)
    there = np.flatnonzero(np.isfinite(values))
    steps = np.diff(values[there])
    out[there[1:]] = steps
    if there.size:
        out[there[0]] = np.median(steps) if steps.size else 0.0
    return out
