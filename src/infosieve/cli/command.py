"""What all commands share in reading their arguments."""

import shlex
from itertools import pairwise
from typing import Any

from typer.core import TyperCommand

from infosieve._core.command_line import units_of
from infosieve._core.dialect import CommandLine, speaking
from infosieve.cli.errors import InputError

# Options that are no more, and what takes their place.
_GONE = {"--drop-missing": "--missing drop"}


class Command(TyperCommand):
    """A command whose messages name its options, and that refuses one that is given twice."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        from infosieve._core.settings import option_names  # NumPy, which --help does without

        with speaking(CommandLine(option_names())):
            return super().invoke(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; a list may be given item by item."""
        options = {some[0].partition("=")[0] for name, some in units_of(args) if name}
        for gone, instead in _GONE.items():
            if gone in options:
                raise InputError(f"{gone} is no more: give {instead}")
        self._refuse_names_of_python(options)
        # What the parser has met, in order: an option as often as it was given.
        _, rest, met = self.make_parser(ctx).parse_args(args=list(args))
        self._refuse_columns_without_option(args, rest)
        for option in met:
            one = option.param_type_name == "option" and not getattr(option, "multiple", False)
            if one and met.count(option) > 1:
                raise InputError(f"{option.opts[0]} is given twice: give it once")
        return super().parse_args(ctx, args)

    def _refuse_columns_without_option(self, args: list[str], rest: list[str]) -> None:
        """Say that each column needs its option, where one follows another: --features a b."""
        several = {n for o in self.params if getattr(o, "multiple", False) for n in o.opts}
        for (_, one), (_, (second, *_)) in pairwise(units_of(args)):
            option = one[0].partition("=")[0]
            if option in several and second in rest:
                raise InputError(
                    f"unexpected extra argument(s) ({' '.join(rest)}); {option} is given once for "
                    f"each column: {option} {shlex.quote(second)}"
                )

    def _refuse_names_of_python(self, options: set[str]) -> None:
        """Say which option is meant by the name of a parameter: --random-state, --max_features."""
        from infosieve._core.settings import option_names

        known = {name for option in self.params for name in option.opts}
        for name in sorted(options - known):
            meant = CommandLine(option_names()).mention(name[2:].replace("-", "_"))
            if meant in known:
                raise InputError(f"{name} is no option; do you mean {meant}?")
