"""The command line that gives a result again."""

import shlex
import sys
from collections.abc import Sequence

from infosieve._core.command_line import units_of, with_options

# What the command was given; that of the process, unless a caller passed something else.
_given: list[str] | None = None


def remember(arguments: Sequence[str]) -> None:
    """Keep what the command was given."""
    global _given
    _given = list(arguments)


def command(seed: int) -> str:
    """What was given, with the seed that was drawn where none was asked for."""
    arguments = sys.argv[1:] if _given is None else list(_given)
    if "seed" not in (name for name, _ in units_of(arguments)):
        arguments = with_options(arguments, "--seed", str(seed))
    return shlex.join(["infosieve", *arguments])
