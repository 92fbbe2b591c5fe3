"""What all commands share in reading their arguments."""

from typing import Any

from typer.core import TyperCommand

from infosieve.cli.errors import InputError

# Options that are no more, and what takes their place.
_GONE = {"--drop-missing": "--missing drop"}


class Command(TyperCommand):
    """A command that refuses an option given twice, of which one value would be lost."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; a list may be given item by item."""
        for gone, instead in _GONE.items():
            if gone in args:
                raise InputError(f"{gone} is no more: give {instead}")
        # What the parser has met, in order: an option as often as it was given.
        _, _, met = self.make_parser(ctx).parse_args(args=list(args))
        for option in met:
            one = option.param_type_name == "option" and not getattr(option, "multiple", False)
            if one and met.count(option) > 1:
                raise InputError(f"{option.opts[0]} is given twice: give it once")
        return super().parse_args(ctx, args)
