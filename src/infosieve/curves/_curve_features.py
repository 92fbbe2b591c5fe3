"""CurveFeatures: many named candidate features drawn from sampled curves."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.integrate import cumulative_trapezoid, trapezoid
from scipy.interpolate import PchipInterpolator, make_lsq_spline
from scipy.signal import savgol_filter
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from infosieve._core.parameters import check_count, check_x, is_flag, is_int
from infosieve._core.types import FloatArray
from infosieve._input.tables import Table, read_table

_DEGREE = 3  # of splines
_PARABOLA = 2  # what derivatives are taken of


class CurveFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Draw candidate features from curves, such as spectra, each named by where it comes from.

    Samples of a curve stand in neighbouring columns, a curve in each row. What matters about a
    curve may be its height somewhere, its slope, how it bends, an area or a position: all of them
    are drawn, blindly, for a selection to choose from.

    Parameters
    ----------
    axis : array-like of shape (n_features,) or None, default=None
        Where the columns lie: wavelengths, times, ... rising or falling, evenly spaced or not.
        None: the columns' names, if they are numbers that rise or fall; else 0, 1, 2, ..., and
        features are named by the names of the columns, if they have any.
    unit : str, default=""
        The axis's unit, for names.
    kinds : "all" or list of str, default="all"
        What to draw; "all" leaves out what needs more points than there are:

        - "sample": the columns themselves;
        - "spline": coefficients of a cubic B-spline fitted to the curve;
        - "slope", "curvature": first and second derivative (Savitzky and Golay);
        - "mean", "integral": over windows of several widths that overlap by half;
        - "area": the integral of the whole curve;
        - "extrema": the largest and the smallest value, and where they are (the first of several);
        - "moments": standard deviation, skewness and kurtosis of the curve's values, and centre
          and width along the axis of what lies above its smallest value (values count by the
          part of the axis that they stand for, also in means).
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
    n_features_out_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Where the axis is not even, curves are brought to an even one (by monotone cubic interpolation)
    for the derivatives; all else is computed on the axis as it is. A constant curve has
    derivatives, skewness and kurtosis 0, and the centre and width of the axis.

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
        self.axis = axis
        self.unit = unit
        self.kinds = kinds
        self.n_windows = n_windows
        self.n_splines = n_splines
        self.smoothing = smoothing

    def fit(self, X: Any, y: Any = None) -> "CurveFeatures":
        """Check the axis and name the features; nothing is learned from the curves.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A curve in each row.
        y : ignored

        Returns
        -------
        CurveFeatures
            Itself.
        """
        check_x(X)
        table = read_table(X, "X", False, least=1, offsets={})
        plan = self._plan_for(table)
        kinds = self._kinds_for(table.n_columns)
        validate_data(self, X, skip_check_array=True)
        self.axis_ = plan.axis
        self._plan = plan
        self._draw = [KINDS[kind].draw for kind in kinds]
        nothing = np.zeros((1, table.n_columns))
        self._features = [f for draw in self._draw for f in draw(plan, nothing)[0]]
        self.n_features_out_ = len(self._features)
        return self

    def _kinds_for(self, m: int) -> list[str]:
        """The kinds to draw from curves of m points."""
        if isinstance(self.kinds, str) and self.kinds == "all":
            return [name for name, kind in KINDS.items() if m >= kind.n_points]
        words = ", ".join(map(repr, KINDS))
        chosen = list(self.kinds) if isinstance(self.kinds, (list, tuple, set)) else []
        if not chosen or not all(isinstance(k, str) and k in KINDS for k in chosen):
            raise ValueError(
                f"The 'kinds' parameter must be 'all' or a list of some of {words}. "
                f"Got {self.kinds!r} instead."
            )
        for name in chosen:
            if m < KINDS[name].n_points:
                raise ValueError(
                    f"The 'kinds' parameter asks for {name!r}, which needs curves of "
                    f"{KINDS[name].n_points} points; these have {m}. Leave it out."
                )
        return [name for name in KINDS if name in chosen]

    def _plan_for(self, table: Table) -> "Plan":
        m = table.n_columns
        axis, names = np.arange(m, dtype=np.float64), None
        if self.axis is None and table.named:
            numbers = all(isinstance(n, (int, float)) and not is_flag(n) for n in table.names)
            steps = np.diff(np.array(table.names, float)) if numbers else np.zeros(1)
            if numbers and (np.all(steps > 0) or np.all(steps < 0)):
                axis = np.array(table.names, float)
            else:
                names = [str(name) for name in table.names]
        elif self.axis is not None:
            if np.ndim(self.axis) != 1:
                raise ValueError(
                    "The 'axis' parameter must be None or a list of positions, one for each column "
                    f"of X. Its shape is {np.shape(self.axis)}."
                )
            axis = read_table(self.axis, "axis", False, least=1, offsets={}).values[0]
            if axis.size != m:
                raise ValueError(
                    f"The 'axis' parameter has {axis.size} positions, but X has {m} columns: give "
                    "the place of each column."
                )
            steps = np.diff(axis)
            if not (np.all(steps > 0) or np.all(steps < 0)):
                at = int(np.flatnonzero(steps * np.sign(axis[-1] - axis[0] or 1.0) <= 0)[0])
                raise ValueError(
                    "The 'axis' parameter must rise or fall from column to column, but "
                    f"{axis[at]:.12g} is followed by {axis[at + 1]:.12g} (columns {at} and "
                    f"{at + 1}). Sort the columns by it, and join those at the same place."
                )
        counts = [self.n_windows] if is_int(self.n_windows) else self.n_windows
        if not isinstance(counts, (list, tuple)) or not all(is_int(c) and c > 0 for c in counts):
            raise ValueError(
                "The 'n_windows' parameter must be an int of at least 1, or a tuple of such ints. "
                f"Got {self.n_windows!r} instead."
            )
        n_splines = self.n_splines
        check_count(n_splines, "n_splines", _DEGREE + 1, optional=True)
        if n_splines is None:
            n_splines = min(40, max(_DEGREE + 1, m // 4))
        smoothing = self.smoothing
        if smoothing is None:
            smoothing = max(5, m // 12)
            smoothing = min(smoothing + 1 - smoothing % 2, m - 1 + m % 2)
        elif not is_int(smoothing) or smoothing % 2 == 0 or not 3 <= smoothing <= m:
            raise ValueError(
                "The 'smoothing' parameter must be None or an odd int from 3 to the number of "
                f"columns ({m}). Got {smoothing!r} instead."
            )
        if n_splines > max(m, _DEGREE + 1):
            raise ValueError(
                f"The 'n_splines' parameter must be at most the number of columns ({m}). Got "
                f"{n_splines} instead."
            )
        return Plan(axis, names, self.unit or "", tuple(counts), min(n_splines, m), smoothing)

    def transform(self, X: Any) -> FloatArray:
        """Draw the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A curve in each row.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out_)
        """
        check_is_fitted(self)
        check_x(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        curves = read_table(X, "X", False, least=1, offsets={}).values.T
        return np.column_stack([draw(self._plan, curves)[1] for draw in self._draw])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names such as ``integral[900:950nm]``.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array([f.name for f in self._features], dtype=object)

    def describe(self) -> pd.DataFrame:
        """What each feature is: its name, its kind, and the part of the axis it comes from.

        Returns
        -------
        DataFrame
            Columns "feature", "kind", "from" and "to", a row for each feature.
        """
        check_is_fitted(self)
        rows = [(f.name, f.kind, f.start, f.end) for f in self._features]
        return pd.DataFrame(rows, columns=["feature", "kind", "from", "to"])


@dataclass(frozen=True)
class Feature:
    """What one feature is: its name, its kind, the part of the axis that it comes from."""

    name: str
    kind: str
    start: float
    end: float


@dataclass(frozen=True)
class Plan:
    """Where the curves' points lie, and what is drawn there."""

    axis: FloatArray
    names: list[str] | None
    unit: str
    n_windows: tuple[int, ...]
    n_splines: int
    smoothing: int

    @property
    def ends(self) -> tuple[float, float]:
        return float(self.axis[0]), float(self.axis[-1])

    @property
    def even(self) -> bool:
        steps = np.diff(self.axis)
        return bool(np.all(np.abs(steps - steps.mean()) <= 1e-6 * np.abs(steps.mean())))

    def labels(self, positions: Any) -> list[str]:
        """Short texts for places on the axis that tell them apart."""
        n_places = len(set(map(float, positions)))
        if self.names is not None:
            texts = [self.names[round(p)] for p in positions]
            for digits in range(1, 17):
                if len(set(texts)) == n_places:
                    break
                parts = [(int(p), p - int(p)) for p in positions]
                texts = [self.names[i] + (f"+{f:.{digits}g}" if f else "") for i, f in parts]
            return texts
        for digits in range(1, 18):
            texts = [_short(p, digits) for p in positions]
            if len(set(texts)) == n_places:
                break
        return [text + self.unit for text in texts]

    def at(self, kind: str, positions: Any, starts: Any, ends: Any) -> list[Feature]:
        """A feature for each of some places, and the parts that they come from."""
        places = zip(self.labels(positions), starts, ends, strict=True)
        return [Feature(f"{kind}[{p}]", kind, float(a), float(b)) for p, a, b in places]

    def between(self, word: str, kind: str, starts: Any, ends: Any) -> list[Feature]:
        """A feature for each of some parts of the axis."""
        texts = self.labels([*starts, *ends])
        unit = "" if self.names is not None else self.unit
        pairs = zip(texts[: len(starts)], texts[len(starts) :], strict=True)
        names = [f"{word}[{a.removesuffix(unit)}:{b}]" for a, b in pairs]
        parts = zip(names, starts, ends, strict=True)
        return [Feature(name, kind, float(a), float(b)) for name, a, b in parts]

    def windows(self) -> list[tuple[int, int]]:
        """The first and last columns of windows of all widths, which overlap by half.

        Windows of a single column are left out; if all are, there is one over everything.
        """
        low, high = min(self.ends), max(self.ends)
        found: list[tuple[int, int]] = []
        for count in self.n_windows:
            width = (high - low) / count
            for start in low + width / 2 * np.arange(2 * count - 1):
                slack = 1e-9 * width
                inside = (self.axis >= start - slack) & (self.axis <= start + width + slack)
                columns = np.flatnonzero(inside)
                if columns.size >= 2 and (columns[0], columns[-1]) not in found:
                    found.append((int(columns[0]), int(columns[-1])))
        return found or [(0, self.axis.size - 1)]


def _short(position: float, digits: int) -> str:
    """A number to so many significant digits, whole numbers in full."""
    rounded = float(f"{position:.{digits}g}")
    if 1e-4 <= abs(rounded) < 1e15 or rounded == 0:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(position) or 1.0)))
        return f"{position:.{decimals}f}"
    return f"{rounded:.{digits}g}"


Drawn = tuple[list[Feature], FloatArray]


def _samples(plan: Plan, curves: FloatArray) -> Drawn:
    return plan.at("sample", plan.axis, plan.axis, plan.axis), curves


def _splines(plan: Plan, curves: FloatArray) -> Drawn:
    """Coefficients of a least-squares cubic spline, knots at quantiles of the axis."""
    falling = plan.axis[0] > plan.axis[-1]
    axis, values = (plan.axis[::-1], curves[:, ::-1]) if falling else (plan.axis, curves)
    inner = np.quantile(axis, np.linspace(0, 1, plan.n_splines - _DEGREE + 1)[1:-1])
    knots = np.r_[[axis[0]] * (_DEGREE + 1), inner, [axis[-1]] * (_DEGREE + 1)]
    coefficients = make_lsq_spline(axis, np.ascontiguousarray(values.T), knots, k=_DEGREE).c.T
    number = np.arange(plan.n_splines)
    centres = np.mean([knots[number + i] for i in range(1, _DEGREE + 1)], axis=0)
    starts, ends = knots[number], knots[number + _DEGREE + 1]
    if falling:
        centres, starts, ends = centres[::-1], ends[::-1], starts[::-1]
        coefficients = coefficients[:, ::-1]
    return plan.at("spline", centres, starts, ends), coefficients


def _derivatives(plan: Plan, curves: FloatArray, kind: str, order: int) -> Drawn:
    """By Savitzky and Golay, on an even axis."""
    m, axis = plan.axis.size, plan.axis
    if not plan.even:
        axis = np.linspace(*plan.ends, m)
        rising = np.argsort(plan.axis)
        curves = PchipInterpolator(plan.axis[rising], curves[:, rising], axis=1)(axis)
    step = (axis[-1] - axis[0]) / (m - 1)
    values = savgol_filter(curves, plan.smoothing, _PARABOLA, deriv=order, delta=step, axis=1)
    first = np.clip(np.arange(m) - plan.smoothing // 2, 0, m - plan.smoothing)
    starts, ends = axis[first], axis[first + plan.smoothing - 1]
    return plan.at(kind, axis, starts, ends), values


def _slopes(plan: Plan, curves: FloatArray) -> Drawn:
    return _derivatives(plan, curves, "slope", 1)


def _curvatures(plan: Plan, curves: FloatArray) -> Drawn:
    return _derivatives(plan, curves, "curvature", 2)


def _means(plan: Plan, curves: FloatArray) -> Drawn:
    first, last = np.array(plan.windows()).T
    steps = np.abs(np.gradient(plan.axis))
    windows = [slice(a, b + 1) for a, b in zip(first, last, strict=True)]
    columns = [curves[:, w] @ (steps[w] / steps[w].sum()) for w in windows]
    features = plan.between("mean", "mean", plan.axis[first], plan.axis[last])
    return features, np.column_stack(columns)


def _integrals(plan: Plan, curves: FloatArray) -> Drawn:
    first, last = np.array(plan.windows()).T
    total = cumulative_trapezoid(curves, np.abs(plan.axis - plan.axis[0]), axis=1, initial=0)
    features = plan.between("integral", "integral", plan.axis[first], plan.axis[last])
    return features, total[:, last] - total[:, first]


def _whole(plan: Plan, kind: str, columns: dict[str, FloatArray]) -> Drawn:
    """Features of the whole curve."""
    start, end = plan.ends
    features = [plan.between(word, kind, [start], [end])[0] for word in columns]
    return features, np.column_stack(list(columns.values()))


def _areas(plan: Plan, curves: FloatArray) -> Drawn:
    area = trapezoid(curves, np.abs(plan.axis - plan.axis[0]), axis=1)
    return _whole(plan, "area", {"area": area})


def _extrema(plan: Plan, curves: FloatArray) -> Drawn:
    columns = {
        "max": curves.max(axis=1),
        "max_at": plan.axis[curves.argmax(axis=1)],
        "min": curves.min(axis=1),
        "min_at": plan.axis[curves.argmin(axis=1)],
    }
    return _whole(plan, "extrema", columns)


def _moments(plan: Plan, curves: FloatArray) -> Drawn:
    """Of the values, and of what lies above the smallest one along the axis.

    Values count by the part of the axis that they stand for; a curve that varies by no more than
    rounding is constant.
    """
    steps = np.abs(np.gradient(plan.axis))
    weights = steps / steps.sum()
    exponent = np.frexp(np.abs(curves).max(axis=1, keepdims=True))[1]
    small = np.ldexp(curves, -exponent)
    varying = np.ptp(small, axis=1) > 1e-12
    z = small - (small @ weights)[:, None]
    sd = np.sqrt(z**2 @ weights) * varying
    z /= np.where(varying, sd, 1.0)[:, None]
    mass = np.where(varying[:, None], small - small.min(axis=1, keepdims=True), 1.0) * steps
    mass /= mass.sum(axis=1, keepdims=True)
    centre = mass @ plan.axis
    width = np.sqrt((mass * (plan.axis - centre[:, None]) ** 2).sum(axis=1))
    columns = {
        "sd": np.ldexp(sd, exponent[:, 0]),
        "skewness": (z**3 @ weights) * varying,
        "kurtosis": (z**4 @ weights - 3.0) * varying,
        "centre": centre,
        "width": width,
    }
    return _whole(plan, "moments", columns)


@dataclass(frozen=True)
class Kind:
    """What draws features of a kind, and how many points a curve needs for it."""

    draw: Callable[[Plan, FloatArray], Drawn]
    n_points: int


KINDS = {
    "sample": Kind(_samples, 1),
    "spline": Kind(_splines, 4),
    "slope": Kind(_slopes, 3),
    "curvature": Kind(_curvatures, 3),
    "mean": Kind(_means, 2),
    "integral": Kind(_integrals, 2),
    "area": Kind(_areas, 2),
    "extrema": Kind(_extrema, 1),
    "moments": Kind(_moments, 2),
}
