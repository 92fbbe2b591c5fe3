"""What mypy must refuse in a program of a user, with the code of the error that it gives.

Nothing here is run. See ``tests/test_typing.py``.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from infosieve import MISelector, permutation_test, plots, relevance


def mistakes(X: pd.DataFrame, y: "pd.Series[float]", values: NDArray[np.float64]) -> None:
    MISelector(stopp="fdr")  # refused: call-arg
    MISelector(stop="never")  # refused: arg-type
    result = MISelector().fit(X, y).result_
    chosen: list[str] = result.selected  # refused: assignment
    print(chosen, result.steps[0].p_value + 1)  # refused: operator
    permutation_test(X, y, given=["a"])  # refused: call-arg
    permutation_test(X, y, "a").to_csv("test.csv")  # refused: attr-defined
    relevance(X, y, n_neighbours=3)  # refused: call-overload
    relevance(values, y).sort_values()  # refused: attr-defined
    plots.KChoiceDisplay.from_choice(result).plot()  # refused: arg-type
    result.report(Path("page.html"), cluster=None)  # refused: call-arg
