"""The kinds of features of a curve: what computes each of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.integrate import cumulative_trapezoid, trapezoid
from scipy.interpolate import PchipInterpolator, make_lsq_spline
from scipy.signal import savgol_filter

from infosieve._core.types import FloatArray
from infosieve.curves._plan import Feature, Plan

DEGREE = 3  # of splines
_PARABOLA = 2  # the degree of the polynomial whose derivatives are taken

# A feature for each column of the values, of shape (n_curves, n_features).
Computed = tuple[list[Feature], FloatArray]


def _samples(plan: Plan, curves: FloatArray) -> Computed:
    """The curves themselves."""
    return plan.at("sample", plan.axis, plan.axis, plan.axis), curves


def _splines(plan: Plan, curves: FloatArray) -> Computed:
    """Coefficients of a least-squares cubic spline, knots at quantiles of the axis."""
    falling = plan.axis[0] > plan.axis[-1]
    axis, values = (plan.axis[::-1], curves[:, ::-1]) if falling else (plan.axis, curves)
    inner = np.quantile(axis, np.linspace(0, 1, plan.n_splines - DEGREE + 1)[1:-1])
    knots = np.r_[[axis[0]] * (DEGREE + 1), inner, [axis[-1]] * (DEGREE + 1)]
    coefficients = make_lsq_spline(axis, np.ascontiguousarray(values.T), knots, k=DEGREE).c.T
    number = np.arange(plan.n_splines)
    centres = np.mean([knots[number + i] for i in range(1, DEGREE + 1)], axis=0)
    starts, ends = knots[number], knots[number + DEGREE + 1]
    if falling:
        centres, starts, ends = centres[::-1], ends[::-1], starts[::-1]
        coefficients = coefficients[:, ::-1]
    return plan.at("spline", centres, starts, ends), coefficients


def _derivatives(plan: Plan, curves: FloatArray, kind: str, order: int) -> Computed:
    """First or second derivatives by Savitzky and Golay (1964), on an evenly spaced axis."""
    m, axis = plan.axis.size, plan.axis
    if not plan.even:
        axis = np.linspace(plan.axis[0], plan.axis[-1], m)
        rising = np.argsort(plan.axis)
        curves = PchipInterpolator(plan.axis[rising], curves[:, rising], axis=1)(axis)
    step = (axis[-1] - axis[0]) / (m - 1)
    values = savgol_filter(curves, plan.smoothing, _PARABOLA, deriv=order, delta=step, axis=1)
    first = np.clip(np.arange(m) - plan.smoothing // 2, 0, m - plan.smoothing)
    starts, ends = axis[first], axis[first + plan.smoothing - 1]
    return plan.at(kind, axis, starts, ends), values


def _means(plan: Plan, curves: FloatArray) -> Computed:
    """Means over windows; a value counts by the range of the axis that it stands for."""
    first, last = np.array(plan.windows()).T
    steps = np.abs(np.gradient(plan.axis))
    windows = [slice(a, b + 1) for a, b in zip(first, last, strict=True)]
    columns = [curves[:, w] @ (steps[w] / steps[w].sum()) for w in windows]
    features = plan.between("mean", "mean", plan.axis[first], plan.axis[last])
    return features, np.column_stack(columns)


def _integrals(plan: Plan, curves: FloatArray) -> Computed:
    """Integrals over windows, by the trapezoidal rule."""
    first, last = np.array(plan.windows()).T
    total = cumulative_trapezoid(curves, np.abs(plan.axis - plan.axis[0]), axis=1, initial=0)
    features = plan.between("integral", "integral", plan.axis[first], plan.axis[last])
    return features, total[:, last] - total[:, first]


def _whole(plan: Plan, kind: str, columns: dict[str, FloatArray]) -> Computed:
    """Features of the whole curve."""
    start, end = plan.ends
    features = [plan.between(word, kind, [start], [end])[0] for word in columns]
    return features, np.column_stack(list(columns.values()))


def _areas(plan: Plan, curves: FloatArray) -> Computed:
    """The integral of the whole curve."""
    area = trapezoid(curves, np.abs(plan.axis - plan.axis[0]), axis=1)
    return _whole(plan, "area", {"area": area})


def _extrema(plan: Plan, curves: FloatArray) -> Computed:
    """The largest and the smallest value, and where they are."""
    columns = {
        "max": curves.max(axis=1),
        "max_at": plan.axis[curves.argmax(axis=1)],
        "min": curves.min(axis=1),
        "min_at": plan.axis[curves.argmin(axis=1)],
    }
    return _whole(plan, "extrema", columns)


def _moments(plan: Plan, curves: FloatArray) -> Computed:
    """Of the values, and of what lies above the smallest one along the axis.

    Values count by the range of the axis that they stand for; a curve that varies by no more than
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
    """What computes features of a kind, and how many points a curve needs for it."""

    compute: Callable[[Plan, FloatArray], Computed]
    n_points: int


KINDS = {
    "sample": Kind(compute=_samples, n_points=1),
    "spline": Kind(compute=_splines, n_points=4),
    "slope": Kind(compute=partial(_derivatives, kind="slope", order=1), n_points=3),
    "curvature": Kind(compute=partial(_derivatives, kind="curvature", order=2), n_points=3),
    "mean": Kind(compute=_means, n_points=2),
    "integral": Kind(compute=_integrals, n_points=2),
    "area": Kind(compute=_areas, n_points=2),
    "extrema": Kind(compute=_extrema, n_points=1),
    "moments": Kind(compute=_moments, n_points=2),
}
