"""Models: what words for them stand for, and whether one fits a target."""

from typing import Any

from infosieve._core.dialect import parameter, setting
from infosieve._core.model_text import described, name_of
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


def check_kind(model: Any, target: str, classes: bool) -> None:
    """A regressor for numbers, a classifier for classes."""
    from sklearn.base import is_classifier, is_regressor

    if (is_classifier(model) and classes) or (is_regressor(model) and not classes):
        return
    name = name_of(described(model))
    if not (is_classifier(model) or is_regressor(model)):
        raise TypeError(
            f"{parameter('model')} must be a regressor or a classifier; {name} is neither. Of a "
            "pipeline, the last step must be one."
        )
    wanted = "a classifier" if classes else "a regressor"
    raise ValueError(
        f"{parameter('model')} is {name}, but {target} has {'classes' if classes else 'numbers'}: "
        f"pass {wanted}, or one of {', '.join(MODELS)}; or say what the target is "
        f"({setting('discrete_target', not classes)})."
    )
