"""Partial least squares whose number of components is chosen by cross-validation."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import KFold

from infosieve._core.types import FloatArray


class PLSRegressionCV(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """PLSRegression with the number of components of the least error in 4-fold cross-validation.

    Parameters
    ----------
    max_components : int, default=20
        The most components that are tried.
    random_state : int, RandomState or None, default=None
        Shuffles the samples before they are cut into folds.
    """

    def __init__(self, max_components: int = 20, random_state: Any = None) -> None:
        self.max_components = max_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "PLSRegressionCV":
        """Choose the number of components, then fit to all samples."""
        y = np.asarray(y, np.float64)
        self._sizes = _exponents(np.asarray(X, np.float64)), _exponents(y.reshape(len(y), -1))
        X = np.ldexp(np.asarray(X, np.float64), -self._sizes[0])
        y2 = np.ldexp(y.reshape(len(y), -1), -self._sizes[1])
        n, m = X.shape
        n_folds = min(4, n)
        most = max(1, min(self.max_components, m, n - -(-n // n_folds) - 1))
        errors = np.zeros(most)
        if most > 1:
            folds = KFold(n_folds, shuffle=True, random_state=self.random_state)
            for train, test in folds.split(X):
                path = _Path(X[train], y2[train], most).predict(X[test])
                errors += ((path - y2[test]) ** 2).sum(axis=(1, 2))
        self.cv_errors_ = errors / n
        self.n_components_ = int(np.argmin(errors)) + 1
        self._path = _Path(X, y2, self.n_components_)
        self._flat = y.ndim == 1
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predictions, in the shape of the target."""
        X = np.ldexp(np.asarray(X, np.float64), -self._sizes[0])
        predicted = np.ldexp(self._path.predict(X)[-1], self._sizes[1])
        return np.asarray(predicted[:, 0] if self._flat else predicted)


def _exponents(values: FloatArray) -> Any:
    """Of the largest number in each column: divided by these powers of two, sums stay in range."""
    return np.frexp(np.abs(values).max(axis=0))[1]


class _Path:
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
        with warnings.catch_warnings():  # that fewer components explain everything
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
