"""Data sets: shapes, seeds, truths, files that are not what they should be."""

import numpy as np
import pandas as pd
import pytest

from infosieve import datasets, mutual_information, relevance
from infosieve.datasets import load_spectra, load_tecator

GENERATORS = [
    datasets.make_friedman,
    datasets.make_normal,
    datasets.make_copies,
    datasets.make_uniform,
    datasets.make_xor,
]


@pytest.mark.parametrize("make", GENERATORS)
def test_generators_know_shapes_names_and_seeds(make):
    bunch = make(50, 12, random_state=3)
    assert bunch.data.shape == (50, 12)
    assert bunch.feature_names[0] == "X1"
    again = make(50, 12, random_state=np.random.default_rng(3))
    np.testing.assert_array_equal(bunch.data, again.data)
    np.testing.assert_array_equal(bunch.target, again.target)
    X, y = make(50, 12, random_state=3, return_X_y=True, as_frame=True)
    assert list(X) == bunch.feature_names
    assert y.name == "Y"
    np.testing.assert_array_equal(X, bunch.data)
    assert make(50, random_state=np.random.RandomState(0)).data.shape == (50, 10)
    with pytest.raises(ValueError, match="'n_features' parameter must be an int of at least"):
        make(50, 0)
    with pytest.raises(ValueError, match="'n_samples' parameter"):
        make(1)


@pytest.mark.parametrize("make", GENERATORS)
def test_the_relevant_columns_tell_what_the_generator_says(make):
    bunch = make(4000, 8, random_state=0)
    if bunch.mi is not None:
        X = bunch.data[:, bunch.relevant]
        estimate = mutual_information(X, bunch.target, n_neighbors=(3, 10))
        assert abs(estimate - bunch.mi) < 0.08
    others = np.setdiff1d(np.arange(8), bunch.relevant)
    given = bunch.data[:, bunch.relevant[:1]] if make is datasets.make_copies else None
    assert np.abs(relevance(bunch.data[:, others], bunch.target, condition=given)).max() < 0.05


def test_what_the_generators_are_asked_for():
    bunch = datasets.make_normal(20_000, 4, n_relevant=2, mi=0.5, random_state=0)
    r = np.corrcoef(bunch.data[:, :2].sum(axis=1), bunch.target)[0, 1]
    assert abs(-np.log(1 - r**2) / 2 - 0.5) < 0.03
    bunch = datasets.make_copies(2000, 5, n_copies=3, copy_noise=0.01, random_state=0)
    assert np.corrcoef(bunch.data.T)[0, 1:4].min() > 0.99
    assert datasets.make_xor(flips=0.5).mi == pytest.approx(0)
    with pytest.raises(ValueError, match="'noise' parameter must be a number from"):
        datasets.make_uniform(noise=0)
    with pytest.raises(ValueError, match="'mi' parameter must be a number from"):
        datasets.make_normal(mi=-1)
    assert datasets.make_uniform(noise=0.75).mi == pytest.approx(1 / 3)
    friedman = datasets.make_friedman(30, 6, noise=0, random_state=1)
    x1, x2, x3, x4, x5, _ = friedman.data.T
    truth = 10 * np.sin(x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
    np.testing.assert_allclose(friedman.target, truth)


def test_tecator():
    tecator = load_tecator()
    assert tecator.data.shape == (215, 100)
    assert tecator.target.shape == (215,)
    assert tecator.axis[[0, -1]].tolist() == [850, 1050]
    assert tecator.target_names == ["fat"]
    assert "can be redistributed as long as this permission note is attached" in " ".join(
        tecator.DESCR.split()
    )
    _, first = np.unique(tecator.data, axis=0, return_index=True)
    assert 215 - len(first) == 22
    X, y = load_tecator(return_X_y=True, as_frame=True, target=["water", "protein"])
    assert isinstance(X, pd.DataFrame)
    assert list(y) == ["water", "protein"]
    assert load_tecator(target="water").target[0] == 60.5
    for wrong in ("salt", [], None, ["fat", "abs_001"]):
        with pytest.raises(ValueError, match=r"must be one of \['water', 'fat', 'protein'\]"):
            load_tecator(target=wrong)
    assert load_tecator().frame is None


def test_spectra_from_a_file(tmp_path, rng):
    curves = pd.DataFrame(rng.normal(size=(6, 4)), columns=["nm_900", "nm_902", "nm_904", "nm_906"])
    table = curves.assign(octane=np.arange(6.0), split=["train"] * 4 + ["test"] * 2)
    for name, separator in (("a.csv", ","), ("a.tsv", "\t")):
        table.to_csv(tmp_path / name, index=False, sep=separator)
        spectra = load_spectra(tmp_path / name)
        assert spectra.data.shape == (6, 4)
        assert spectra.axis.tolist() == [900, 902, 904, 906]
        assert spectra.target_names == ["octane"]
        assert spectra.text["split"].tolist() == table["split"].tolist()
    X, y = load_spectra(str(tmp_path / "a.csv"), return_X_y=True, as_frame=True)
    pd.testing.assert_frame_equal(X, curves)
    assert y.name == "octane"
    table.assign(water=1.0).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(ValueError, match="2 columns of numbers beside the curve: 'octane', 'wa"):
        load_spectra(tmp_path / "b.csv")
    assert load_spectra(tmp_path / "b.csv", target="water").data.shape == (6, 4)
    with pytest.raises(ValueError, match=r"b\.csv has no target 'nm_900'"):
        load_spectra(tmp_path / "b.csv", target="nm_900")
    curves.to_csv(tmp_path / "c.csv", index=False)
    with pytest.raises(ValueError, match="0 columns of numbers beside the curve: none"):
        load_spectra(tmp_path / "c.csv")
    table[["octane", "split"]].to_csv(tmp_path / "d.csv", index=False)
    with pytest.raises(ValueError, match="does not begin with the columns of a curve"):
        load_spectra(tmp_path / "d.csv")
    table.assign(nm_902="x").to_csv(tmp_path / "e.csv", index=False)
    with pytest.raises(ValueError, match=r"Column 'nm_902' of e\.csv belongs to the curve"):
        load_spectra(tmp_path / "e.csv")
    with pytest.raises(FileNotFoundError):
        load_spectra(tmp_path / "none.csv")
