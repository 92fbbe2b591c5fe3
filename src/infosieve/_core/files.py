"""Files that are whole or not there, and files that one process has to itself."""

import errno
import os
import platform
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

# What a killed process left is removed by whoever writes there next, once it is as old as this, in
# seconds: nobody takes so long from one byte to the next.
_STALE = 3600.0


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place to write to, which becomes ``path`` once all is written.

    A crash leaves the old file or the new one, never a part; nor do two that write at once. An
    error names ``path``.
    """
    target = Path(os.path.realpath(path))
    kind = special(target)
    if kind is not None:
        raise OSError(f"{os.fspath(path)} is {kind}, which would be replaced: name a file")
    # Of one length: the target's own name may be as long as names can be.
    fresh = target.with_name(f".infosieve-{os.urandom(8).hex()}.new")
    try:
        yield fresh
        with open(fresh, "rb") as file:
            os.fsync(file.fileno())
        _sweep(target.parent)
        with suppress(OSError):  # who may read an older file may read this one
            shutil.copymode(target, fresh)
        os.replace(fresh, target)
    except OSError as error:
        reason = error.strerror or first_line(error)
        raise OSError(error.errno or errno.EIO, reason, os.fspath(path)) from error
    finally:
        with suppress(OSError):
            fresh.unlink()


@lru_cache(maxsize=64)
def _sweep(folder: Path) -> None:
    """Remove what killed processes left in a folder, once for each process."""
    with suppress(OSError):  # another process may be doing the same
        written = {p: p.lstat().st_mtime for p in folder.glob(f".infosieve-{'?' * 16}.new")}
        # By the clock of the file system: what is written now is among them.
        for left in [p for p, when in written.items() if when < max(written.values()) - _STALE]:
            left.unlink()


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, whole or not at all."""
    with atomic(path) as fresh:
        fresh.write_text(text, encoding="utf-8")


def special(path: str | os.PathLike[str]) -> str | None:
    """What is there, in words, if it is no regular file; None for one, and where nothing is."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return None
    if stat.S_ISREG(mode):
        return None
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


class InUseError(OSError):
    """Another process, or another thread, has a file to itself."""


@contextmanager
def held(path: str | os.PathLike[str]) -> Iterator[None]:
    """A file to itself, for as long as the context lasts or the process lives.

    The lock is one of the operating system, on a file beside it, so what a killed process left
    holds nobody up. Where there are no locks, nobody is held up either.
    """
    from filelock import FileLock, Timeout  # few runs have a checkpoint

    target = Path(os.path.realpath(path))
    place = target.with_name(f".infosieve-{target.name}.lock")
    lock = FileLock(place, timeout=0)
    try:
        if target.parent.is_dir():  # or the lock would make it
            lock.acquire()
            with suppress(OSError):  # Windows lets nobody write what is locked
                place.write_text(f"{os.getpid()} {platform.node()}")
    except Timeout:
        raise InUseError(_owner(place)) from None
    except OSError:  # a network file system, say; whoever cannot write there says so
        with suppress(OSError):
            if not place.stat().st_size:
                place.unlink()
    try:
        yield
    finally:
        if lock.is_locked:
            with suppress(OSError):  # before it is released: then it may be another's
                place.unlink()
        lock.release()


def _owner(place: Path) -> str:
    """Who has a lock, by what is written in it."""
    try:
        number, host = place.read_text().split()
    except (OSError, ValueError):
        return "another process"
    if host != platform.node():
        return f"process {number} on {host}"
    return "this process" if number == str(os.getpid()) else f"process {number}"


def printable(text: object) -> str:
    """A text without control characters, on one line: names come from files."""
    return "".join(c if c.isprintable() else "�" for c in str(text))


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
