"""Every parameter of every public function is checked: nonsense is refused by its name."""

import inspect

import numpy as np
import pandas as pd
import pytest

import infosieve as i


class Nonsense:
    """What no parameter takes, and what iterates over nothing."""

    def __repr__(self):
        return "Nonsense()"


RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(40, 4)), columns=list("abcd"))
Y = X["a"] ** 2 + 0.1 * RNG.normal(size=40)
SELECTOR = i.MISelector(stop=None, max_features=1)
FUNCTIONS = {
    "mutual_information": lambda **k: i.mutual_information(X, Y, **k),
    "relevance": lambda **k: i.relevance(X, Y, **k),
    "entropy": lambda **k: i.entropy(Y, **k),
    "false_neighbors": lambda **k: i.false_neighbors(X, Y, **k),
    "choose_k": lambda **k: i.choose_k(X, Y, **k),
    "permutation_test": lambda **k: i.permutation_test(X, Y, ["a", "b"], **k),
    "relevance_test": lambda **k: i.relevance_test(X, Y, **k),
    "stability": lambda **k: i.stability(SELECTOR, X, Y, **k),
    "MISelector": lambda **k: i.MISelector(**k).fit(X, Y),
    "FeatureClustering": lambda **k: i.FeatureClustering(**({"n_clusters": 2} | k)).fit(X, Y),
    "CurveFeatures": lambda **k: i.CurveFeatures(**k).fit(X.to_numpy()),
}
GIVEN = {"X", "y", "candidates", "selector", "estimator_"}
PARAMETERS = [
    (name, parameter)
    for name in FUNCTIONS
    for parameter in inspect.signature(getattr(i, name)).parameters
    if parameter not in GIVEN
]


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
@pytest.mark.parametrize("value", [Nonsense(), 2.5, "nonsense"], ids=repr)
def test_nonsense_is_refused_by_its_name(name, parameter, value, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    texts = {("checkpoint"), "unit"}  # which are texts
    if isinstance(value, str) and parameter in texts:
        pytest.skip("a text is what it takes")
    with pytest.raises((ValueError, TypeError)) as error:
        FUNCTIONS[name](**{parameter: value})
    assert parameter in str(error.value)


@pytest.mark.parametrize("verbose", [-1, None, (), float("nan"), "x"])
def test_verbose_is_as_in_scikit_learn(verbose):
    for name in ("MISelector", "FeatureClustering", "stability", "relevance_test"):
        with pytest.raises(ValueError, match="The 'verbose' parameter must be a bool, or an int"):
            FUNCTIONS[name](verbose=verbose)
    for right in (True, False, 0, 1, 2, np.int64(1), np.True_):
        FUNCTIONS["FeatureClustering"](verbose=right)
