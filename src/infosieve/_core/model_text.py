"""scikit-learn's estimators in words: what a record keeps of them, how to have them again; and
words for models."""

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from infosieve._core.dialect import parameter, setting
from infosieve._core.rules import MODELS

# What a record has of folds that were passed as rows: these may be as many as there are samples.
PAIRS = "pairs of rows"
# What no text can bring back: functions without a name, and objects that have but an address.
_UNREADABLE = re.compile(
    r"<(?:[^<>]|<[^<>]*>)* at 0x[0-9a-fA-F]+>|<lambda>|\w+\(\w+\) at 0x[0-9a-fA-F]+"
)


def portable(value: Any) -> Any:
    """A parameter in a form that is the same in another process: no addresses."""
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray, np.generic)):
        return value
    if isinstance(value, (list, tuple)):
        return [portable(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): portable(item) for key, item in value.items()}
    named = value if hasattr(value, "__qualname__") else None
    named = type(value) if hasattr(value, "get_params") and named is None else named
    if named is not None:
        return f"{named.__module__}.{named.__qualname__}"
    if _wordless(value):
        return _call(value)
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def described(estimator: Any) -> dict[str, Any]:
    """Its name and all its parameters, those of nested ones too; never a pickle."""
    parameters = {
        name: portable(value) for name, value in sorted(estimator.get_params(deep=True).items())
    }
    home = type(estimator).__module__.partition("._")[0]
    return {"name": f"{home}.{type(estimator).__qualname__}", "parameters": parameters}


def nameless(value: Any) -> str | None:
    """The first function or object inside that no text tells from another; None: there is none."""
    for part in _parts_of(value):
        if isinstance(part, (type, str)) or hasattr(part, "get_params"):
            continue
        drawn = isinstance(part, (np.random.RandomState, np.random.Generator))
        text = str(portable(part)) if drawn or callable(part) else ""
        if drawn or re.search(r"<lambda>|<locals>| object>", text):
            return text
    return None


def name_of_score(scoring: Any) -> str:
    """What a score is called, in a word."""
    if isinstance(scoring, str):
        return scoring
    function = getattr(scoring, "_score_func", scoring)
    name = getattr(function, "__name__", type(function).__name__)
    sign = "neg_" if getattr(scoring, "_sign", 1) < 0 else ""
    return "score" if name == "<lambda>" else f"{sign}{name}"


def name_of(model: Mapping[str, Any]) -> str:
    """The name of a model that was described, in a word: of a pipeline, that of its last step."""
    name, known, step = str(model["name"]), model["parameters"], ""
    if name == "sklearn.pipeline.Pipeline" and known.get("steps"):
        last, name = known["steps"][-1]
        step = f"{last}__"
    if name.endswith(".TransformedTargetRegressor"):
        name = known.get(f"{step}regressor") or name
    return str(name).rpartition(".")[2]


def written(value: Any) -> str:
    """An estimator, a splitter or a function as Python reads it again, on one line.

    What cannot be written is ``...``.
    """
    if hasattr(value, "__qualname__"):
        return str(value.__name__) if value.__qualname__.isidentifier() else "..."
    try:
        text = value.__repr__(N_CHAR_MAX=10**6)
    except TypeError:  # not one of scikit-learn's estimators
        text = repr(value)
    for part in _parts_of(value):
        if _wordless(part):  # such as those that choose columns by their types
            text = text.replace(repr(part), _call(part))
    text = re.sub(r"<function (\w+) at 0x[0-9a-fA-F]+>", r"\1", " ".join(text.split()))
    return _UNREADABLE.sub("...", text)


def _parts_of(value: Any) -> Iterator[Any]:
    """A value, and those of all its parameters: of nested estimators and inside of lists, too."""
    yield value
    inside: Any = value if isinstance(value, (list, tuple)) else ()
    if hasattr(value, "_score_func"):  # what make_scorer makes
        inside = (value._score_func,)
    if hasattr(value, "get_params") and not isinstance(value, type):
        inside = value.get_params(deep=True).values()
    for one in inside:
        yield one
        if isinstance(one, (list, tuple)):
            yield from _parts_of(one)


def _wordless(value: Any) -> bool:
    """Whether an object says nothing but its address, and has the arguments that made it."""
    says: Any = type(value).__repr__
    if says is not object.__repr__:
        return False
    return set(inspect.signature(type(value)).parameters) <= set(vars(value))


def _call(value: Any) -> str:
    """The call that makes such an object."""
    parameters = inspect.signature(type(value)).parameters.values()
    values = [(p.name, getattr(value, p.name), p.default) for p in parameters]
    given = [f"{name}={one!r}" for name, one, default in values if one is not default]
    return f"{type(value).__name__}({', '.join(given)})"


def imports_of(value: Any, homes: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """What to import from where for :func:`written`, besides what ``homes`` has."""
    text, found = written(value), {home: set(names) for home, names in homes.items()}
    for used in _parts_of(value):
        named = used if hasattr(used, "__qualname__") else type(used)
        name = named.__name__
        if re.search(rf"\b{re.escape(name)}\b", text) and named.__module__ != "builtins":
            home = named.__module__.partition("._")[0]
            home = "infosieve" if home.startswith("infosieve.") else home
            found.setdefault(home, set()).add(name)
    for name, home in (("make_scorer", "sklearn.metrics"), ("array", "numpy")):
        if re.search(rf"\b{name}\(", text):
            found.setdefault(home, set()).add(name)
    return found


def import_lines(homes: Mapping[str, set[str]]) -> str:
    """Lines of Python, one for each package."""
    return "\n".join(f"from {home} import {', '.join(sorted(n))}" for home, n in homes.items())


def seeded(estimator: Any, seed: int) -> Any:
    """The same estimator: where it would draw from no seed, nested ones too, it has one now."""
    unseeded = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    return estimator.set_params(**unseeded) if unseeded else estimator


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
