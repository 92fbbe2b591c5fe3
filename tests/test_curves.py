"""Features of curves: closed forms, uneven axes, few points, names."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import BSpline
from scipy.stats import kurtosis, skew
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from infosieve import CurveFeatures, MISelector
from infosieve.curves._kinds import KINDS
from infosieve.datasets import load_tecator

EVEN = np.linspace(900.0, 1000.0, 101)


def uneven(rng, m=150):
    steps = rng.uniform(0.3, 1.0, size=m - 1)
    return 5 + np.r_[0, np.cumsum(steps)] / steps.sum() * 2 * np.pi


def computed(axis, curves, **options):
    """A frame of the features, and their description by name."""
    transformer = CurveFeatures(axis, **options).set_output(transform="pandas")
    frame = transformer.fit_transform(np.atleast_2d(curves))
    return frame, transformer.describe().set_index("feature")


def of_kind(frame, description, kind):
    names = description.index[description["kind"] == kind]
    return frame[names], description.loc[names]


def positions(names):
    return np.array([float(name.split("[")[1].rstrip("]nm")) for name in names])


@pytest.mark.parametrize("falling", [False, True])
@pytest.mark.parametrize("spacing", ["even", "uneven"])
def test_a_parabola_in_closed_form(falling, spacing, rng):
    axis = EVEN if spacing == "even" else np.sort(rng.uniform(900, 1000, 400))
    axis = axis[::-1] if falling else axis
    low, high = axis.min(), axis.max()
    f = 3 + 2 * (axis - 940) + 0.5 * (axis - 940) ** 2

    def integral(a, b):
        u, v = np.asarray(a) - 940, np.asarray(b) - 940
        return np.abs(3 * (v - u) + (v**2 - u**2) + (v**3 - u**3) / 6)

    frame, about = computed(axis, f)
    rough = {"rtol": 1e-9, "atol": 1e-9} if spacing == "even" else {"rtol": 0.05, "atol": 1.0}
    slope, where = of_kind(frame, about, "slope")
    middle = (where["from"] + where["to"]) / 2
    inner = slice(10, -10)
    truth = 2 + (middle - 940)
    np.testing.assert_allclose(slope.to_numpy()[0][inner], truth.to_numpy()[inner], **rough)
    curvature, _ = of_kind(frame, about, "curvature")
    tight = {"rtol": 1e-7} if spacing == "even" else {"atol": 0.5}
    np.testing.assert_allclose(np.median(curvature), 1.0, **tight)
    areas, where = of_kind(frame, about, "integral")
    truth = integral(where["from"], where["to"])
    step = np.abs(np.diff(axis)).max()
    bound = np.abs(where["to"] - where["from"]) * step**2 / 12  # of the trapezoidal rule
    assert (np.abs(areas.to_numpy()[0] - truth) <= bound * 1.001 + 1e-9).all()
    area, _ = of_kind(frame, about, "area")
    np.testing.assert_allclose(area.to_numpy()[0], integral(low, high), rtol=0.005)
    _, where = of_kind(frame, about, "spline")
    assert (where["from"] > where["to"]).all() == falling
    samples, _ = of_kind(frame, about, "sample")
    np.testing.assert_array_equal(samples.to_numpy()[0], f)


def test_derivatives_on_an_uneven_axis(rng):
    axis = uneven(rng)
    for a in (axis, axis[::-1]):
        frame, about = computed(a, np.sin(a))
        for kind, truth, error in (
            ("slope", np.cos, 0.02),
            ("curvature", lambda t: -np.sin(t), 0.2),
        ):
            values, _ = of_kind(frame, about, kind)
            at = np.linspace(a[0], a[-1], a.size)
            worst = np.abs(values.to_numpy()[0] - truth(at))[12:-12].max()
            assert worst < error, (kind, worst)


def test_splines_are_least_squares_and_reproduce_cubics(rng):
    axis = uneven(rng, 80)
    cubic = axis**3 - 20 * axis**2
    frame, about = computed(axis, cubic, kinds=["spline"], n_splines=12)
    assert frame.shape == (1, 12)
    inner = np.quantile(axis, np.linspace(0, 1, 10)[1:-1])
    knots = np.r_[[axis[0]] * 4, inner, [axis[-1]] * 4]
    fine = np.linspace(axis[0], axis[-1], 500)
    evaluated = BSpline(knots, frame.to_numpy()[0], 3)(fine)
    np.testing.assert_allclose(evaluated, fine**3 - 20 * fine**2, rtol=1e-9)
    noisy = cubic + rng.normal(size=80)
    basis = BSpline.design_matrix(axis, knots, 3).toarray()
    best = np.linalg.lstsq(basis, noisy)[0]
    frame, _ = computed(axis, noisy, kinds=["spline"], n_splines=12)
    np.testing.assert_allclose(frame.to_numpy()[0], best, rtol=1e-6)
    assert (about["from"] <= positions(frame) + 0.06).all()
    assert (about["to"] >= positions(frame) - 0.06).all()


def test_extrema_moments_and_means(rng):
    bump = np.exp(-0.5 * ((EVEN - 930) / 4) ** 2)
    frame, about = computed(EVEN, np.array([bump, -2 * bump]), unit="nm")
    whole = "[900:1000nm]"
    assert frame["max" + whole].tolist() == [1, (-2 * bump).max()]
    assert frame["max_at" + whole][0] == 930
    assert frame["min_at" + whole][1] == 930
    assert frame["min" + whole][1] == -2
    np.testing.assert_allclose(frame["centre" + whole][0], 930, atol=1e-3)
    np.testing.assert_allclose(frame["width" + whole][0], 4, atol=1e-2)
    np.testing.assert_allclose(frame["sd" + whole], [bump.std(), 2 * bump.std()])
    np.testing.assert_allclose(frame["skewness" + whole][0], -frame["skewness" + whole][1])
    np.testing.assert_allclose(frame["kurtosis" + whole][0], frame["kurtosis" + whole][1])
    np.testing.assert_allclose(frame["skewness" + whole][0], skew(bump))
    np.testing.assert_allclose(frame["kurtosis" + whole][0], kurtosis(bump))
    means, where = of_kind(frame, about, "mean")
    for name in means:
        a, b = where.loc[name, ["from", "to"]]
        inside = (a <= EVEN) & (b >= EVEN)
        np.testing.assert_allclose(means[name][0], bump[inside].mean())
    assert "mean[900:925nm]" in means


def test_means_and_moments_go_by_the_axis():
    axis = np.r_[np.linspace(0, 1, 50), np.linspace(2, 100, 80)]
    frame, _ = computed(axis, axis, n_windows=1)
    np.testing.assert_allclose(frame["mean[0:100]"], 50, rtol=0.02)
    np.testing.assert_allclose(frame["sd[0:100]"], 100 / 12**0.5, rtol=0.02)
    np.testing.assert_allclose(frame["skewness[0:100]"], 0, atol=0.03)
    np.testing.assert_allclose(frame["centre[0:100]"], 200 / 3, rtol=0.02)


def test_curves_that_vary_by_rounding_and_curves_of_any_size(rng):
    flat = np.full((1, 60), 0.3)
    flat[0, 7] = np.nextafter(0.3, 1)
    wave = np.sin(np.linspace(0, 6, 60))[None]
    for curve in (flat, 1e9 + 1e-7 * rng.normal(size=(1, 60)), 1e100 * wave, 1e-310 * wave):
        frame, _ = computed(None, curve)
        assert np.isfinite(frame.to_numpy()).all()
    frame, _ = computed(None, flat)
    assert frame["skewness[0:59]"][0] == frame["sd[0:59]"][0] == 0


def test_windows_cover_the_axis_at_each_width():
    _, about = computed(EVEN, EVEN, n_windows=(2, 10))
    widths = (about["to"] - about["from"])[about["kind"] == "integral"].to_numpy()
    assert widths[:3].tolist() == [50] * 3
    assert widths[3:].tolist() == [10] * 19


def test_constant_curves_have_plain_features():
    frame, about = computed(EVEN, np.full((2, 101), 4.0))
    assert np.isfinite(frame.to_numpy()).all()
    for kind in ("slope", "curvature"):
        np.testing.assert_allclose(of_kind(frame, about, kind)[0], 0, atol=1e-12)
    whole = "[900:1000]"
    assert frame["skewness" + whole].tolist() == frame["kurtosis" + whole].tolist() == [0, 0]
    np.testing.assert_allclose(frame["centre" + whole], 950)
    np.testing.assert_allclose(frame["area" + whole], 400)
    assert frame["max_at" + whole].tolist() == [900, 900]


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 6, 11])
def test_few_points(m, rng):
    curves = rng.normal(size=(3, m))
    for axis in (None, np.cumsum(rng.uniform(1, 9, size=m))):
        transformer = CurveFeatures(axis).fit(curves)
        features = transformer.transform(curves)
        about = transformer.describe()
        assert np.isfinite(features).all()
        assert about["feature"].is_unique
        possible = [name for name, kind in KINDS.items() if m >= kind.n_points]
        assert list(dict.fromkeys(about["kind"])) == possible
        assert features.shape == (3, transformer.n_features_out_) == (3, len(about))
    for name, kind in KINDS.items():
        if m < kind.n_points:
            with pytest.raises(ValueError, match=f"asks for {name!r}, which needs curves of"):
                CurveFeatures(kinds=[name]).fit(curves)


def test_names_carry_positions_units_or_columns():
    X, _ = load_tecator(return_X_y=True, as_frame=True)
    axis = load_tecator().axis
    names = CurveFeatures(axis, unit="nm").fit(X).get_feature_names_out().tolist()
    assert {"sample[850nm]", "slope[852nm]", "curvature[1050nm]", "integral[850:898nm]"} < {*names}
    assert len(set(names)) == len(names)
    names = CurveFeatures().fit(X).get_feature_names_out().tolist()
    assert {"sample[abs_001]", "slope[abs_002]", "area[abs_001:abs_100]"} < set(names)
    assert len(set(names)) == len(names)
    for low, high in ((0, 0.001), (2e-19, 3e-19), (-1e-6, 1e-6), (1e20, 2e20), (1e6, 1e6 + 1)):
        fine = CurveFeatures(np.linspace(low, high, 100), n_splines=100).fit(X).describe()
        assert fine["feature"].is_unique, (low, high)
    assert CurveFeatures(n_splines=100).fit(X).describe()["feature"].is_unique
    assert CurveFeatures(unit=None).fit(X.to_numpy()).get_feature_names_out()[0] == "sample[0]"
    numbered = X.set_axis(np.linspace(900, 1098, 100), axis=1)
    frame = CurveFeatures().set_output(transform="pandas").fit_transform(numbered)
    assert 900 <= frame["max_at[900:1098]"][0] <= 1098
    assert CurveFeatures().fit(X.to_numpy()).get_feature_names_out()[7] == "sample[7]"


def test_describe_says_where_each_feature_comes_from():
    about = CurveFeatures(EVEN, smoothing=9).fit(np.zeros((2, 101))).describe()
    assert list(about) == ["feature", "kind", "from", "to"]
    assert about["from"].between(900, 1000).all()
    assert about["to"].between(900, 1000).all()
    slopes = about[about["kind"] == "slope"].reset_index(drop=True)
    assert slopes.loc[50, ["from", "to"]].tolist() == [946, 954]
    assert slopes.loc[0, ["from", "to"]].tolist() == [900, 908]


def test_a_pipeline_reads_naturally():
    X, fat = load_tecator(return_X_y=True, as_frame=True)
    X, fat = X[::3], fat[::3]
    selector = MISelector(stop=None, max_features=3)
    curves = CurveFeatures(kinds=["curvature", "slope"])
    model = make_pipeline(curves, selector, StandardScaler(), SVR(C=100)).fit(X, fat)
    assert model.score(X, fat) > 0.95
    chosen = model[:-1].get_feature_names_out()
    assert set(chosen) < set(curves.fit(X).get_feature_names_out())
    kept = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(kept.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axis": [1, 2, 3]}, "'axis' parameter has 3 positions, but X has 20 columns"),
        ({"axis": [*range(19), 5]}, "18 is followed by 5 .columns 18 and 19"),
        ({"axis": [0] * 20}, "0 is followed by 0"),
        ({"axis": [np.nan] * 20}, r"axis has missing values"),
        ({"kinds": "slope"}, "'kinds' parameter must be 'all' or a list"),
        ({"kinds": ["slope", "bump"]}, "Got .'slope', 'bump'. instead"),
        ({"kinds": []}, "'kinds' parameter must be"),
        ({"kinds": None}, "'kinds' parameter must be"),
        ({"axis": np.zeros((20, 2))}, r"Its shape is \(20, 2\)"),
        ({"n_splines": 21}, "at most the number of columns .20."),
        ({"n_windows": 0}, "'n_windows' parameter must be an int of at least 1"),
        ({"n_windows": (2, "x")}, "'n_windows' parameter"),
        ({"n_splines": 3}, "'n_splines' parameter must be None or an int of at least 4"),
        ({"smoothing": 4}, "odd int from 3 to the number of columns .20.. Got 4 instead"),
        ({"smoothing": 21}, "Got 21 instead"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        CurveFeatures(**options).fit(np.zeros((5, 20)))


def test_bad_curves_are_named():
    frame = pd.DataFrame(np.zeros((5, 20))).add_prefix("nm")
    frame.loc[2, "nm7"] = np.nan
    with pytest.raises(ValueError, match=r"'nm7' \(1\)"):
        CurveFeatures().fit(frame)
    fitted = CurveFeatures().fit(frame.fillna(0))
    with pytest.raises(ValueError, match=r"'nm7' \(1\)"):
        fitted.transform(frame)


@parametrize_with_checks([CurveFeatures(), CurveFeatures(kinds=["sample", "extrema"])])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
