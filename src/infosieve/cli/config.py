"""Options from a TOML file: its keys are the options' names."""

import difflib
import tomllib
from collections.abc import Iterable
from typing import Any

import typer

from infosieve.cli.errors import InputError


def meant(
    name: str, known: Iterable[str], most: int = 1, alike: float = 0.6, say: Any = str
) -> str:
    """The end of a message about a name that nothing has: the nearest ones, whatever the case."""
    lower = {one.lower(): one for one in known}
    near = [say(lower[one]) for one in difflib.get_close_matches(name.lower(), lower, most, alike)]
    return f"; do you mean {' or '.join(near)}?" if near else ""


def configure(context: typer.Context, path: str | None) -> str | None:
    """Take the defaults of a command's options from a TOML file."""
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise InputError(f"--config {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"--config {path} is no TOML: {error}") from None
    known = {p.name: p for p in context.command.params if p.name and not p.is_eager}
    defaults = {}
    for key, value in content.items():
        name = key.replace("-", "_")
        if name not in known:
            what = f"{key!r}, which is no option of this command{meant(name, known)}"
            raise InputError(f"--config {path} has {what}")
        flag, multiple = (getattr(known[name], kind, False) for kind in ("is_flag", "multiple"))
        if isinstance(value, dict) or flag != isinstance(value, bool):
            kind = "true or false" if flag else "a text, a number or a list"
            raise InputError(f"--config {path}: {key!r} must be {kind}; got {value!r}")
        # As the command line would have it.
        if isinstance(value, list) and not multiple:
            value = ",".join(map(str, value))
        defaults[name] = [value] if multiple and isinstance(value, str) else value
    context.default_map = {**(context.default_map or {}), **defaults}
    return path
