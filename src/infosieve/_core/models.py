"""Words for models, and what they stand for in scikit-learn."""

from typing import Any

from infosieve._core.rules import MODELS


def made_of_word(model: Any, classes: bool) -> Any:
    """The model that a word stands for, of numbers or of classes; any other as it is."""
    if not isinstance(model, str):
        return model
    from sklearn import ensemble, linear_model, neighbors, svm
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    name = MODELS[model][classes]
    homes = (ensemble, linear_model, neighbors, svm)
    kind = next(getattr(home, name) for home in homes if hasattr(home, name))
    made = kind(weights="distance") if model == "neighbors" else kind()
    if model == "support-vectors" and not classes:  # who have an error that they do not mind
        made = TransformedTargetRegressor(made, transformer=StandardScaler())
    return made
