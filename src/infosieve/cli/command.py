"""What all commands share: reading their arguments, and what they do with what was asked."""

import inspect
import shlex
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.core import TyperCommand

from infosieve._core.dialect import Dialect, speaking
from infosieve.cli.errors import InputError, fail
from infosieve.cli.options import Asks, literal, option_name

if TYPE_CHECKING:
    from infosieve.results import Provenance
    from infosieve.results._base import Document

    Kept = TypeVar("Kept", bound=Document)
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
        from infosieve._core.settings import OPTION_NAMES

        with speaking(Dialect(OPTION_NAMES)):
            asks = getattr(self.callback, "asks", None)
            if asks is None:
                return super().invoke(ctx)
            try:
                return inspect.unwrap(self.callback)(Asked.of(ctx, asks))  # type: ignore[arg-type]
            except KeyboardInterrupt as error:
                fail(str(error) or "interrupted", 130)  # typer would swallow what it says

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, and keep the options as they were typed: a column may be --seed."""
        try:
            values, rest, met = self.make_parser(ctx).parse_args(args=list(args))
        except typer.TyperException as error:
            self._refuse_name(getattr(error, "option_name", ""))
            raise
        several = {
            name for one in self.params if getattr(one, "multiple", False) for name in one.opts
        }
        for second in rest:  # --features a b
            i = args.index(second)
            name = next((one for one in several if one in args[i - 2 : i]), None)
            if name is not None:
                raise InputError(
                    f"unexpected extra argument(s) ({' '.join(rest)}); {name} is given once for "
                    f"each column: {name} {shlex.quote(second)}"
                )
        words: list[str] = []
        options: list[Any] = [one for one in met if one.param_type_name == "option"]
        typed = [one for one in options if one.name != "debug"]
        each = {one.name: iter(values[one.name]) for one in typed if one.opts[0] in several}
        for one in typed:
            if one.name not in each and typed.count(one) > 1:
                raise InputError(f"{one.opts[0]} is given twice: give it once")
            value = next(each[one.name]) if one.name in each else values[one.name]
            words += [one.opts[0]] if one.is_flag else [one.opts[0], value]
        ctx.meta["words"] = words
        return super().parse_args(ctx, args)

    def _refuse_name(self, name: str) -> None:
        """Say which option is meant by a parameter: --random-state."""
        from infosieve._core.settings import OPTION_NAMES

        meant = Dialect(OPTION_NAMES).mention(name[2:].replace("-", "_"))
        if name and any(meant in one.opts for one in self.params):
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
    """What a command was asked."""

    values: Mapping[str, Any]  # of each option, by its name in Python
    given: frozenset[str]  # options that were given, on the command line or in a file
    asks: Asks  # what it can be asked
    words: list[str]  # the command, and the options that were typed

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
        words = [str(context.info_name), *context.meta["words"]]
        return cls(values, frozenset(given), asks, words)

    def __getitem__(self, option: str) -> Any:
        return self.values.get(option)

    @property
    def in_order(self) -> bool:
        """Whether rows are said to be in order of time."""
        return bool(self["series"]) or self["series_window"] is not None

    def _check(self) -> None:
        """Refuse places of files, and a cluster's address, that cannot be meant."""
        from infosieve.cli.places import check

        places = {f"--{name}": self[name] for name in _PLACES if self[name] is not None}
        check({"FILE": self["file"], **places})
        if self["dask"] not in (None, "local"):
            from infosieve._executors import check_address

            check_address(self["dask"], "--dask, unless it is local,")

    def read(self) -> Any:
        """The columns and the target, as :class:`infosieve.cli.data.Data`."""
        self._check()
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

    def signed(self, result: "Kept") -> "Kept":
        """The result, with the command that gives it again, and its options."""
        known: Provenance = result.provenance  # type: ignore[attr-defined]
        (command, *words), file = self.words, self["file"]
        if "seed" not in self.given:
            words += ["--seed", str(known.seed)]
        words = [*words, "--", file] if file[0] == "-" and file != "-" else [file, *words]
        given = [name for name in self.values if name in self.given and name != "config"]
        known = replace(
            known,
            command=shlex.join(["infosieve", command, *words]),
            options={name: self[name] for name in given} | {"seed": known.seed},
        )
        return replace(result, provenance=known)  # type: ignore[type-var]

    def show(self, result: "Document") -> None:
        """Print a result."""
        from infosieve.cli.places import show_result

        show_result(self.signed(result), self["json"])

    def finish(
        self,
        result: "Document",
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
