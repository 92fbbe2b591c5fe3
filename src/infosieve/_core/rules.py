"""Rules of parameters: which values are accepted, and what is said of others."""

import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from infosieve._core.dialect import either, parameter
from infosieve._core.messages import shown

# How an option of the command line is read: a text may stand for a number, a range or None.
Kind: TypeAlias = Literal["text", "words", "int", "float", "flag"]

# Words for models: a regressor and a classifier of scikit-learn each.
MODELS = {
    "neighbors": ("KNeighborsRegressor", "KNeighborsClassifier"),
    "trees": ("ExtraTreesRegressor", "ExtraTreesClassifier"),
    "support-vectors": ("SVR", "SVC"),
    "linear": ("RidgeCV", "LogisticRegression"),
}


class RefusedError(Exception):
    """A value of a parameter breaks its rule."""

    def __init__(self, parameter_name: str, rule: str, value: Any, way_out: str = "") -> None:
        self.parameter, self.rule, self.way_out = parameter_name, rule, way_out
        self.value = shown(value)
        more = f" {way_out}" if way_out else ""
        what = f"{parameter(parameter_name)} must be {rule}"
        super().__init__(f"{what}. Got {self.value} instead.{more}")

    def __reduce__(self) -> Any:
        return _again, (type(self), str(self), self.__dict__)


def _again(kind: type[RefusedError], text: str, state: dict[str, Any]) -> RefusedError:
    """The same error in another process, where Python's words may be spoken."""
    error = kind.__new__(kind)
    error.args = (text,)
    error.__dict__.update(state)
    return error


class ParameterError(RefusedError, ValueError):
    """A value is none of those that the parameter can have."""


class ParameterTypeError(RefusedError, TypeError):
    """A value of a parameter is of a type that can be none of its values."""


def is_flag(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def is_int(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_text(value: Any, text: str) -> bool:
    """Whether a value is that text; of an array, == says something else."""
    return isinstance(value, str) and value == text


@dataclass(frozen=True)
class Rule:
    """What a parameter must be, in words, and a function that knows whether a value is.

    ``none``, ``auto``: None, or "auto", will do as well. ``of_option``: in words of the command
    line, where what it takes is not all that Python does.
    """

    text: str
    knows: Callable[[Any], bool]
    kind: Kind = "words"
    error: type[RefusedError] = ParameterError
    of_option: str = ""
    none: bool = False
    auto: bool = False

    def accepts(self, value: Any) -> bool:
        """Whether a value will do."""
        if (self.none and value is None) or (self.auto and is_text(value, "auto")):
            return True
        return self.knows(value)

    def check(self, name: str, value: Any) -> None:
        """Refuse a value of the parameter of that name."""
        if not self.accepts(value):
            raise self.error(name, either(self.text, self.of_option or self.text), value)


def one_of(*choices: Any) -> Rule:
    """A few words, None, or flags."""

    def knows(value: Any) -> bool:
        if is_int(value) or isinstance(value, str):
            return any(value == one for one in choices if is_int(one) or isinstance(one, str))
        return any(value is one for one in choices)

    return Rule(f"one of {', '.join(map(repr, choices))}", knows)


def whole(least: int) -> Callable[[Any], bool]:
    """What knows integers of at least so much."""
    return lambda value: is_int(value) and bool(value >= least)


def count(least: int, optional: bool = False) -> Rule:
    """A number of things; None where it may be left open."""
    none = "None or " if optional else ""
    return Rule(f"{none}an int of at least {least}", whole(least), "int", none=optional)


def between(least: float, most: float, optional: bool = False) -> Rule:
    """A number from the least to the most."""
    return Rule(
        f"{'None or ' if optional else ''}a number from {least} to {most}",
        lambda value: is_number(value) and bool(least <= float(value) <= most),
        "float",
        none=optional,
    )


def rate(optional: bool = False) -> Rule:
    """An error rate."""
    return Rule(
        "a number between 0 and 1 (0.05 accepts one false feature in twenty tests)",
        lambda value: is_number(value) and bool(0 < float(value) < 1),
        "float",
        none=optional,
    )


def ends_of(n_neighbors: Any) -> tuple[Any, ...]:
    """One K, or the two ends of a range, as a pair."""
    return tuple(n_neighbors) if isinstance(n_neighbors, (tuple, list)) else (n_neighbors,) * 2


def neighbors(auto: bool = False) -> Rule:
    """K, or the two ends of a range of K."""

    def knows(value: Any) -> bool:
        ends = ends_of(value)
        return len(ends) == 2 and all(map(is_int, ends)) and bool(1 <= ends[0] <= ends[1])

    text = "an int of at least 1, or a pair (lo, hi) of such ints with lo <= hi"
    return Rule(text + (", or 'auto'" if auto else ""), knows, auto=auto)


def _is_fold(value: Any) -> bool:
    if is_int(value):
        return bool(value >= 2)
    splits = hasattr(value, "split") and not isinstance(value, str)
    return splits or (isinstance(value, Iterable) and not isinstance(value, (str, dict)))


def _is_model(value: Any) -> bool:
    needed = ("fit", "predict", "get_params", "__sklearn_tags__")
    if isinstance(value, str):
        return value in MODELS
    return not isinstance(value, type) and all(hasattr(value, name) for name in needed)


# Whoever uses the value looks at it.
ANYTHING = Rule("anything", lambda value: True, "text")
FLAG = Rule("True or False", is_flag, "flag")
PERMUTATIONS = Rule("'auto' or an int of at least 1", whole(1), auto=True)
SCREEN = Rule(
    "'auto', an int of at least 2 (how many candidates get an estimate in each permutation), "
    "or None (all)",
    whole(2),
    none=True,
    auto=True,
)
SERIES = Rule(
    "False, True (rows are in order of time), or how many neighbouring rows belong together, "
    "at least 1",
    lambda value: is_flag(value) or whole(1)(value),
)
JOBS = Rule(
    "None, a positive int, or a negative one to count from all cores (-1 is all)",
    lambda value: is_int(value) and bool(value != 0),
    "int",
    none=True,
)
VERBOSITY = Rule(
    "a bool, or an int of at least 0 (0: silent; 1: how far a run is; 2: more)",
    lambda value: is_flag(value) or whole(0)(value),
)
SEED = Rule(
    "None, an int of at least 0, a NumPy RandomState or a NumPy Generator",
    lambda value: (
        isinstance(value, (np.random.RandomState, np.random.Generator)) or whole(0)(value)
    ),
    "int",
    of_option="a whole number of at least 0",
    none=True,
)
FOLDS = Rule(
    "an int of at least 2, a splitter as scikit-learn has them, or pairs of rows to learn from "
    "and to judge on",
    _is_fold,
    "int",
    of_option="an int of at least 2",
    none=True,
)
MODEL = Rule(
    "None, or a regressor or classifier as scikit-learn has them (a BaseEstimator), such as "
    f"SVR(), or a word for one: {', '.join(map(repr, MODELS))}",
    _is_model,
    "text",
    ParameterTypeError,
    none=True,
)
SCORING = Rule(
    "None, the name of a score of scikit-learn, or a function of model, X and y",
    lambda value: isinstance(value, str) or callable(value),
    "text",
    ParameterTypeError,
    none=True,
)


def check_x(X: Any) -> None:
    """A table of features has two dimensions."""
    if getattr(X, "ndim", len(np.shape(X)) if isinstance(X, (list, tuple)) else 2) == 1:
        raise ValueError(
            "X must be a table with a column for each feature; got one column. Expected 2D "
            "array, got 1D array instead. Reshape your data: X.reshape(-1, 1), or X.to_frame() in "
            "pandas."
        )


def seed_of(random_state: Any) -> int:
    """One integer from what scikit-learn's users call a random state."""
    SEED.check("random_state", random_state)
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])  # short enough to be typed
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return int(random_state)
