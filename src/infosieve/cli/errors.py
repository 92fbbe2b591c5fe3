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

# Parameters that messages of the library name, and options. Others are called as their parameters.
RENAMED = {
    "discrete_features": "--categorical",
    "discrete_target": "--categorical",
    "executor": "--dask",
    "n_jobs": "--jobs",
    "random_state": "--seed",
}
_SAME: tuple[str, ...] = ("alpha", "checkpoint", "connectivity", "correction", "correlation")
_SAME += ("criterion", "cv", "device", "groups", "linkage", "lookahead", "max_features")
_SAME += ("max_samples", "method", "metric", "min_features", "missing", "model", "n_clusters")
_SAME += ("n_features_to_select", "n_neighbors", "n_permutations", "n_resamples", "null")
_SAME += ("removal", "representative", "resample", "scale", "scoring", "screen", "search")
_SAME += ("series", "similarity", "similarity_threshold", "stop", "test")
_OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _SAME} | RENAMED
_ANY = "|".join(_OPTIONS)
_LIST = "(?:cv|{0})(?:, (?:{0}))*".format("|".join(name for name in _OPTIONS if "_" in name))
# A column may have the name of a parameter: only where these stand like this are they meant.
_PARAMETER = re.compile(rf"(?:[Tt]he )?'({_ANY})' parameter\b")
_VALUE = re.compile(rf"\b({_ANY})=('?)([\w.-]*\w)\2")
_NAMED = [
    re.compile(pattern)
    for pattern in (
        rf"(?<=\(){_LIST}(?=\))",  # Ask for fewer (min_features, n_features_to_select).
        rf"(?<=[Ll]eave )'({_ANY})'(?= out)",
        rf"(?<=another )'({_ANY})'",
        rf"(?<=pass a )'({_ANY})'",
        rf"(?<=--model or )'({_ANY})'",
        rf"(?<=but )'({_ANY})'(?= has \d+ connected)",
        rf"(?<=time, )'({_ANY})'(?= for rows)",
        rf"(?<=with a )'({_ANY})'",
        rf"(?<=not exceed )'({_ANY})'",
        rf"(?<=Exactly one of )'({_ANY})' and '({_ANY})'",
        rf"(?<=the number; )'({_ANY})' and '({_ANY})'(?= bound)",
        rf"(?<=, )({_ANY})(?= with this criterion)|(?<= or )({_ANY})(?= with this criterion)",
        rf"\A({_ANY})(?=, an end after)",
    )
]
# What stands in quotes is a name or a value of the user's, and stays as it is.
_QUOTED = re.compile(r"""(?<![\w=])(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_OURS = {f"'{name}'" for name in (*_OPTIONS, "estimator")} | {"'mean'"}
# What a model is given, in Python: those of the command have their columns prepared.
_AS_THEY_ARE = re.compile(r"A model is given columns of X as they are: .* or model=None\.")
# What is said otherwise on a command line: what it takes, and what takes its place.
_SENTENCES = [
    (re.compile(pattern), words)
    for pattern, words in (
        (r"transform gives zero columns; ", ""),
        (r"MISelector\(\) tests whether", "--stop auto tests whether"),
        (
            r"pass discrete_target=True; if [a-z ]+, discrete_target=False says so",
            "--categorical with its name says so",
        ),
        (r" where that is a parameter", ""),
        (r"or less, or True", "or less to --series-window"),
        (r"Pass a classifier as 'estimator', or a number", "Give --n-clusters, a number"),
        (r"if it is categories, declare it discrete", "if it is categories, --categorical says so"),
        (r"are classes, pass a pandas categorical", "are classes, --categorical says so"),
        (r"; pandas\.to_numeric makes numbers of the rest", " in the file"),
        (r"; if it was declared continuous, declare it discrete", ""),
        (r"leave the column out of X and pass it as groups", "give it as --groups"),
        (r"shuffle the rows of X, y and groups \(together\)", "shuffle the rows of the file"),
        (
            r"as a category: pass discrete_features=\[.*\], or booleans",
            "as a category: --categorical with its name says so",
        ),
        (
            r"the target first: y - y\.groupby\(season\)\.transform\('mean'\)",
            "the target in the file first",
        ),
        (r"Pass one for each row of X", "Each row needs one"),
        (r"\bPass another 'model'", "Give another --model"),
        (r"must be None, an int of at least 0, a NumPy RandomState or a NumPy Generator",
         "must be a whole number of at least 0"),
    )
]  # fmt: skip


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
    quoted: list[str] = []

    def put_aside(found: "re.Match[str]") -> str:
        if found[0] in _OURS:
            return found[0]
        quoted.append(found[0])
        return f"\0{len(quoted) - 1}\0"

    text = _translated(_QUOTED.sub(put_aside, text))
    return re.sub(r"\0(\d+)\0", lambda found: quoted[int(found[1])], text)


def _translated(text: str) -> str:
    """The same of a text without names of the user's."""
    text = re.sub(r"\bin row (\d+)\b", lambda row: f"in row {int(row[1]) + 1}", text)
    text = _AS_THEY_ARE.sub("Give another --model.", text)
    for pattern, words in _SENTENCES:
        text = pattern.sub(words, text)
    text = _VALUE.sub(_value, text)
    text = _PARAMETER.sub(lambda one: _OPTIONS[one[1]], text)
    for pattern in _NAMED:
        text = pattern.sub(_names, text)
    if "X has missing values" in text:
        text += " --exclude leaves out a column."
    if "holds dates or times" in text:
        text += " --exclude leaves it out."
    if re.search(r"\b[Ll]eave (it|the column) out", text) and "--" not in text:
        text += " --exclude leaves out a column."
    return text


def _names(found: "re.Match[str]") -> str:
    """Names of parameters, in quotes or not, as options."""
    return re.sub(rf"'?\b({_ANY})\b'?", lambda one: _OPTIONS[one[1]], found[0])


def _value(found: "re.Match[str]") -> str:
    """An option and its value; those of a flag are said by giving it, or not."""
    name, value = found[1], found[3]
    if value in ("True", "False"):
        return _OPTIONS[name] if value == "True" else f"no {_OPTIONS[name]}"
    return f"{_OPTIONS[name]} {'none' if value == 'None' else value}"


def told(text: str) -> str:
    """A line of progress: most are about columns, whose names stay as they are."""
    if text.startswith("correction=None: "):
        return in_our_words(text)
    line, found, setting = text.partition("; shorter: ")
    return f"{line}{found}{in_our_words(setting)}"


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


# Numbers, but for those in quotes, which are of names.
_NUMBERS = re.compile(r"('[^']*'|\"[^\"]*\")|(?<![\w.])\d[\d,.]*(?!\w)")
# Warnings of this run, without their numbers.
_warned: set[str] = set()


def warn_anew() -> None:
    """Forget which warnings were shown: a run begins."""
    _warned.clear()


def show_warning(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
    """A warning as one line, in place of ``warnings.showwarning``.

    A run has several parts, each with samples of its own: what differs in numbers only is said
    once.
    """
    from infosieve._core.files import printable

    text = in_our_words(printable(message))
    without_numbers = _NUMBERS.sub(lambda found: found[1] or "#", text)
    without_numbers = without_numbers.removeprefix("# of # halves: ")
    if without_numbers in _warned:
        return
    _warned.add(without_numbers)
    print(f"infosieve: warning: {text}", file=sys.stderr)
