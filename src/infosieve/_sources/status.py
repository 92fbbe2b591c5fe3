"""Whether a file is the one that was opened."""

import os


def status_of(path: str) -> tuple[int, int]:
    """What changes when a file is written: its size and its time."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def unchanged(path: str, status: tuple[int, int]) -> bool:
    """Whether the file is there, as it was."""
    try:
        return status_of(path) == status
    except OSError:
        return False


def refuse_changed(path: str, status: tuple[int, int]) -> None:
    """Read nothing from a file that is another by now."""
    if not unchanged(path, status):
        raise OSError(f"{path} has changed since the table was opened. Open it again.")
