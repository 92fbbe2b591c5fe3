"""Partial least squares with 1, 2, ... components."""

import warnings
from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression

from infosieve._core.types import FloatArray

# The most components that are tried.
COMPONENTS = 20


def pls_errors(
    known: FloatArray, target: FloatArray, new: FloatArray, truth: FloatArray
) -> FloatArray:
    """Mean squared errors for new samples with 1, 2, ... up to 20 components.

    Where samples or columns are too few for more components, the last error is repeated.
    """
    sizes = exponents(known)
    known, new = np.ldexp(known, -sizes), np.ldexp(new, -sizes)
    most = max(1, min(COMPONENTS, known.shape[1], len(known) - 1))
    path = Path(known, target, most).predict(new)
    errors = ((path - truth) ** 2).mean(axis=(1, 2))
    return np.asarray(np.pad(errors, (0, COMPONENTS - most), mode="edge"))


def exponents(values: FloatArray) -> Any:
    """Of the largest number in each column: divided by these powers of two, sums stay in range."""
    return np.frexp(np.abs(values).max(axis=0))[1]


class Path:
    """The predictions with 1, 2, ... components: one fit has them all."""

    def __init__(self, X: FloatArray, y: FloatArray, n_components: int) -> None:
        self.columns = np.flatnonzero(np.ptp(X, axis=0) > 0)
        X = X[:, self.columns]
        self.mean, self.sd = X.mean(axis=0), X.std(axis=0)
        self.y_mean, y_sd = y.mean(axis=0), y.std(axis=0)
        y_sd = np.where(np.ptp(y, axis=0) > 0, y_sd, 1.0)
        self.coefficients = np.zeros((n_components, self.columns.size, y.shape[1]))
        n = min(n_components, self.columns.size)
        if n == 0 or not np.ptp(y, axis=0).any():
            return
        with warnings.catch_warnings():  # it warns where fewer components explain everything
            warnings.simplefilter("ignore")
            model = PLSRegression(n, scale=False)
            model.fit((X - self.mean) / self.sd, (y - self.y_mean) / y_sd)
        steps = model.x_rotations_.T[:, :, None] * model.y_loadings_.T[:, None, :] * y_sd
        self.coefficients[:n] = np.cumsum(steps, axis=0)
        self.coefficients[n:] = self.coefficients[n - 1]

    def predict(self, X: FloatArray) -> FloatArray:
        """Of shape (n_components, n_samples, n_targets)."""
        z = (X[:, self.columns] - self.mean) / self.sd
        return np.asarray(z @ self.coefficients + self.y_mean)
