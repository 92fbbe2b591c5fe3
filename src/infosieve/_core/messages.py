"""Values and names from data, as messages show them: short, whatever is in a cell."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

MOST = 60  # characters
# Python refuses to write whole numbers of more than 4300 digits.
_LONG = 10_000  # bits


def brief(text: str, most: int = MOST) -> str:
    """The text, or its beginning."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def shown(value: Any) -> str:
    """A value as a message shows it: NumPy's scalars as Python's, no more than a line."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return repr(brief(value))
    if isinstance(value, int) and value.bit_length() > _LONG:
        return f"a whole number of {round(value.bit_length() * 0.30103)} digits"
    return brief(repr(value))


def quoted(value: str) -> str:
    """A value as a shell reads it, whatever is in it; always in quotes."""
    inside = value.replace("'", "'\"'\"'")
    return f"'{inside}'"


# Through these modules of Python, too, the package calls itself.
_BETWEEN = ("contextlib", "functools")
# What somebody has warned of already, or will say better: see unsaid().
_unsaid: ContextVar[tuple[str, ...]] = ContextVar("unsaid", default=())


@contextmanager
def unsaid(*subjects: str) -> Iterator[None]:
    """Nothing is warned of in this block that is about one of these."""
    token = _unsaid.set((*_unsaid.get(), *subjects))
    try:
        yield
    finally:
        _unsaid.reset(token)


def warn(text: str, about: str = "", of: str = "", apart: str = "") -> None:
    """Warn whoever called this package; ``about`` is a subject of :func:`unsaid`.

    A subject is the same for the samples of every part of a run, ``of`` the same columns, even if
    the numbers in the text differ (:func:`subject_of`). ``apart`` is put in front of the text.
    """
    if about and about in _unsaid.get():
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__", "")
        if name not in _BETWEEN and not name.startswith("infosieve."):
            break
        level, frame = level + 1, frame.f_back
    warning = UserWarning(apart + text)
    warning.subject = f"{about} {of}".strip() or text  # type: ignore[attr-defined]
    warnings.warn(warning, stacklevel=level)


def subject_of(message: Any, category: type[Warning], filename: str, line: int) -> str:
    """What a warning is about: the same for two that need not both be read.

    Of others' warnings only the place is known that they come from.
    """
    return str(getattr(message, "subject", f"{category.__name__} {filename}:{line}"))
