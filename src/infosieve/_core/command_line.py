"""The words of a command line: which are options, and which are values."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeAlias

# An option's name and its words; what is no option has an empty name.
Unit: TypeAlias = tuple[str, tuple[str, ...]]

# Options without a value.
_FLAGS = ("alternatives", "debug", "full", "help", "json", "quiet", "series", "test", "version")


def units_of(words: Iterable[str]) -> Iterator[Unit]:
    """Each option with its value, whatever that looks like: a column may be called --seed.

    What follows ``--`` is no option; it is one unit with that, the last.
    """
    rest = iter(words)
    for word in rest:
        name = word.removeprefix("--")
        if word == "--":
            yield "", (word, *rest)
        elif name == word:
            yield "", (word,)
        elif "=" in name or name in _FLAGS:
            yield name.partition("=")[0], (word,)
        else:
            yield name, (word, *islice(rest, 1))


def with_options(words: Iterable[str], *more: str) -> list[str]:
    """The same command with more options, which stand before what follows ``--``."""
    units = [some for _, some in units_of(words)]
    last = units.pop() if units and units[-1][0] == "--" else ()
    return [*(word for some in units for word in some), *more, *last]


def quoted(value: str) -> str:
    """A value as a shell reads it, whatever is in it; always in quotes."""
    inside = value.replace("'", "'\"'\"'")
    return f"'{inside}'"
