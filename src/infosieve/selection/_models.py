"""The models that a number of columns is chosen by: what may be asked, and the default."""

import difflib
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from infosieve._core.dialect import mention, parameter
from infosieve._core.files import first_line
from infosieve._core.messages import brief, shown
from infosieve._core.model_text import nameless
from infosieve._core.settings import SelectorSettings
from infosieve._core.types import BoolArray

# Columns of a ranking that are tried, at most, where nobody says how many.
MOST = 50


def check_prediction(settings: SelectorSettings) -> None:
    """Refuse a score that scikit-learn does not know, and models that no checkpoint can tell."""
    name = settings.scoring
    if isinstance(name, str) and (unknown := unknown_score(name)):
        raise ValueError(f"{parameter('scoring')} {unknown}")
    for name in ("model", "scoring") if settings.checkpoint is not None else ():
        found = nameless(getattr(settings, name))
        if found is not None:
            raise ValueError(
                f"{parameter(name)} has {brief(found)}, which a checkpoint cannot tell from "
                "another. Define a function by name, at the top of a module, and seeds as "
                f"numbers; or leave {mention('checkpoint')} out."
            )


def unknown_score(name: str) -> str | None:
    """Where scikit-learn has no score of that name: what to say of it."""
    known = get_scorer_names()
    if name in known:
        return None
    near = difflib.get_close_matches(name, known, 3)
    hint = f"do you mean {' or '.join(near)}?" if near else "such as r2 or balanced_accuracy"
    return f"{shown(name)} is no score of scikit-learn; {hint}"


def unjudged(scoring: str, y: npt.NDArray[Any], classes: bool) -> str | None:
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
