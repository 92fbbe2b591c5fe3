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


@dataclass(frozen=True)
class Rule:
    """What a parameter must be, in words, and a function that knows whether a value is.

    ``of_option``: in words of the command line, where what it takes is not all that Python does.
    """

    text: str
    accepts: Callable[[Any], bool]
    kind: Kind = "words"
    error: type[RefusedError] = ParameterError
    of_option: str = ""

    def check(self, name: str, value: Any) -> None:
        """Refuse a value of the parameter of that name."""
        if not self.accepts(value):
            raise self.error(name, either(self.text, self.of_option or self.text), value)


def is_flag(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def is_int(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_text(value: Any, text: str) -> bool:
    """Whether a value is that text; of an array, == says something else."""
    return isinstance(value, str) and value == text


def anything() -> Rule:
    """Whoever uses the value looks at it."""
    return Rule("anything", lambda value: True, "text")


def is_like(choice: Any) -> bool:
    """Whether a choice is compared by its value."""
    return is_int(choice) or isinstance(choice, str)


def one_of(*choices: Any) -> Rule:
    """A few words, None, or flags."""

    def accepts(value: Any) -> bool:
        plain = value if is_int(value) or isinstance(value, str) else None
        return any(value is one or (plain is not None and is_like(one) and plain == one)
                   for one in choices)  # fmt: skip

    return Rule(f"one of {', '.join(map(repr, choices))}", accepts)


def flag() -> Rule:
    """True or False."""
    return Rule("True or False", is_flag, "flag")


def count(least: int, optional: bool = False) -> Rule:
    """A number of things; None where it may be left open."""
    none = "None or " if optional else ""
    return Rule(
        f"{none}an int of at least {least}",
        lambda value: (optional and value is None) or (is_int(value) and value >= least),
        "int",
    )


def between(least: float, most: float, optional: bool = False) -> Rule:
    """A number from the least to the most."""
    none = "None or " if optional else ""
    return Rule(
        f"{none}a number from {least} to {most}",
        lambda value: (
            (optional and value is None)
            or (is_number(value) and bool(least <= float(value) <= most))
        ),
        "float",
    )


def rate(optional: bool = False) -> Rule:
    """An error rate."""
    return Rule(
        "a number between 0 and 1 (0.05 accepts one false feature in twenty tests)",
        lambda value: (
            (optional and value is None) or (is_number(value) and bool(0 < float(value) < 1))
        ),
        "float",
    )


def ends_of(n_neighbors: Any) -> tuple[Any, ...]:
    """One K, or the two ends of a range, as a pair."""
    pair = n_neighbors if isinstance(n_neighbors, (tuple, list)) else (n_neighbors,) * 2
    return tuple(pair)


def neighbors(auto: bool = False) -> Rule:
    """K, or the two ends of a range of K."""

    def accepts(value: Any) -> bool:
        ends = ends_of(value)
        whole = len(ends) == 2 and all(map(is_int, ends)) and 1 <= ends[0] <= ends[1]
        return bool(whole) or (auto and is_text(value, "auto"))

    text = "an int of at least 1, or a pair (lo, hi) of such ints with lo <= hi"
    return Rule(text + (", or 'auto'" if auto else ""), accepts)


def permutations() -> Rule:
    """How many permutations a test has."""
    return Rule(
        "'auto' or an int of at least 1",
        lambda value: is_text(value, "auto") or (is_int(value) and value >= 1),
    )


def screen() -> Rule:
    """How many candidates get an estimate."""
    return Rule(
        "'auto', an int of at least 2 (how many candidates get an estimate in each permutation), "
        "or None (all)",
        lambda value: value is None or is_text(value, "auto") or (is_int(value) and value >= 2),
    )


def samples(least: int) -> Rule:
    """How many samples an estimate has."""
    return Rule(
        f"'auto', an int of at least {least} (samples of an estimate), a float in (0, 1] (their "
        "share), or None (all in one estimate)",
        lambda value: (
            value is None
            or is_text(value, "auto")
            or (is_int(value) and value >= least)
            or (isinstance(value, float) and 0.0 < value <= 1.0)
        ),
    )


def series() -> Rule:
    """Whether rows are in order of time, or how many of them belong together."""
    return Rule(
        "False, True (rows are in order of time), or how many neighbouring rows belong together, "
        "at least 1",
        lambda value: is_flag(value) or (is_int(value) and value >= 1),
    )


def jobs() -> Rule:
    """Threads, as scikit-learn counts them."""
    return Rule(
        "None, a positive int, or a negative one to count from all cores (-1 is all)",
        lambda value: value is None or (is_int(value) and value != 0),
        "int",
    )


def verbosity() -> Rule:
    """How much is told, as in scikit-learn."""
    return Rule(
        "a bool, or an int of at least 0 (0: silent; 1: how far a run is; 2: more)",
        lambda value: is_flag(value) or (is_int(value) and value >= 0),
    )


def seed() -> Rule:
    """What random numbers are drawn from, as in scikit-learn."""
    known = (np.random.RandomState, np.random.Generator)
    return Rule(
        "None, an int of at least 0, a NumPy RandomState or a NumPy Generator",
        lambda value: value is None or isinstance(value, known) or (is_int(value) and value >= 0),
        "int",
        of_option="a whole number of at least 0",
    )


def folds() -> Rule:
    """Folds, as in scikit-learn."""

    def accepts(value: Any) -> bool:
        if value is None or is_int(value):
            return value is None or bool(value >= 2)
        splits = hasattr(value, "split") and not isinstance(value, str)
        return splits or (isinstance(value, Iterable) and not isinstance(value, (str, dict)))

    return Rule(
        "an int of at least 2, a splitter as scikit-learn has them, or pairs of rows to learn from "
        "and to judge on",
        accepts,
        "int",
        of_option="an int of at least 2",
    )


def model() -> Rule:
    """What predicts, of scikit-learn's kind."""
    needed = ("fit", "predict", "get_params", "__sklearn_tags__")
    return Rule(
        "None, or a regressor or classifier as scikit-learn has them (a BaseEstimator), such as "
        f"SVR(), or a word for one: {', '.join(map(repr, MODELS))}",
        lambda value: (
            value is None
            or (isinstance(value, str) and value in MODELS)
            or (not isinstance(value, type) and all(hasattr(value, name) for name in needed))
        ),
        "text",
        ParameterTypeError,
    )


def scoring() -> Rule:
    """What predictions are judged by."""
    return Rule(
        "None, the name of a score of scikit-learn, or a function of model, X and y",
        lambda value: value is None or isinstance(value, str) or callable(value),
        "text",
        ParameterTypeError,
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
    seed().check("random_state", random_state)
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])  # short enough to be typed
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return int(random_state)
