"""How messages name parameters and rows: as Python has them, or as the command line does.

The command says once which of the two is spoken in its process; whoever writes a message asks here
for the words, so that no message is ever translated.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Dialect:
    """Names of parameters, settings and rows in a message; here those of Python."""

    def parameter(self, name: str) -> str:
        """A parameter at the beginning of a sentence."""
        return f"The {name!r} parameter"

    def mention(self, name: str) -> str:
        """A parameter inside a sentence."""
        return repr(name)

    def setting(self, name: str, value: Any) -> str:
        """A parameter with a value."""
        return f"{name}={value!r}"

    def row(self, number: int) -> str:
        """A row of a table, counted from 0 here."""
        return f"row {number}"

    def either(self, python: str, command: str) -> str:
        """Words that the two have no common form for."""
        return python


@dataclass(frozen=True)
class CommandLine(Dialect):
    """Names of options; rows are counted from 1."""

    options: Mapping[str, str]

    def parameter(self, name: str) -> str:
        return self.mention(name)

    def mention(self, name: str) -> str:
        return self.options.get(name, f"--{name.replace('_', '-')}")

    def setting(self, name: str, value: Any) -> str:
        option = self.mention(name)
        if isinstance(value, bool):
            return option if value else f"no {option}"
        text = ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
        return f"{option} {'none' if value is None else text}"

    def row(self, number: int) -> str:
        return f"row {number + 1}"

    def either(self, python: str, command: str) -> str:
        return command


PYTHON = Dialect()
_spoken = PYTHON


def spoken() -> Dialect:
    """The words of this process."""
    return _spoken


@contextmanager
def speaking(dialect: Dialect) -> Iterator[None]:
    """Messages are in this dialect until the block ends."""
    global _spoken
    before, _spoken = _spoken, dialect
    try:
        yield
    finally:
        _spoken = before


def parameter(name: str) -> str:
    """See :meth:`Dialect.parameter`."""
    return _spoken.parameter(name)


def mention(name: str) -> str:
    """See :meth:`Dialect.mention`."""
    return _spoken.mention(name)


def setting(name: str, value: Any) -> str:
    """See :meth:`Dialect.setting`."""
    return _spoken.setting(name, value)


def row(number: int) -> str:
    """See :meth:`Dialect.row`."""
    return _spoken.row(number)


def either(python: str, command: str) -> str:
    """See :meth:`Dialect.either`."""
    return _spoken.either(python, command)
