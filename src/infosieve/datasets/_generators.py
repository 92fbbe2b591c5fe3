"""Generated data whose informative columns, and mostly their information, are known."""

import math
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from infosieve._core import rules
from infosieve._core.types import FloatArray


def _bunch(
    X: FloatArray, y: Any, relevant: int, mi: float | None, return_X_y: bool, as_frame: bool
) -> Any:
    names = [f"X{j}" for j in range(1, X.shape[1] + 1)]
    data: Any = pd.DataFrame(X, columns=names) if as_frame else X
    target: Any = pd.Series(y, name="Y") if as_frame else y
    if return_X_y:
        return data, target
    return Bunch(data=data, target=target, feature_names=names, relevant=np.arange(relevant), mi=mi)


def _begin(n_samples: Any, n_features: Any, least: int, random_state: Any) -> Any:
    """What draws, once sizes and seed have been checked."""
    rules.count(2).check("n_samples", n_samples)
    rules.count(least).check("n_features", n_features)
    rules.SEED.check("random_state", random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def make_friedman(
    n_samples: int = 100,
    n_features: int = 10,
    *,
    noise: float = 1.0,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Draw five informative columns, jointly nonlinear, among others that are noise.

    Y = 10 sin(X1 X2) + 20 (X3 - 0.5)^2 + 10 X4 + 5 X5 + noise, all columns uniform on [0, 1] and
    the noise normal: the example of Verleysen, Rossi and François [2]_. (Friedman's own
    function [1]_, ``sklearn.datasets.make_friedman1``, has pi in the sine.)

    Parameters
    ----------
    n_samples : int, default=100
        The number of samples.
    n_features : int, default=10
        The number of columns; 5 at least.
    noise : float, default=1.0
        The noise's standard deviation.
    random_state : int, RandomState, Generator or None, default=None
        The seed.
    return_X_y : bool, default=False
        Whether to return just the columns and the target.
    as_frame : bool, default=False
        Whether they are a DataFrame and a Series.

    Returns
    -------
    Bunch, or (X, y)
        ``data``, ``target``, ``feature_names``, ``relevant`` (the numbers of the informative
        columns) and ``mi`` (their mutual information with the target in nats; None: not known).

    See Also
    --------
    make_normal : Columns whose information is known.
    make_xor : Columns that are informative only jointly.

    References
    ----------
    .. [1] J. H. Friedman (1991). Multivariate adaptive regression splines. *The Annals of
       Statistics* 19(1), 1-67. https://doi.org/10.1214/aos/1176347963
    .. [2] M. Verleysen, F. Rossi and D. François (2009). Advances in feature selection with
       mutual information. In *Similarity-Based Clustering*, LNCS 5400, 52-69.
       https://doi.org/10.1007/978-3-642-01805-3_4

    Examples
    --------
    >>> from infosieve.datasets import make_friedman
    >>> friedman = make_friedman(random_state=0)
    >>> friedman.data.shape, friedman.relevant
    ((100, 10), array([0, 1, 2, 3, 4]))
    """
    rules.between(0, math.inf).check("noise", noise)
    rng = _begin(n_samples, n_features, 5, random_state)
    X = rng.uniform(size=(n_samples, n_features))
    y = 10 * np.sin(X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return _bunch(X, y + noise * rng.normal(size=n_samples), 5, None, return_X_y, as_frame)


def make_normal(
    n_samples: int = 200,
    n_features: int = 10,
    *,
    n_relevant: int = 3,
    mi: float = 1.0,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Draw normal columns whose sum, plus noise, has the information you ask for.

    Parameters
    ----------
    n_samples, n_features : int, default=200 and 10
        The numbers of samples and columns.
    n_relevant : int, default=3
        How many columns are informative, all alike.
    mi : float, default=1.0
        Their joint mutual information with the target, in nats: -log(1 - R^2) / 2.
    random_state, return_X_y, as_frame
        As in :func:`make_friedman`.

    Returns
    -------
    Bunch, or (X, y)
        As in :func:`make_friedman`.

    See Also
    --------
    make_uniform : Known information that is not linear.
    infosieve.mutual_information : The estimate of it.

    Examples
    --------
    >>> from infosieve.datasets import make_normal
    >>> normal = make_normal(mi=0.5, random_state=0)
    >>> normal.relevant, normal.mi
    (array([0, 1, 2]), 0.5)
    """
    rules.count(1).check("n_relevant", n_relevant)
    rules.between(0, 15).check("mi", mi)
    rng = _begin(n_samples, n_features, n_relevant, random_state)
    X = rng.normal(size=(n_samples, n_features))
    signal = X[:, :n_relevant].sum(axis=1) / math.sqrt(n_relevant)
    square = -math.expm1(-2 * mi)
    y = math.sqrt(square) * signal + math.sqrt(1 - square) * rng.normal(size=n_samples)
    return _bunch(X, y, n_relevant, mi, return_X_y, as_frame)


def make_copies(
    n_samples: int = 200,
    n_features: int = 10,
    *,
    n_copies: int = 1,
    copy_noise: float = 0.2,
    noise: float = 0.5,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Draw one informative column, noisy copies that are redundant with it, and noise.

    Y = X1 + noise, X1 standard normal; the copies come next, and given X1 they are not
    informative.

    Parameters
    ----------
    n_samples, n_features : int, default=200 and 10
        The numbers of samples and columns.
    n_copies : int, default=1
        How many of the columns are copies.
    copy_noise : float, default=0.2
        The standard deviation of what is added to the copies.
    noise : float, default=0.5
        The standard deviation of what is added to the target.
    random_state, return_X_y, as_frame
        As in :func:`make_friedman`.

    Returns
    -------
    Bunch, or (X, y)
        As in :func:`make_friedman`; ``relevant`` is the original alone.

    See Also
    --------
    make_normal : Columns that are informative without being redundant.
    infosieve.FeatureClustering : Join redundant columns.

    Examples
    --------
    >>> from infosieve.datasets import make_copies
    >>> copies = make_copies(n_copies=2, random_state=0)
    >>> copies.relevant, round(copies.mi, 3)
    (array([0]), 0.805)
    """
    rules.count(0).check("n_copies", n_copies)
    rules.between(0, math.inf).check("copy_noise", copy_noise)
    rules.between(1e-12, math.inf).check("noise", noise)
    rng = _begin(n_samples, n_features, 1 + n_copies, random_state)
    X = rng.normal(size=(n_samples, n_features))
    X[:, 1 : 1 + n_copies] = X[:, :1] + copy_noise * X[:, 1 : 1 + n_copies]
    y = X[:, 0] + noise * rng.normal(size=n_samples)
    return _bunch(X, y, 1, math.log1p(noise**-2) / 2, return_X_y, as_frame)


def make_uniform(
    n_samples: int = 200,
    n_features: int = 10,
    *,
    noise: float = 0.1,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Draw uniform columns, one of them informative: Y = X1 + uniform noise.

    Parameters
    ----------
    n_samples, n_features : int, default=200 and 10
        The numbers of samples and columns.
    noise : float, default=0.1
        The noise is uniform between -noise and noise. The columns are uniform on [0, 1], so that
        the information is noise - log(2 noise) up to 0.5, and 1 / (4 noise) beyond.
    random_state, return_X_y, as_frame
        As in :func:`make_friedman`.

    Returns
    -------
    Bunch, or (X, y)
        As in :func:`make_friedman`.

    See Also
    --------
    make_normal : The same with normal columns and noise.

    Examples
    --------
    >>> from infosieve.datasets import make_uniform
    >>> X, y = make_uniform(50, 4, random_state=0, return_X_y=True)
    >>> X.shape, y.shape
    ((50, 4), (50,))
    """
    rules.between(1e-12, math.inf).check("noise", noise)
    rng = _begin(n_samples, n_features, 1, random_state)
    X = rng.uniform(size=(n_samples, n_features))
    y = X[:, 0] + rng.uniform(-noise, noise, size=n_samples)
    mi = noise - math.log(2 * noise) if noise < 0.5 else 1 / (4 * noise)
    return _bunch(X, y, 1, mi, return_X_y, as_frame)


def make_xor(
    n_samples: int = 200,
    n_features: int = 10,
    *,
    flips: float = 0.05,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Draw two columns that are informative only jointly: the class is the sign of their product.

    Parameters
    ----------
    n_samples, n_features : int, default=200 and 10
        The numbers of samples and columns.
    flips : float, default=0.05
        The share of classes that are wrong.
    random_state, return_X_y, as_frame
        As in :func:`make_friedman`.

    Returns
    -------
    Bunch, or (X, y)
        As in :func:`make_friedman`; the target is "same" or "different".

    See Also
    --------
    make_friedman : A function of five columns.

    Examples
    --------
    >>> from infosieve.datasets import make_xor
    >>> xor = make_xor(random_state=0)
    >>> sorted(set(xor.target)), round(xor.mi, 3)
    (['different', 'same'], 0.495)
    """
    rules.between(0, 1).check("flips", flips)
    rng = _begin(n_samples, n_features, 2, random_state)
    X = rng.uniform(-1, 1, size=(n_samples, n_features))
    same = (X[:, 0] * X[:, 1] > 0) ^ (rng.uniform(size=n_samples) < flips)
    entropy = -sum(p * math.log(p) for p in (flips, 1 - flips) if p > 0)
    y = np.where(same, "same", "different").astype(object)
    return _bunch(X, y, 2, math.log(2) - entropy, return_X_y, as_frame)
