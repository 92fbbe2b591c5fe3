"""What all commands share: reading their arguments, and what they do with what was asked."""

import inspect
import shlex
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand

from infosieve._core.command_line import units_of
from infosieve._core.dialect import CommandLine, speaking
from infosieve.cli.errors import InputError
from infosieve.cli.options import Asks, literal, option_name

# Options that are no more, and what takes their place.
_GONE = {"--drop-missing": "--missing drop"}
# Options that are places of files.
_PLACES = ("config", "checkpoint", "out", "html")


class Command(TyperCommand):
    """A command whose messages name its options, and that refuses one that is given twice."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options; they are looked up when they are needed, which --help of all is not."""
        asks = getattr(self.callback, "asks", None)
        if asks is not None and not self.params:
            app, signature = typer.Typer(add_completion=False), asks.signature()

            def function(**_: Any) -> None:
                """What Typer reads the options from."""

            function.__signature__ = signature  # type: ignore[attr-defined]
            function.__annotations__ = {
                name: one.annotation for name, one in signature.parameters.items()
            }
            app.command()(function)
            self.params = typer.main.get_command(app).params
        return super().get_params(ctx)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        from infosieve._core.settings import option_names

        with speaking(CommandLine(option_names())):
            asks = getattr(self.callback, "asks", None)
            if asks is None:
                return super().invoke(ctx)
            return inspect.unwrap(self.callback)(Asked.of(ctx, asks))  # type: ignore[arg-type]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; a list may be given item by item."""
        options = {some[0].partition("=")[0] for name, some in units_of(args) if name}
        for gone, instead in _GONE.items():
            if gone in options:
                raise InputError(f"{gone} is no more: give {instead}")
        self.get_params(ctx)
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


def command(asks: Asks) -> Callable[[Callable[["Asked"], None]], Callable[..., None]]:
    """A function of what was asked becomes a command that can be asked it."""

    def with_options(function: Callable[[Asked], None]) -> Callable[..., None]:
        def callback() -> None:
            """Its options are looked up later: see :class:`Command`."""

        callback.__name__, callback.__doc__ = function.__name__, function.__doc__
        callback.__wrapped__, callback.asks = function, asks  # type: ignore[attr-defined]
        callback.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
        return callback

    return with_options


@dataclass(frozen=True)
class Asked:
    """What a command was asked.

    Attributes
    ----------
    values : mapping
        The value of each option, by its name in Python.
    given : frozenset of str
        Those that were given, on the command line or in a file.
    asks : Asks
        What it can be asked.
    """

    values: Mapping[str, Any]
    given: frozenset[str]
    asks: Asks

    @classmethod
    def of(cls, context: typer.Context, asks: Asks) -> "Asked":
        """What the arguments say."""
        sources = {name: context.get_parameter_source(name) for name in context.params}
        given = {n for n, s in sources.items() if getattr(s, "name", "DEFAULT") != "DEFAULT"}
        several = {one.name for one in context.command.params if getattr(one, "multiple", False)}
        values = {
            name: (list(value) or None) if name in several and value is not None else value
            for name, value in context.params.items()
        }
        return cls(values, frozenset(given), asks)

    def __getitem__(self, option: str) -> Any:
        return self.values.get(option)

    @property
    def in_order(self) -> bool:
        """Whether rows are said to be in order of time."""
        return bool(self["series"]) or self["series_window"] is not None

    def check(self) -> None:
        """Refuse places of files, and a cluster's address, that cannot be meant."""
        from infosieve.cli.places import check
        from infosieve.cli.workers import check_dask

        places = {f"--{name}": self[name] for name in _PLACES if self[name] is not None}
        check({"FILE": self["file"], **places})
        check_dask(self["dask"])

    def read(self) -> Any:
        """The columns and the target, as :class:`infosieve.cli.data.Data`."""
        from infosieve.cli.data import read_data
        from infosieve.cli.tables import Reading

        names = [name for name in Reading.__dataclass_fields__ if name in self.values]
        how = {name: self[name] for name in names} | {"series": self.in_order}
        data = read_data(self["file"], self["target"], Reading(**how))
        from infosieve._engines.numba.jit import announcer

        announcer.silent = self["quiet"]
        return data

    def settings(self, name: str, data: Any) -> dict[str, Any]:
        """The parameters of a class of settings, as Python has them; but for who computes."""
        from infosieve._core import settings as module

        known = getattr(module, name).parameters()
        found = {
            "discrete_features": data.discrete_features,
            "discrete_target": data.discrete_target,
            "series": self["series"] if self["series_window"] is None else self["series_window"],
            "verbose": 0 if self["quiet"] else 1,
        }
        for one, (parameter, _) in self.asks.parameters().items():
            value = self[option_name(one, parameter)[2:].replace("-", "_")]
            found[one] = literal(value) if parameter.rule.kind == "words" else value
        return {one: found[one] for one in found if one in known and one != "executor"}

    def workers(self) -> AbstractContextManager[Any]:
        """Who computes."""
        from infosieve.cli.workers import workers

        return workers(self["dask"], self["jobs"])

    def finish(self, result: Any, table: Callable[[], Any] | None = None, **how: Any) -> None:
        """Print a result, and write what was asked for."""
        from infosieve.cli.places import finish

        finish(result, self["json"], self["html"], self["out"], table, **how)
