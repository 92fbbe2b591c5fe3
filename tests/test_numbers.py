"""Numbers that float64 does not hold: whole ones beyond 2^53, decimals, fractions, long doubles.

Only differences matter, and those of whole numbers are small: every form of a column gives what the
differences themselves give. Other numbers that float64 does not tell apart are refused.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from infosieve import FeatureClustering, MISelector, mutual_information, open_columns, relevance
from infosieve._input.numbers import as_floats
from infosieve._input.tables import fingerprint, read_table

N = 120
RNG = np.random.default_rng(4)
Y, Z = RNG.normal(size=(2, N))
STEPS = np.round(50 * (Y + 0.1 * RNG.normal(size=N))).astype(int)
LOW, HIGH, HUGE = -(2**62), 2**62 + 1, 10**30 + 7


def whole(start):
    return [start + int(s) for s in STEPS]


FORMS = {
    "NumPy int64": lambda: np.array(whole(HIGH)),
    "NumPy int64, negative": lambda: np.array(whole(LOW)),
    "NumPy uint64": lambda: np.array(whole(2**63 + 10**6), np.uint64),
    "big-endian": lambda: np.array(whole(HIGH), ">i8"),
    "two dimensions": lambda: np.array(whole(HIGH))[:, None],
    "pandas int64": lambda: pd.Series(whole(HIGH), name="a"),
    "Int64": lambda: pd.Series(whole(HIGH), dtype="Int64"),
    "UInt64": lambda: pd.Series(whole(2**63 + 10**6), dtype="UInt64"),
    "a nullable array": lambda: pd.array(whole(LOW), dtype="Int64"),
    "Arrow int64": lambda: pd.Series(whole(HIGH), dtype=pd.ArrowDtype(pa.int64())),
    "Arrow uint64": lambda: pd.Series(whole(2**63 + 10**6), dtype=pd.ArrowDtype(pa.uint64())),
    "Arrow decimals": lambda: pd.Series(
        [Decimal(v) for v in whole(HUGE)], dtype=pd.ArrowDtype(pa.decimal128(38, 2))
    ),
    "sparse": lambda: pd.Series(pd.arrays.SparseArray(whole(HIGH), fill_value=HIGH)),
    "polars Int64": lambda: pl.Series("a", whole(HIGH)),
    "polars UInt64": lambda: pl.Series("a", whole(2**63 + 10**6), dtype=pl.UInt64),
    "polars decimals": lambda: pl.Series("a", [Decimal(v) for v in whole(HUGE)]),
    "a list": lambda: whole(HIGH),
    "a list beyond int64": lambda: whole(2**63),
    "Python integers": lambda: np.array(whole(HUGE), object),
    "NumPy integers as objects": lambda: pd.Series([np.int64(v) for v in whole(LOW)], dtype=object),
    "decimals": lambda: [Decimal(f"{v}.000") for v in whole(HUGE)],
    "integers and fractions": lambda: [*whole(HUGE)[:-1], Fraction(whole(HUGE)[-1])],
    "decimals and integers": lambda: [Decimal(v) for v in whole(HUGE)[:50]] + whole(HUGE)[50:],
    "integers and floats": lambda: [*whole(2**60)[:-1], float(2**60)],
}
if hasattr(pl, "Int128"):
    FORMS["polars Int128"] = lambda: pl.Series("a", whole(HUGE), dtype=pl.Int128)
if np.finfo(np.longdouble).nmant > 52:
    FORMS |= {
        "long doubles": lambda: np.longdouble(2) ** 60 + STEPS,
        "long doubles in a frame": lambda: pd.Series(np.longdouble(2) ** 60 + STEPS),
        "long doubles as objects": lambda: (np.longdouble(2) ** 60 + STEPS).astype(object),
    }


def wanted(form):
    """What the differences of a form are: exact ones of its numbers."""
    values = (
        form.to_list() if isinstance(form, pl.Series) else list(np.ravel(np.array(form, object)))
    )
    exact = [
        Fraction(*v.as_integer_ratio())
        if isinstance(v, np.longdouble)
        else Fraction(int(v))
        if isinstance(v, (int, np.integer))
        else Fraction(v)
        for v in values
    ]
    return np.array([float(v - exact[0]) for v in exact])


@pytest.mark.parametrize("case", FORMS)
def test_every_form_gives_what_its_differences_give(case):
    form = FORMS[case]()
    differences = wanted(form)
    want = mutual_information(differences, Y)
    assert want > 1
    assert mutual_information(form, Y) == pytest.approx(want, abs=1e-12)
    assert mutual_information(Y, form) == pytest.approx(
        mutual_information(Y, differences), abs=1e-12
    )
    given = mutual_information(Y, Z, condition=differences)
    assert mutual_information(Y, Z, condition=form) == pytest.approx(given, abs=1e-12)
    for scale in ("normal-scores", None):
        want = mutual_information(differences, Y, scale=scale)
        assert mutual_information(form, Y, scale=scale) == pytest.approx(want, abs=1e-9)


def test_frames_of_many_types_and_arrays():
    frame = pd.DataFrame(
        {
            "plain": STEPS,
            "Int64": pd.Series(whole(HIGH), dtype="Int64"),
            "objects": np.array(whole(HUGE), object),
            "decimals": [Decimal(v) for v in whole(HUGE)],
            "float": STEPS.astype(float),
        }
    )
    want = relevance(STEPS[:, None], Y)[0]
    np.testing.assert_allclose(relevance(frame, Y), want, atol=1e-12)
    both = np.column_stack([np.array(whole(HIGH)), STEPS])
    np.testing.assert_allclose(relevance(both, Y), want, atol=1e-12)
    rows = [[v, float(s)] for v, s in zip(whole(HIGH), STEPS, strict=True)]  # NumPy: all floats
    np.testing.assert_allclose(relevance(rows, Y), want, atol=1e-12)
    np.testing.assert_allclose(relevance(pl.from_pandas(frame[["Int64"]]), Y), want, atol=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
def test_an_outlier_does_not_hide_the_others(sign):
    near = [sign * v for v in whole(2**62)]
    near[7] = -sign  # alone at zero
    ranks = np.argsort(np.argsort(near, kind="stable"), kind="stable")
    for form in (np.array(near), pd.array(near, "Int64"), np.array(near, object)):
        values = read_table(form, "X").values[0]
        assert len(np.unique(values)) == len(set(near))
        np.testing.assert_array_equal(np.argsort(np.argsort(values, kind="stable")), ranks)


MERGED = {
    "decimals": [Decimal(f"{HUGE + v}e-3") for v in (1, 700, 1)],
    "small decimals": [Decimal("1.000000000000000001"), Decimal("1.000000000000000002"), 3],
    "fractions": [Fraction(HUGE, 7), 5, Fraction(HUGE + 1, 7)],
    "integers far apart": np.array([2**62 + 1, 1, 2**62 + 2, 5, 3]),
    "Arrow": pd.Series(
        [Decimal("1.000000000000000001"), None, Decimal("1.000000000000000002")],
        dtype=pd.ArrowDtype(pa.decimal128(30, 20)),
    ),
}
if np.finfo(np.longdouble).nmant > 52:
    MERGED["long doubles"] = np.array([1, 1 + np.finfo(np.longdouble).eps, 3], np.longdouble)


@pytest.mark.parametrize("case", MERGED)
def test_numbers_that_float64_does_not_tell_apart_are_refused_with_a_way_out(case):
    column = MERGED[case]
    present = [v for v in column if v is not None and not pd.isna(v)]
    with pytest.raises(ValueError, match="column 'a' of X") as error:
        read_table(pd.DataFrame({"a": column}), "X", missing="auto")
    named = [v for v in present if str(v) in str(error.value)]
    assert len(set(named)) >= 2
    assert float(named[0]) == float(named[1]) or case == "integers far apart"
    assert "Subtract" in str(error.value)
    rounded = read_table(pd.Series(present).astype(float), "X")  # one way out
    assert rounded.offsets == {}
    if case != "integers far apart":
        less = read_table([v - present[0] for v in present], "X").values[0]  # the other
        assert len(set(less)) == len(set(present))


def test_numbers_that_float64_holds_stay_as_they_are():
    wide = [10.0**k for k in range(-150, 150)]
    for form in (
        np.array(wide, object),
        [Decimal(v) for v in wide],
        [Decimal(repr(v)) for v in wide],
        np.array(wide, np.longdouble),
        np.array([2**53, -(2**53), 5]),
        pd.array([2**53, 1, 5], "Int64"),
        [Decimal("0.1"), Decimal("0.2"), Decimal("10.7")],
        [Fraction(1, 3), Fraction(2, 3)],
    ):
        table = read_table(form, "X")
        assert table.offsets == {}
        np.testing.assert_array_equal(table.values[0], np.array(form).astype(float))


MISSING = {
    "Int64": lambda v: pd.Series([None, *v[1:]], dtype="Int64"),
    "Arrow": lambda v: pd.Series([None, *v[1:]], dtype=pd.ArrowDtype(pa.int64())),
    "objects": lambda v: np.array([None, *v[1:]], object),
    "NaN among objects": lambda v: np.array([np.nan, *v[1:]], object),
    "decimals": lambda v: [Decimal("NaN"), *map(Decimal, v[1:])],
    "polars": lambda v: pl.Series("a", [None, *v[1:]]),
    "a source": lambda v: pa.table({"a": pa.array([None, *v[1:]])}),
}


@pytest.mark.parametrize("case", MISSING)
def test_missing_ones_are_refused_and_the_others_are_right(case):
    form = MISSING[case](whole(HIGH))
    with pytest.raises(ValueError, match="X has missing values"):
        relevance(form, Y, missing="error")
    column = form.column("a").to_pandas(integer_object_nulls=True) if case == "a source" else form
    column = column.to_numpy() if isinstance(column, pl.Series) else column
    if case == "polars":
        column = np.array(form.to_list(), object)
    values, offset = as_floats(pd.Series(column), "X")
    assert np.isnan(values[0])
    assert [int(v) + offset for v in values[1:]] == whole(HIGH)[1:]


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (10**309, "1.8e308"),
        (10**5000, "a whole number of 5000 digits, which is beyond 1.8e308"),
        (Fraction(10**400, 3), "1.8e308"),
        (Decimal("1e400"), "infinite"),
        (Decimal("Infinity"), "infinite"),
        (float("inf"), "infinite"),
    ],
    ids=["309 digits", "5000 digits", "a fraction", "a decimal", "no number", "a float"],
)
def test_numbers_beyond_floats_are_refused(value, word):
    with pytest.raises(ValueError, match=word):
        relevance(np.array([[value], *([v] for v in whole(HUGE)[1:])], object), Y)


def test_a_decimal_too_small_for_memory_is_zero():
    values, _ = as_floats(np.array([Decimal("1e-999999999"), Fraction(1, 3), 2**70], object), "X")
    assert values.tolist() == [0.0, 1 / 3, 2.0**70]


def test_fingerprints_know_the_numbers_and_not_their_type():
    forms = [np.array, lambda v: pd.Series(v, dtype="Int64"), lambda v: np.array(v, object)]
    forms.append(lambda v: [Decimal(x) for x in v])
    prints = {fingerprint(read_table(form(whole(HIGH)), "X")) for form in forms}
    assert len(prints) == 1
    assert fingerprint(read_table(np.array(whole(HIGH + 1)), "X")) not in prints


def test_a_column_is_shown_where_it_is():
    y = pd.Series(whole(2**60), dtype="Int64")
    frame = pd.DataFrame({"a": whole(HUGE), "b": Y})
    result = MISelector(n_features_to_select=1, random_state=0).fit(frame, y).result_
    np.testing.assert_allclose(result.excerpt.target["y"], 2.0**60 + STEPS, rtol=1e-15)
    assert result.excerpt.features[result.selected[0]][0] == pytest.approx(1e30, rel=1e-12)
    with pytest.raises(ValueError, match=r"every value is 1\.15"):
        relevance(frame, [2**60 + 1] * N)


def test_clusters_of_later_samples():
    later = np.arange(60, 80)
    small = pd.DataFrame({"a": STEPS, "b": 2 * STEPS + 1, "c": np.round(30 * Z).astype(int)})
    large = pd.DataFrame({n: [HIGH + int(v) for v in small[n]] for n in small})
    ref, got = (FeatureClustering(2).fit(x, Y) for x in (small, large))
    np.testing.assert_array_equal(got.labels_, ref.labels_)
    np.testing.assert_allclose(got.representatives_, ref.representatives_, atol=1e-12)
    want = ref.transform(small.iloc[later])
    for form in (large, large.astype("Int64"), large.astype(object)):
        np.testing.assert_allclose(got.transform(form.iloc[later]), want, atol=1e-12)
    np.testing.assert_allclose(want, ref.representatives_[later], atol=1e-12)
    medoids = FeatureClustering(2, representative="medoid").fit(large, Y)
    for values in (medoids.representatives_[later], medoids.transform(large.iloc[later])):
        np.testing.assert_allclose(values, HIGH, rtol=1e-15)
    np.testing.assert_allclose(got.inverse_transform(got.representatives_), HIGH, rtol=1e-15)


# --- on disk


KINDS = {
    "int64": pa.array(whole(HIGH)),
    "uint64": pa.array(whole(2**63 + 10**6), pa.uint64()),
    "decimal128": pa.array([Decimal(v) for v in whole(HUGE)], pa.decimal128(38, 3)),
    "decimal256": pa.array([Decimal(10**60 + v) for v in STEPS.tolist()], pa.decimal256(70, 5)),
    "plain": pa.array(STEPS),
}


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize("block", [1, 4])
def test_columns_on_disk(ending, block, tmp_path, monkeypatch):
    table = pa.table(KINDS)
    place = tmp_path / f"t.{ending}"
    if ending == "parquet":
        pa.parquet.write_table(table, place, row_group_size=50)
    else:
        pa.feather.write_feather(table, str(place))
    want = relevance(STEPS[:, None], Y)[0]
    np.testing.assert_allclose(relevance(open_columns(place), Y), want, atol=1e-12)
    options = {"n_features_to_select": 1, "random_state": 0}
    here = MISelector(**options).fit(open_columns(place), Y).result_
    monkeypatch.setattr("infosieve._input.lazy_columns.SMALL", 0)
    monkeypatch.setattr("infosieve._input.lazy_columns._BLOCK_BYTES", 8 * N * block)
    np.testing.assert_allclose(relevance(open_columns(place), Y), want, atol=1e-12)
    there = MISelector(**options).fit(open_columns(place), Y).result_
    assert there.provenance.data == here.provenance.data
    assert there.excerpt.features == here.excerpt.features


def test_gaps_on_disk_leave_integers_whole(tmp_path):
    pa.parquet.write_table(pa.table({"a": [None, *whole(HIGH)]}), tmp_path / "t.parquet")
    source = open_columns(tmp_path / "t.parquet")
    assert source["a"].dropna().tolist() == whole(HIGH)
    rest = source.take_rows(np.arange(1, N + 1))
    want = relevance(STEPS[:, None], Y)[0]
    np.testing.assert_allclose(relevance(rest, Y), want, atol=1e-12)


def test_a_memory_map(tmp_path):
    np.save(tmp_path / "a.npy", np.column_stack([np.array(whole(HIGH)), STEPS]))
    want = relevance(STEPS[:, None], Y)[0]
    np.testing.assert_allclose(relevance(open_columns(tmp_path / "a.npy"), Y), want, atol=1e-12)
