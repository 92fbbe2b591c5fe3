"""How messages name parameters and rows: as Python has them, or as the command line does.

The command says once which of the two is spoken in its process; whoever writes a message asks here
for the words, so that no message is ever translated.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Dialect:
    """How parameters are called: as in Python or, with ``options``, as on a command line.

    ``options`` has those that are not called as their parameters are.
    """

    options: Mapping[str, str] | None = None

    def mention(self, name: str) -> str:
        """A parameter inside a sentence."""
        if self.options is None:
            return repr(name)
        return self.options.get(name, f"--{name.replace('_', '-')}")


PYTHON = Dialect()
_of_process = PYTHON
# A worker's threads may work for a command and for Python at the same time.
_of_thread: ContextVar[Dialect | None] = ContextVar("dialect", default=None)


def spoken() -> Dialect:
    """The words of this thread; if nobody said, of the process."""
    return _of_thread.get() or _of_process


@contextmanager
def speaking(dialect: Dialect) -> Iterator[None]:
    """Until the block ends, this thread speaks it; of the main thread, all that have not said."""
    global _of_process
    before, token = _of_process, _of_thread.set(dialect)
    if threading.current_thread() is threading.main_thread():
        _of_process = dialect
    try:
        yield
    finally:
        _of_thread.reset(token)
        if threading.current_thread() is threading.main_thread():
            _of_process = before


def parameter(name: str) -> str:
    """A parameter at the beginning of a sentence."""
    return either(f"The {name!r} parameter", mention(name))


def mention(name: str) -> str:
    """A parameter inside a sentence."""
    return spoken().mention(name)


def bare(name: str) -> str:
    """A parameter where what it is for has been said, as in brackets."""
    return either(name, mention(name))


def setting(name: str, value: Any) -> str:
    """A parameter with a value."""
    if spoken().options is None:
        return f"{name}={value!r}"
    option = mention(name)
    if isinstance(value, bool):
        return option if value else f"no {option}"
    text = ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
    return f"{option} {'none' if value is None else text}"


def row(number: int) -> str:
    """A row of a table, counted from 0 here, and from 1 in a file."""
    return f"row {either(str(number), str(number + 1))}"


def either(python: str, command: str) -> str:
    """Words that the two have no common form for."""
    return python if spoken().options is None else command
