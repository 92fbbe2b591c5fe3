"""Files that are whole or not there."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file so that a crash leaves the old file or the new one, never a part."""
    path = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _usual_mode())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _usual_mode() -> int:
    """What a file gets that is opened in the usual way."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
