"""The models that a number of columns is chosen by: what may be asked, and the default."""

import difflib
import warnings
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from infosieve._core.files import first_line
from infosieve._core.messages import brief, shown
from infosieve._core.model_text import nameless
from infosieve._core.parameters import check_count, is_int
from infosieve._core.types import BoolArray

# Columns of a ranking that are tried, at most, where nobody says how many.
MOST = 50


def check_prediction(selector: Any) -> None:
    """What a cross-validated stop is asked to do, refused before work begins."""
    if selector.n_features_to_select is not None:
        raise ValueError(
            "The 'n_features_to_select' parameter must be None with stop='cv', which chooses the "
            f"number; 'min_features' and 'max_features' bound it. Got "
            f"{selector.n_features_to_select!r} instead."
        )
    if selector.search != "forward":
        raise ValueError(
            "The 'search' parameter must be 'forward' with stop='cv', which cuts a ranking. Got "
            f"{selector.search!r} instead."
        )
    if is_int(selector.cv):
        check_count(selector.cv, "cv", 2)
    _check_scoring(selector.scoring)
    model = selector.model
    needed = ("fit", "predict", "get_params", "__sklearn_tags__")
    if isinstance(model, type) or not (model is None or all(hasattr(model, n) for n in needed)):
        raise TypeError(
            "The 'model' parameter must be None, or a regressor or classifier as scikit-learn has "
            f"them (a BaseEstimator), such as SVR(). Got {shown(model)} instead."
        )
    for name in ("model", "scoring") if selector.checkpoint is not None else ():
        found = nameless(getattr(selector, name))
        if found is not None:
            raise ValueError(
                f"The {name!r} parameter has {brief(found)}, which a checkpoint cannot tell from "
                "another. Define a function by name, at the top of a module, and seeds as "
                "numbers; or leave 'checkpoint' out."
            )


def refuse_prediction(selector: Any) -> None:
    """What only a cross-validated stop has a use for."""
    for name, default in (("model", None), ("scoring", None), ("test", False)):
        value = getattr(selector, name)
        if value is not default and value is not np.False_:
            raise ValueError(
                f"The {name!r} parameter is about stop='cv': pass that, too, or leave it out. Got "
                f"{name}={shown(value)} with stop={selector.stop!r}."
            )


def _check_scoring(scoring: Any) -> None:
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise TypeError(
            "The 'scoring' parameter must be None, the name of a score of scikit-learn, or a "
            f"function of model, X and y. Got {shown(scoring)} instead."
        )
    if isinstance(scoring, str) and (unknown := unknown_score(scoring)):
        raise ValueError(f"The 'scoring' parameter {unknown}")


def unknown_score(name: str) -> str | None:
    """Where scikit-learn has no score of that name: what to say of it."""
    known = get_scorer_names()
    if name in known:
        return None
    near = difflib.get_close_matches(name, known, 3)
    hint = f"do you mean {' or '.join(near)}?" if near else "such as r2 or balanced_accuracy"
    return f"{shown(name)} is no score of scikit-learn; {hint}"


def unjudged(scoring: str, y: Any, classes: bool) -> str | None:
    """Why a score cannot judge predictions of a target; None: it can."""
    nothing = np.zeros((len(y), 1))
    guess = (DummyClassifier() if classes else DummyRegressor()).fit(nothing, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            get_scorer(scoring)(guess, nothing, y)
        except Exception as error:
            return brief(first_line(error), 200)
    return None


def default_model(classes: bool) -> Any:
    """Nearest neighbours: what they predict with, trees and kernels do, too (docs/quality.md)."""
    kind = KNeighborsClassifier if classes else KNeighborsRegressor
    return kind(weights="distance")


def with_preparation(model: Any, categorical: BoolArray) -> Pipeline:
    """A model that is given numbers with gaps, and codes of categories where these are.

    Numbers are on the standard scale, and gaps are medians with a column that says where they
    were; each level of a category is a column.
    """
    numbers = make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
        StandardScaler(),
    )
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    both = [
        ("numbers", numbers, np.flatnonzero(~categorical)),
        ("categories", levels, np.flatnonzero(categorical)),
    ]
    return make_pipeline(ColumnTransformer(both), model)
