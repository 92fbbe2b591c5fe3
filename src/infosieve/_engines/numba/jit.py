"""How every kernel of this package is compiled: cached, without the GIL, said out loud."""

import hashlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])
# A call that compiles so many seconds after another is told of anew.
_APART = 60.0


def _fingerprint() -> str:
    """A hash of the sources of all kernels."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


SOURCES = _fingerprint()


def inner_kernel(function: F) -> F:
    """Compile the part of a kernel that is called over and over: it must not make arrays.

    It may look at parts of those it is given; nobody counts references to them, which would
    cost more than a short loop.
    """
    return kernel(function, _nrt=False)


def kernel(function: F, **options: Any) -> F:
    """Compile ``function`` at its first call, release the GIL, keep the machine code on disk.

    No ``fastmath`` and no ``parallel=True``: results must be the same bits everywhere, and
    threads come from our executors. Where no folder can hold the cache (a read-only
    installation without a home directory), the kernel is compiled once per process.
    """
    try:
        dispatcher = numba.njit(nogil=True, cache=True, error_model="numpy", **options)(function)
    except RuntimeError:
        dispatcher = numba.njit(nogil=True, error_model="numpy", **options)(function)
    _tie_to_sources(dispatcher)
    return dispatcher  # type: ignore[no-any-return]


def _tie_to_sources(dispatcher: Any) -> None:
    """Make the cache see a change in any kernel file.

    Numba looks at the file that defines a function, not at what it inlines from others:
    after an upgrade, machine code of an old version could meet data laid out by a new one.
    """
    cache: Any = getattr(dispatcher, "_cache", None)
    key = getattr(cache, "_index_key", None)
    if key is not None:
        cache._index_key = lambda *args: (*key(*args), SOURCES)


class _Announcer(event.Listener):
    """Tell the user that a call is slow because it compiles: one line for all of its kernels."""

    silent = False

    def __init__(self) -> None:
        self._depth = 0  # kernels compile those they call; one thread compiles at a time
        self._last = -_APART  # when something was compiled

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        ours = function.__module__.startswith("infosieve.")
        apart = time.monotonic() - self._last > _APART
        if ours and apart and self._depth == 0 and not self.silent:
            print(
                "infosieve: compiling for this machine, once for each kind of call "
                "(the first takes about a minute, or more if the machine is busy) ...",
                file=sys.stderr,
                flush=True,
            )
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        self._last = time.monotonic()


announcer = _Announcer()
event.register("numba:compile", announcer)
