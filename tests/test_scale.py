"""Scaling and ties."""

from dataclasses import replace

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm, rankdata

from infosieve._engines.numba.columns import LIFT
from infosieve._executors.threads import Threads
from infosieve._input.scaling import APART, TIE_NOISE, exponent_of, prepare


def prepared(values, scale="standard", exponent=0):
    values = np.atleast_2d(np.asarray(values, float))
    columns = prepare(values, np.zeros(len(values), bool), scale, exponent, Threads(1), True)
    return replace(columns, values=columns.values / LIFT)


@given(
    arrays(float, st.integers(2, 30), elements=st.floats(-1e6, 1e6, width=32)),
    st.sampled_from([1e-290, 1e-9, 1.0, 1e9, 1e290]),
    st.sampled_from([0.0, 1.0, 1e9]),
)
def test_standard_scaling_against_exact_arithmetic(values, size, shift):
    values = values * size + shift * size
    columns = prepared(values)
    if np.unique(values).size == 1:
        assert columns.constant[0]
        assert (columns.values == 0).all()
    else:
        want = naive.standardise(values)
        tied = columns.n_distinct[0] < values.size
        atol = 2 * TIE_NOISE if tied else 1e-12
        got = columns.values[0] - columns.values[0].mean()  # only differences matter
        np.testing.assert_allclose(got, want, rtol=0, atol=atol)


def test_columns_without_repeats_are_left_alone(rng):
    x = rng.normal(size=50)
    columns = prepared(x)
    np.testing.assert_allclose(columns.values[0], x / x.std(), rtol=0, atol=1e-14)
    assert columns.n_distinct[0] == 50


def test_no_digit_is_lost(rng):
    z = rng.normal(size=1000)
    for x in (np.exp(10 * z), np.r_[1e16, z[1:]], 1e6 + z, 1e-300 * z):
        columns = prepared(x)
        assert columns.n_distinct[0] == np.unique(x).size
        np.testing.assert_array_equal(np.argsort(columns.values[0]), np.argsort(x))
        if x.max() < 1e7:
            gaps = np.diff(np.sort(columns.values[0])) / np.diff(np.sort(x))
            np.testing.assert_allclose(gaps, gaps[0], rtol=1e-3)


@pytest.mark.parametrize("scale", ["standard", "normal-scores", None])
def test_ties_are_broken_by_a_little(rng, scale):
    x = rng.integers(0, 4, 500).astype(float)
    columns = prepared(x, scale)
    values = columns.values[0]
    assert columns.n_distinct[0] == 4
    assert np.unique(values).size == 500
    noise = values - np.array([np.median(values[x == v]) for v in x])
    unit = x.std() if scale is None else 1.0
    assert 0 < np.abs(noise).max() < 2.1 * TIE_NOISE * unit
    assert (np.diff(values[columns.order[0]]) > 0).all()
    np.testing.assert_array_equal(np.argsort(values), columns.order[0])


def test_noise_depends_on_the_ranks_alone(rng):
    x = rng.integers(0, 5, 200).astype(float)
    reference = prepared(x).values[0]
    np.testing.assert_array_equal(prepared(8 * x).values[0], reference)
    np.testing.assert_array_equal(prepared([rng.normal(size=200), x]).values[1], reference)
    np.testing.assert_allclose(prepared(-x).values[0], -reference, rtol=0, atol=1e-15)
    other = prepared(rng.permutation(x)).values[0]
    assert not np.isin(other, reference).any()


def test_normal_scores(rng):
    x = rng.standard_cauchy(100)
    want = norm.ppf((rankdata(x) - 0.5) / 100)
    np.testing.assert_allclose(prepared(x, "normal-scores").values[0], want, rtol=0, atol=1e-14)


def test_no_scaling_keeps_all_distances_in_proportion(rng):
    x = rng.normal(size=(2, 50)) * [[1.0], [1e6]]
    values = prepared(x, None, exponent_of(x)).values
    factors = np.ptp(x, axis=1) / np.ptp(values, axis=1)
    power = 2.0 ** round(np.log2(factors[0]))
    np.testing.assert_allclose(factors, power, rtol=1e-14)


def test_codes_are_far_apart():
    columns = prepare(np.array([[0.0, 1, 2, 1]]), np.array([True]), "standard", 0, Threads(1))
    gaps = np.abs(np.subtract.outer(columns.values[0], columns.values[0]))
    assert set(np.unique(gaps)) == {0.0, APART, 2 * APART}
    assert columns.n_distinct[0] == 3


def test_a_column_and_its_negative_are_scaled_alike():
    rng = np.random.default_rng(0)
    for n in (30, 31):
        for values in (rng.normal(size=n), np.round(rng.uniform(1, 1.7, n), 2) * 1e308,
                       rng.integers(-3, 3, n) + 0.0, np.round(rng.normal(size=n), 1)):  # fmt: skip
            for scale in ("standard", "normal-scores", None):
                exponent = int(np.frexp(np.abs(values).max())[1])
                number = np.zeros(2, bool)
                both = np.array([values, -values])
                z = prepare(both, number, scale, exponent, Threads(1), False, False).values
                assert np.isfinite(z).all()
                np.testing.assert_array_equal(z[0], -z[1])
