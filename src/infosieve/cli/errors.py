"""What goes wrong: one line on standard error, and an exit status."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

import typer

from infosieve._core.errors import MissingRequirementError

STATUS = (
    "Exit status: 0 done; 1 a cluster that is gone, or an error that nobody expected; 2 bad input, "
    "or what is asked for cannot be done here (a file cannot be written, a library or a GPU is "
    "missing); 130 interrupted; 141 nobody reads the output."
)

# What the library raises of bad input, and of what cannot be done here: status 2.
_DOCUMENTED = (ValueError, TypeError, OSError, MemoryError, ImportError, MissingRequirementError)


class InputError(ValueError):
    """What the user gave cannot be used; the message is one line that says why."""


@contextmanager
def reported() -> Iterator[None]:
    """Whatever is raised becomes a line, and an exit status of :data:`STATUS`."""
    try:
        yield
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except SystemExit as stop:  # typer makes a 1 of a reader that has gone away
        sys.exit(141 if isinstance(stop.__context__, BrokenPipeError) else stop.code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except (Exception, KeyboardInterrupt) as error:
        text, code = _verdict(error)
        fail(text, code)


def _verdict(error: BaseException) -> tuple[str, int]:
    """The line for an error, and the exit status."""
    text = str(error) or type(error).__name__
    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return str(error) or "interrupted", 130
    if isinstance(error, typer.TyperException):
        return error.format_message(), 2
    if isinstance(error, ConnectionError):
        return text, 1
    if isinstance(error, _DOCUMENTED):
        return text, 2
    return f"unexpected {type(error).__name__}: {error}; --debug shows where it comes from", 1


def fail(text: str, code: int) -> NoReturn:
    """One line on standard error, and the end."""
    if _run.debug:
        import traceback

        traceback.print_exc()
    elif code == 130:  # what Ctrl-C broke off inside a compiler would complain
        sys.unraisablehook = lambda _: None
    from infosieve._core.files import printable

    print(f"infosieve: error: {printable(' '.join(text.split()))}", file=sys.stderr)
    sys.exit(code)


@dataclass
class _Run:
    """What is known of this run."""

    debug: bool = False
    warned: set[str] = field(default_factory=set)  # the subjects of warnings


_run = _Run()


def begin_anew() -> None:
    """Forget which warnings were shown: a run begins."""
    _run.debug, _run.warned = False, set()


def show_traceback(wanted: bool) -> None:
    """Show where an error comes from, if that is wanted."""
    _run.debug |= wanted


def show_warning(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
    """A warning as one line, in place of ``warnings.showwarning``.

    A run has several parts, each with samples of its own: a subject is warned of once.
    """
    from infosieve._core.files import printable
    from infosieve._core.messages import subject_of

    subject = subject_of(message, category, filename, lineno)
    if subject in _run.warned:
        return
    _run.warned.add(subject)
    print(f"infosieve: warning: {printable(message)}", file=sys.stderr)
