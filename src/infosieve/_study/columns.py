"""Columns as scikit-learn's estimators know them: by number and name."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from infosieve._core.messages import shown
from infosieve._sources import as_source


def remember_columns(estimator: Any, X: Any, reset: bool = True) -> None:
    """As scikit-learn's estimators know their columns: ``n_features_in_``, ``feature_names_in_``.

    Without ``reset``, columns other than those of ``fit`` are refused.
    """
    from sklearn.utils.validation import validate_data

    source = as_source(X)
    names = source.columns if source is not None and source.named else getattr(X, "columns", [])
    _refuse_repeated_names(list(names))
    if source is not None and source.named:  # what scikit-learn sees of a frame without rows
        X = pd.DataFrame(columns=source.columns)
    elif source is not None:
        X = np.empty((0, source.shape[1]))
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def _refuse_repeated_names(names: list[Any]) -> None:
    """Whoever selects by name must know which column is meant."""
    if len(set(names)) == len(names):
        return
    times = Counter(names)
    repeated = [name for name in times if times[name] > 1]
    told = ", ".join(f"{shown(name)} ({times[name]} times)" for name in repeated[:10])
    more = f" and {len(repeated) - 10} more" if len(repeated) > 10 else ""
    raise ValueError(
        f"X has several columns of the same name: {told}{more}. Rename them, so that it can be "
        "said which one is selected, or pass the values without names (X.to_numpy())."
    )
