"""The models that a number of columns is chosen by: what may be asked, and the default."""

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from infosieve._core.messages import shown
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
    model = selector.model
    if model is None:
        return
    if isinstance(model, type) or not all(
        hasattr(model, name) for name in ("fit", "predict", "get_params")
    ):
        raise TypeError(
            "The 'model' parameter must be None, or a regressor or classifier as scikit-learn has "
            f"them, such as SVR(). Got {shown(model)} instead."
        )


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
