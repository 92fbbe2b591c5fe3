"""CurveFeatures: many named candidate features of sampled curves."""

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from infosieve._core import rules
from infosieve._core.rules import ParameterError, check_x, is_flag, is_int
from infosieve._core.types import FloatArray, NameArray
from infosieve._input.named import remember_columns
from infosieve._input.tables import Table, read_table
from infosieve._sources import run_once
from infosieve.curves._kinds import DEGREE, KINDS
from infosieve.curves._plan import Plan


class CurveFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Compute candidate features of curves, such as spectra, each named by where it comes from.

    A curve is a row, its points are neighbouring columns. What is informative about a target may
    be the height of a curve somewhere, its slope, its curvature, an area or a position: all of
    them are computed, without a target, for a selection to choose from.

    Parameters
    ----------
    axis : array-like of shape (n_features,) or None, default=None
        Where the columns lie: wavelengths, times, ... rising or falling, evenly spaced or not.
        None: the columns' names, if they are numbers that rise or fall; else 0, 1, 2, ..., and
        features are named by the names of the columns, if they have any.
    unit : str, default=""
        The axis's unit, for names.
    kinds : "all" or list of str, default="all"
        What to compute; "all" leaves out what needs more points than there are:

        - "sample": the columns themselves;
        - "spline": coefficients of a cubic B-spline fitted to the curve [1]_;
        - "slope", "curvature": first and second derivative (Savitzky and Golay [2]_);
        - "mean", "integral": over windows of several widths that overlap by half;
        - "area": the integral of the whole curve;
        - "extrema": the largest and the smallest value, and where they are (the first of several);
        - "moments": standard deviation, skewness and kurtosis of the curve's values, and centre
          and width along the axis of what lies above its smallest value (values count by the
          range of the axis that they stand for, also in means).
    n_windows : int or tuple of int, default=(4, 8, 16)
        How many windows side by side cover the axis, for each of several widths.
    n_splines : int or None, default=None
        The number of B-splines; None is a quarter of the number of columns, 40 at most.
    smoothing : int or None, default=None
        The number of neighbouring columns that derivatives are taken from (odd): a parabola is
        fitted to them. None is about a twelfth of all, 5 at least.

    Attributes
    ----------
    axis_ : ndarray of shape (n_features_in_,)
        Where the columns lie.
    n_features_out_ : int
        The number of features.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    MISelector : Select from the features.
    FeatureClustering : Join redundant columns instead, with ``connectivity="chain"``.

    Notes
    -----
    Where the axis is not evenly spaced, curves are interpolated to an axis that is (by monotone
    cubic interpolation) for the derivatives; all else is computed on the axis as it is. A
    constant curve has derivatives, skewness and kurtosis 0, and the centre and width of the axis.

    References
    ----------
    .. [1] F. Rossi, D. François, V. Wertz, M. Meurens and M. Verleysen (2007). Fast selection of
       spectral variables with B-spline compression. https://arxiv.org/abs/0709.3639
    .. [2] A. Savitzky and M. J. E. Golay (1964). Smoothing and differentiation of data by
       simplified least squares procedures. https://doi.org/10.1021/ac60214a047

    Examples
    --------
    >>> from infosieve import CurveFeatures
    >>> from infosieve.datasets import load_tecator
    >>> tecator = load_tecator()
    >>> curves = CurveFeatures(tecator.axis, unit="nm").fit(tecator.data)
    >>> curves.get_feature_names_out()[[130, 325, 380]].tolist()
    ['slope[860nm]', 'mean[850:898nm]', 'integral[901:949nm]']
    >>> print(curves.describe().iloc[[130]].round(1).to_string(index=False))
         feature  kind  from    to
    slope[860nm] slope 852.0 868.2
    """

    def __init__(
        self,
        axis: Any = None,
        *,
        unit: str = "",
        kinds: Any = "all",
        n_windows: Any = (4, 8, 16),
        n_splines: int | None = None,
        smoothing: int | None = None,
    ) -> None:
        for name, value in locals().items():
            if name != "self":
                setattr(self, name, value)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the axis and name the features; nothing is learned from the curves.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A curve in each row.
        y : None
            Ignored.

        Returns
        -------
        CurveFeatures
            Itself.
        """
        check_x(X)
        X = run_once(X, "X")
        if not isinstance(self.unit, (str, type(None))):
            raise ParameterError("unit", "a text", self.unit)
        table = read_table(X, "X", False, least=1, offsets={})
        m = table.n_columns
        axis, names = self._axis_for(table)
        plan = Plan(
            axis=axis,
            names=names,
            unit=self.unit or "",
            n_windows=self._windows(),
            n_splines=self._splines_for(m),
            smoothing=self._smoothing_for(m),
        )
        kinds = self._kinds_for(m)
        remember_columns(self, X)
        self.axis_, self._plan = plan.axis, plan
        self._kinds = [KINDS[name] for name in kinds]
        flat = np.zeros((1, m))
        self._features = [f for kind in self._kinds for f in kind.compute(plan, flat)[0]]
        self.n_features_out_ = len(self._features)
        return self

    def _kinds_for(self, m: int) -> list[str]:
        """The kinds of features that are computed of curves of m points."""
        if isinstance(self.kinds, str) and self.kinds == "all":
            return [name for name, kind in KINDS.items() if m >= kind.n_points]
        words = ", ".join(map(repr, KINDS))
        chosen = list(self.kinds) if isinstance(self.kinds, (list, tuple, set)) else []
        if not chosen or not all(isinstance(k, str) and k in KINDS for k in chosen):
            raise ParameterError("kinds", f"'all' or a list of some of {words}", self.kinds)
        for name in chosen:
            if m < (least := KINDS[name].n_points):
                raise ValueError(
                    f"The 'kinds' parameter asks for {name!r}, which needs curves of {least} "
                    f"points; these have {m}. Leave it out."
                )
        return [name for name in KINDS if name in chosen]

    def _axis_for(self, table: Table) -> tuple[FloatArray, list[str] | None]:
        """The axis, and the columns' names where features are named by them."""
        m = table.n_columns
        if self.axis is not None:
            return self._checked_axis(m), None
        axis = np.arange(m, dtype=np.float64)
        if not table.named:
            return axis, None
        numbers = all(isinstance(n, (int, float)) and not is_flag(n) for n in table.names)
        if numbers and _monotone(np.array(table.names, float)):
            return np.array(table.names, float), None
        return axis, [str(name) for name in table.names]

    def _checked_axis(self, m: int) -> FloatArray:
        if np.ndim(self.axis) != 1:
            raise ValueError(
                "The 'axis' parameter must be None or a list of positions, one for each column "
                f"of X. Its shape is {np.shape(self.axis)}."
            )
        axis: FloatArray = read_table(self.axis, "axis", False, least=1, offsets={}).values[0]
        if axis.size != m:
            raise ValueError(
                f"The 'axis' parameter has {axis.size} positions, but X has {m} columns: give "
                "the position of each column."
            )
        if not _monotone(axis):
            steps = np.diff(axis)
            at = int(np.flatnonzero(steps * np.sign(axis[-1] - axis[0] or 1.0) <= 0)[0])
            raise ValueError(
                "The 'axis' parameter must rise or fall from column to column, but "
                f"{axis[at]:.12g} is followed by {axis[at + 1]:.12g} (columns {at} and "
                f"{at + 1}). Sort the columns by it, and join those at the same position."
            )
        return axis

    def _windows(self) -> tuple[int, ...]:
        counts = [self.n_windows] if is_int(self.n_windows) else self.n_windows
        if not isinstance(counts, (list, tuple)) or not all(is_int(c) and c > 0 for c in counts):
            rule = "an int of at least 1, or a tuple of such ints"
            raise ParameterError("n_windows", rule, self.n_windows)
        return tuple(counts)

    def _splines_for(self, m: int) -> int:
        """The number of B-splines of curves of m points."""
        rules.count(DEGREE + 1, True).check("n_splines", self.n_splines)
        if self.n_splines is None:
            return min(40, max(DEGREE + 1, m // 4), m)
        if self.n_splines > max(m, DEGREE + 1):
            rule = f"at most the number of columns ({m})"
            raise ParameterError("n_splines", rule, self.n_splines)
        return int(min(self.n_splines, m))

    def _smoothing_for(self, m: int) -> int:
        """The number of neighbouring points that derivatives of m points are taken from."""
        smoothing = self.smoothing
        if smoothing is None:
            smoothing = max(5, m // 12)
            return min(smoothing + 1 - smoothing % 2, m - 1 + m % 2)
        if not is_int(smoothing) or smoothing % 2 == 0 or not 3 <= smoothing <= m:
            rule = f"None or an odd int from 3 to the number of columns ({m})"
            raise ParameterError("smoothing", rule, smoothing)
        return int(smoothing)

    def transform(self, X: Any) -> FloatArray:
        """Compute the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A curve in each row.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out_)
            A feature in each column.
        """
        check_is_fitted(self)
        check_x(X)
        X = run_once(X, "X")
        remember_columns(self, X, reset=False)
        curves = read_table(X, "X", False, least=1, offsets={}).values.T
        return np.column_stack([kind.compute(self._plan, curves)[1] for kind in self._kinds])

    def get_feature_names_out(self, input_features: Any = None) -> NameArray:
        """Name the features by kind and position, such as ``integral[900:950nm]``.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            A name for each feature.
        """
        check_is_fitted(self)
        return np.array([f.name for f in self._features], dtype=object)

    def describe(self) -> pd.DataFrame:
        """Describe each feature: its name, its kind, and the range of the axis it comes from.

        Returns
        -------
        DataFrame
            Columns "feature", "kind", "from" and "to", a row for each feature.
        """
        check_is_fitted(self)
        return pd.DataFrame(self._features, columns=["feature", "kind", "from", "to"])


def _monotone(axis: FloatArray) -> bool:
    """Whether it rises, or falls, from each position to the next."""
    steps = np.diff(axis)
    return bool(np.all(steps > 0) or np.all(steps < 0))
