"""Files on this machine or on a remote filesystem, which fsspec opens."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infosieve._core.files import first_line


def remote_filesystem(path: str, storage_options: Mapping[str, Any]) -> tuple[Any, str]:
    """The filesystem of a URL, and the path there."""
    try:
        import fsspec
    except ImportError:
        raise ImportError(
            f"{path} is on a remote filesystem, which takes fsspec: pip install fsspec, and the "
            "driver of that filesystem (s3fs, gcsfs, adlfs, ...)."
        ) from None
    try:
        return fsspec.core.url_to_fs(path, **storage_options)  # type: ignore[no-any-return]
    except (ImportError, ValueError) as error:
        raise ValueError(f"{path} cannot be opened: {first_line(error)}") from None


def files_of(path: str, filesystem: Any, endings: tuple[str, ...]) -> tuple[str, ...]:
    """The file, or those of a directory in the natural order of their names.

    ``filesystem`` is one of fsspec; None: files of this machine.
    """
    if filesystem is None:
        if not os.path.isdir(path):
            return (os.path.abspath(path),)
        found = [os.path.abspath(os.path.join(path, name)) for name in os.listdir(path)]
    else:
        if not filesystem.isdir(path):
            return (path,)
        found = filesystem.ls(path, detail=False)
    files = [
        f for f in found if f.lower().endswith(endings) and not Path(f).name.startswith((".", "_"))
    ]
    return tuple(sorted(files, key=_natural))


def _natural(name: str) -> list[Any]:
    """part-10 comes after part-9."""
    return [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", name)]
