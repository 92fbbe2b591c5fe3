"""What reads the columns of a source: one class for each kind of file."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Columns that are read when somebody asks for them."""

    where: str  # the file, or what else it is, in words
    shape: tuple[int, int]
    schema: Any = None  # of pyarrow: names and types of the columns; None where they have no names
    status: tuple[int, int] | None = None  # of the file; None where only this process has columns

    @cached_property
    def names(self) -> list[str]:
        """Those of the columns, where they have some."""
        return [] if self.schema is None else list(self.schema.names)

    def read(self, columns: Sequence[int]) -> Any:
        """Some columns, in this order: a frame, or an array where they have no names."""
        raise NotImplementedError

    def visible(self) -> bool:
        """Whether this process can read what the one could that opened it."""
        try:
            return self.status is not None and status_of(self.where) == self.status
        except OSError:
            return False

    def refuse_changed(self) -> None:
        """Read nothing from a file that is another by now."""
        if not self.visible():
            raise OSError(f"{self.where} has changed since the table was opened. Open it again.")


def status_of(path: str) -> tuple[int, int]:
    """What changes when a file is written: its size and its time."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns
