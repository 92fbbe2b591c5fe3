"""What ``--stop cv`` asks: a model by name, what scores are, and which options go with it."""

import ast
import importlib
import inspect
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from infosieve._core.files import first_line
from infosieve._core.messages import brief, shown
from infosieve._core.rules import MODELS
from infosieve.cli.config import meant
from infosieve.cli.errors import InputError

# What only tests use.
_OF_TESTS = ("null", "correction", "resample", "alpha", "n_permutations")


def check_options(given: Collection[str], stop: str, tests: bool) -> None:
    """Refuse options that would have no effect; ``tests``: whether anything asks for tests."""
    if stop != "cv" and "cv" in given:
        raise InputError("--cv is about --stop cv: give that, too, or leave it out")
    for name in _OF_TESTS if stop == "cv" and not tests else ():
        if name in given:
            raise InputError(
                f"--{name.replace('_', '-')} is about tests, and --stop cv makes none: add --test, "
                "which says which of the columns are certain, or leave it out"
            )


def model_of(text: str | None, declared: Sequence[str]) -> Any:
    """The model that a text names, behind what prepares columns; a word, or None, as it is."""
    named = alone(text)
    return named if named is None or isinstance(named, str) else prepared(named, declared)


def alone(text: str | None) -> Any:
    """The model that a text names, by itself."""
    if text is None or text in MODELS:
        return text
    return _made(*_parsed(text))


def _parsed(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters of ``Name(parameter=value)``; nothing is evaluated."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call = None
    if isinstance(call, ast.Name):
        return call.id, {}
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise InputError(f"--model {shown(text)} is none of {_known()}{meant(text, MODELS)}")
    if call.args or any(one.arg is None for one in call.keywords):
        raise InputError(
            f"--model {shown(text)}: parameters have names, such as {call.func.id}(name=1)"
        )
    parameters = {}
    for one in call.keywords:
        try:
            parameters[str(one.arg)] = ast.literal_eval(one.value)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            got = ast.get_source_segment(text.strip(), one.value) or "something else"
            raise InputError(
                f"--model {shown(text)}: {one.arg} must be a number, a text in quotes, True, "
                f"False, None, or several in brackets. Got {brief(got)} "
                "instead; MISelector(model=...) in Python takes any"
            ) from None
    return call.func.id, parameters


def _known() -> str:
    return (
        f"{', '.join(MODELS)}, or a regressor or classifier of scikit-learn, such as "
        '"SVR(C=10, epsilon=0.05)"'
    )


def _models() -> Iterator[tuple[str, Any]]:
    """Regressors and classifiers of scikit-learn, and their names; all_estimators takes seconds."""
    import sklearn
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    for home in sklearn.__all__:
        with suppress(ImportError):  # what else is there: functions
            module = importlib.import_module(f"sklearn.{home}")
            for name, kind in inspect.getmembers(module, inspect.isclass):
                here = kind.__module__.partition("._")[0] == module.__name__
                of_kind = issubclass(kind, (ClassifierMixin, RegressorMixin))
                if here and of_kind and issubclass(kind, BaseEstimator) and name[0] != "_":
                    yield name, kind


def _found(name: str) -> Any:
    """The class of that name, or an error that suggests the nearest."""
    others = {}
    for other, kind in _models():
        if other == name:
            return kind
        others[other] = kind
    hint = meant(name, [*others, *MODELS], 3)
    inside = [one for one in others if name.lower() in one.lower()][:3]
    if inside and not hint:
        hint = f"; do you mean {' or '.join(inside)}?"
    raise InputError(f"--model {shown(name)} is none of {_known()}{hint}")


def _made(name: str, parameters: dict[str, Any]) -> Any:
    """A model, whose parameters exist and have values that it takes."""
    kind = _found(name)
    known = inspect.signature(kind).parameters
    for one in parameters:
        if one not in known:
            hint = meant(one, known) or f"; it has {', '.join(known)}"
            raise InputError(f"--model {name} has no parameter {shown(one)}{hint}")
    for one, parameter in known.items():
        if parameter.default is parameter.empty and one not in parameters:
            raise InputError(
                f"--model {name} needs {one}, other models, which no option can hold; "
                "MISelector(model=...) in Python takes them"
            )
    model = kind(**parameters)
    try:
        model._validate_params()
    except ValueError as error:
        raise InputError(f"--model {name}: {brief(first_line(error), 300)}") from None
    return model


def prepared(model: Any, declared: Sequence[str]) -> Any:
    """A model for any columns of a frame, prepared as for the default model.

    Columns are known by their types, because models are given a few columns at a time; numbers
    that were declared categories, by their names.
    """
    from sklearn.base import clone
    from sklearn.compose import make_column_selector

    from infosieve.selection._models import with_preparation

    pipeline = with_preparation(model, np.zeros(0, bool))
    (_, numbers, _), (_, levels, _) = pipeline[0].transformers
    names = "|".join(map(re.escape, declared))
    others = rf"^(?!(?:{names})\Z)" if declared else None
    transformers = [
        ("numbers", numbers, make_column_selector(others, dtype_include="number")),
        ("categories", levels, make_column_selector(dtype_exclude="number")),
    ]
    if declared:
        named = make_column_selector(rf"^(?:{names})\Z", dtype_include="number")
        transformers.append(("declared", clone(levels), named))
    pipeline[0].set_params(transformers=transformers)
    return pipeline
