"""Files that are whole or not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place to write to, which becomes ``path`` once all is written.

    A crash leaves the old file or the new one, never a part. What a killed process left beside it
    is overwritten by the next.
    """
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f".{target.name}.new")
    try:
        yield fresh
        with open(fresh, "rb") as file:
            os.fsync(file.fileno())
        os.replace(fresh, target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, whole or not at all."""
    with atomic(path) as fresh:
        fresh.write_text(text, encoding="utf-8")


def printable(text: object) -> str:
    """A text without control characters, on one line: names come from files."""
    return "".join(c if c.isprintable() else "�" for c in str(text))


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
