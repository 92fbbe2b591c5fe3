"""Files that are whole or not there, and files that one process has to itself."""

import errno
import os
import platform
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    _BUSY: type[OSError] = PermissionError
else:
    import fcntl

    _BUSY: type[OSError] = BlockingIOError

# What is being written has such a name, of one length: a target's own name may be as long as
# names can be. What a killed process left is removed by whoever writes there next, once it is as
# old as this, in seconds: nobody takes so long from one byte to the next.
_FRESH = re.compile(r"\.infosieve-[0-9a-f]{16}\.new")
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
        with suppress(OSError):
            fresh.unlink()
        reason = error.strerror or first_line(error)
        raise OSError(error.errno or errno.EIO, reason, os.fspath(path)) from error
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise


@lru_cache(maxsize=64)
def _sweep(folder: Path) -> None:
    """Remove what killed processes left in a folder, once for each process."""
    with suppress(OSError), os.scandir(folder) as entries:
        left = [e for e in entries if _FRESH.fullmatch(e.name)]
        # By the clock of the file system: what is written now is among them.
        times = {e.path: e.stat(follow_symlinks=False).st_mtime for e in left}
        oldest = max(times.values(), default=0.0) - _STALE
        for name, written in times.items():
            if written < oldest:
                with suppress(OSError):
                    os.unlink(name)


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
    target = Path(os.path.realpath(path))
    place = target.with_name(f".infosieve-{target.name}.lock")
    lock = _lock(place)
    try:
        yield
    finally:
        if lock is not None:
            if sys.platform == "win32":  # which does not remove what is open
                os.close(lock)
            with suppress(OSError):
                place.unlink()
            if sys.platform != "win32":  # not before: somebody else may have it then
                os.close(lock)


def _lock(place: Path) -> int | None:
    """The descriptor that holds the lock; None where there are no locks."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    while True:
        try:
            file = os.open(place, flags, 0o666)
        except OSError:  # whoever needs to write there says so
            return None
        try:
            if not _claimed(file):
                owner = os.read(file, 1000).decode(errors="replace").split()
                os.close(file)
                raise InUseError(_who(owner))
            if _is_at(file, place):
                os.ftruncate(file, 0)
                os.write(file, f"{os.getpid()} {platform.node()}".encode())
                return file
        except InUseError:
            raise
        except OSError:  # a network file system, say
            os.close(file)
            with suppress(OSError):
                place.unlink()
            return None
        os.close(file)  # its owner has just removed it: once more


def _claimed(file: int) -> bool:
    """Lock an open file, unless it is locked; the lock ends with the process, whatever ends it."""
    try:
        if sys.platform == "win32":
            os.lseek(file, 1 << 20, os.SEEK_SET)  # a byte that nobody reads
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except _BUSY:
        return False
    finally:
        os.lseek(file, 0, os.SEEK_SET)
    return True


def _is_at(file: int, place: Path) -> bool:
    """Whether an open file still is the one of that name."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(place))
    except FileNotFoundError:
        return False


def _who(owner: list[str]) -> str:
    """Who has a lock, by what is written in it."""
    if len(owner) != 2 or not owner[0].isdigit():
        return "another process"
    number, host = owner
    if host != platform.node():
        return f"process {number} on {host}"
    return "this process" if int(number) == os.getpid() else f"process {number}"


def printable(text: object) -> str:
    """A text without control characters, on one line: names come from files."""
    return "".join(c if c.isprintable() else "�" for c in str(text))


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
