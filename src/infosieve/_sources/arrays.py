"""Arrays of numbers in files: memory maps."""

import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from infosieve._core.files import first_line
from infosieve._sources.reader import Reader, status_of


@dataclass(frozen=True, kw_only=True)
class ArrayFile(Reader):
    """An array in a file, which is opened anew for each reading: pages do not stay."""

    dtype: np.dtype[Any]
    offset: int = 0
    order: Any = None  # "C" or "F"
    array: Any = None  # where only this process has it

    @classmethod
    def of(cls, array: Any) -> "ArrayFile":
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            raise ValueError(
                f"{array.filename} has the shape {array.shape} and the type {array.dtype}; a table "
                "has two dimensions, samples and columns, and holds numbers."
            )
        order = "F" if array.flags.f_contiguous else "C" if array.flags.c_contiguous else None
        name = str(array.filename)
        # Part of an array, changed pages that are in memory only, a file that has no name any
        # more: what this process can read, no other can.
        private = order is None or array.filename is None or array.mode == "c"
        if private or array._mmap is None or not os.path.exists(name):
            return cls(where="an array", shape=array.shape, dtype=array.dtype, array=array)
        if array.mode != "r":
            array.flush()
        first = np.frombuffer(array._mmap, np.uint8).ctypes.data
        before = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
        return cls(
            where=name,
            shape=array.shape,
            dtype=array.dtype,
            offset=array.ctypes.data - first + before,
            order=order,
            status=status_of(name),
        )

    def read(self, columns: Sequence[int]) -> Any:
        array = self.array
        if array is None:
            self.refuse_changed()
            array = np.memmap(
                self.where, self.dtype, "r", offset=self.offset, shape=self.shape, order=self.order
            )
        return np.array(array[:, columns])


def map_array(path: str) -> Any:
    """The array of a .npy file, none of it read yet."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path} is no array of numbers: {first_line(error)}") from None
