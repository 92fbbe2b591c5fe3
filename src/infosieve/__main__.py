"""``python -m infosieve`` is the command ``infosieve``."""

import atexit
import gc
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import NoReturn


def main() -> None:
    """Run the command; Ctrl-C while it is being imported is no traceback either.

    What is imported is no garbage: Python looks for that only when work begins, see
    :func:`infosieve.cli.workers.collect_again`. That is a fifth of the start.
    """
    gc.disable()
    try:
        from infosieve.cli import main as run

        run()
    except KeyboardInterrupt:
        print("infosieve: error: interrupted", file=sys.stderr)
        _leave(130)
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        _leave(ended.code or 0)


def _leave(status: int) -> NoReturn:
    """End as Python does, but for the destructors of libraries.

    Now and then one of theirs meets a thread that still runs, and aborts a process whose work is
    done: "terminate called without an active exception", in place of the exit status.
    """
    _flush()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C from now on: no traceback
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    _flush()
    os._exit(status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()


if __name__ == "__main__":
    main()
