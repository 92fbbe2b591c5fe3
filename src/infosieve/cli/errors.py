"""What goes wrong: one line on standard error, and an exit status."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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

# Parameters whose values are written as on the command line.
_PARAMETER = re.compile(
    r"\b(alpha|correction|criterion|max_features|max_samples|min_features|missing"
    r"|n_features_to_select|scale|screen|search|stop)=('?)([\w.-]*\w)\2"
)
# What a model is given, in Python: those of the command have their columns prepared.
_AS_THEY_ARE = re.compile(r"A model is given columns of X as they are: .* or model=None\.")


class InputError(ValueError):
    """What the user gave cannot be used; the message is one line that says why."""


@contextmanager
def reported(debug: bool) -> Iterator[None]:
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
        fail(text, code, debug)


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
        return text if isinstance(error, InputError) else in_our_words(text), 2
    return f"unexpected {type(error).__name__}: {error}; --debug shows where it comes from", 1


def in_our_words(text: str) -> str:
    """What the library says, in the command's words: its options, and rows counted from 1."""
    text = re.sub(r"\bin row (\d+)\b", lambda row: f"in row {int(row[1]) + 1}", text)
    text = _PARAMETER.sub(lambda one: f"--{one[1].replace('_', '-')} {one[3]}", text)
    text = text.replace("series=True", "--series").replace("transform gives zero columns; ", "")
    text = text.replace("(discrete_features)", "(--categorical)")
    text = _AS_THEY_ARE.sub("Give another --model.", text)
    text = text.replace("Pass another 'model'.", "Give another --model.")
    text = text.replace("Use fewer folds (cv", "Use fewer folds (--cv")
    text = text.replace("MISelector() tests whether", "--stop auto tests whether")
    text = text.replace("another 'model' or 'scoring'", "another --model or --scoring")
    text = text.replace("folds (--cv), or another 'scoring'", "folds (--cv), or another --scoring")
    for name in ("groups", "missing", "series", "cv", "scoring"):
        text = text.replace(f"The '{name}' parameter", f"--{name}")
    if "X has missing values" in text:
        text += " --exclude leaves out a column."
    if "holds dates or times" in text:
        text += " --exclude leaves it out."
    if "discrete_target=True" in text:
        text += " Here, --categorical names such columns."
    return text


def fail(text: str, code: int, debug: bool = False) -> NoReturn:
    """One line on standard error, and the end."""
    if debug:
        import traceback

        traceback.print_exc()
    elif code == 130:  # what Ctrl-C broke off inside a compiler would complain
        sys.unraisablehook = lambda _: None
    from infosieve._core.files import printable

    print(f"infosieve: error: {printable(' '.join(text.split()))}", file=sys.stderr)
    sys.exit(code)


def show_warning(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
    """A warning as one line, in place of ``warnings.showwarning``."""
    from infosieve._core.files import printable

    text = in_our_words(printable(message))
    print(f"infosieve: warning: {text}", file=sys.stderr)
