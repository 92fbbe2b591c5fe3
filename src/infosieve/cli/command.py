"""What all commands share: reading their arguments, and what they do with what was asked."""

import inspect
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise
from typing import Any

import typer
from typer.core import TyperCommand

from infosieve._core.dialect import CommandLine, speaking
from infosieve.cli.errors import InputError
from infosieve.cli.options import Asks, literal, option_name

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
        options = self.get_params(ctx)
        flags = {name for one in options if getattr(one, "is_flag", False) for name in one.opts}
        units = list(_units(args, flags))
        self._refuse_names({name for name, _ in units}, {n for one in options for n in one.opts})
        # What the parser has met, in order: an option as often as it was given.
        _, rest, met = self.make_parser(ctx).parse_args(args=list(args))
        several = {n for o in options if getattr(o, "multiple", False) for n in o.opts}
        for (name, _), (_, (second, *_)) in pairwise(units):
            if name in several and second in rest:  # --features a b
                raise InputError(
                    f"unexpected extra argument(s) ({' '.join(rest)}); {name} is given once for "
                    f"each column: {name} {shlex.quote(second)}"
                )
        for one in met:
            multiple = getattr(one, "multiple", False)
            if one.param_type_name == "option" and not multiple and met.count(one) > 1:
                raise InputError(f"{one.opts[0]} is given twice: give it once")
        ctx.meta["units"] = [unit for unit in units if unit[0] != "--debug"]
        return super().parse_args(ctx, args)

    def _refuse_names(self, options: set[str], known: set[str]) -> None:
        """Say which option is meant by a parameter: --random-state."""
        from infosieve._core.settings import option_names

        for name in sorted(options - known - {""}):
            meant = CommandLine(option_names()).mention(name[2:].replace("-", "_"))
            if meant in known:
                raise InputError(f"{name} is no option; do you mean {meant}?")


def _units(words: Iterable[str], flags: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each option's name, and its words, whatever its value looks like: a column may be --seed.

    What is no option has an empty name. What follows ``--`` is no option; it is one unit, the last.
    """
    rest = iter(words)
    for word in rest:
        name, value, _ = word.partition("=")
        if word == "--":
            yield "", (word, *rest)
        elif not word.startswith("--"):
            yield "", (word,)
        else:
            yield name, (word,) if value or name in flags else (word, *islice(rest, 1))


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
    words : tuple of tuples
        What was typed, option by option; the first is the command.
    """

    values: Mapping[str, Any]
    given: frozenset[str]
    asks: Asks
    words: tuple[tuple[str, ...], ...]

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
        words = ((str(context.info_name),), *(some for _, some in context.meta["units"]))
        return cls(values, frozenset(given), asks, words)

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
            "discrete_features": data.declared or "auto",
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

    def signed(self, result: Any) -> Any:
        """The result, with the command that gives it again, and its options."""
        known, words = result.provenance, list(self.words)
        if "seed" not in self.given:
            at = len(words) - (words[-1][0] == "--")  # what follows is no option
            words[at:at] = [("--seed", str(known.seed))]
        given = [name for name in self.values if name in self.given and name != "config"]
        known = replace(
            known,
            command=shlex.join(["infosieve", *(word for some in words for word in some)]),
            options={name: self[name] for name in given} | {"seed": known.seed},
        )
        return replace(result, provenance=known)

    def show(self, result: Any) -> None:
        """Print a result."""
        from infosieve.cli.places import show_result

        show_result(self.signed(result), self["json"])

    def finish(
        self,
        result: Any,
        table: Callable[[], Any] | None = None,
        beside: Mapping[str, Any] | None = None,
        shown: bool = False,
    ) -> None:
        """Print a result, then write its ``table`` and its report; what fails prevents nothing.

        ``beside`` has results that are told after it, and are sections of its report. ``shown``:
        the result was printed before.
        """
        from infosieve.cli.places import all_of, write_page, write_table

        result = self.signed(result)
        beside = {name: self.signed(other) for name, other in (beside or {}).items()}
        told = [*([] if shown else [result]), *([] if self["json"] else beside.values())]
        tasks: list[Callable[[], None]] = [partial(self.show, one) for one in told]
        if self["out"] is not None and table is not None:
            tasks.append(lambda: write_table(table(), self["out"]))
        if self["html"] is not None:
            tasks.append(lambda: write_page(result, self["html"], **beside))
        all_of(tasks)
