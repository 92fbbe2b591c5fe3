"""``infosieve select``: which columns matter."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from infosieve._core.files import first_line, printable
from infosieve.cli.command import Asked, command
from infosieve.cli.errors import InputError
from infosieve.cli.options import Asks, option

if TYPE_CHECKING:
    from infosieve.cli.data import Data
    from infosieve.results import SelectionResult

_FULL = (
    "also ask --alternatives, what infosieve relevance-test and stability ask, and which columns "
    "are redundant, on one page with --html; takes longer: a hundred more selections, on halves of "
    "the samples"
)
_MORE = {
    "alternatives": option(
        bool, "also which columns could stand in for these", False, "--alternatives"
    ),
    "full": option(bool, _FULL, False, "--full"),
}


@command(Asks(("SelectorSettings",), out="the selected columns and the target", more=_MORE))
def select(asked: Asked) -> None:
    """Select the columns that are informative about the target, and no redundant ones."""
    from infosieve.cli.models import check_options, model_of

    full, alternatives = asked["full"], asked["alternatives"] or asked["full"]
    check_options(asked.given, asked["stop"], asked["test"] or alternatives)
    if full and asked["json"] and asked["html"] is None:
        raise InputError(
            "--full --json would lose what relevance and stability answer: one document has the "
            "selection only; add --html page.html, or leave --full out and give the commands "
            "infosieve relevance-test and infosieve stability with --json"
        )
    data = asked.read()
    from infosieve.examination import examine
    from infosieve.selection import MISelector

    how = asked.settings("SelectorSettings", data)
    selector = MISelector(**how | {"model": model_of(asked["model"], data.declared)})
    unfinished: BaseException | None = None
    beside: dict[str, Any] = {}

    def tell(name: str, found: Any) -> None:
        beside[name] = found
        if name == "selection" and not asked["json"]:  # what comes now may take much longer
            asked.show(_with_units(found, data))

    try:
        with asked.workers() as selector.executor:
            if full:
                examine(data.X, data.y, selector, groups=data.groups, tell=tell)
            else:
                selector.fit(data.X, data.y, data.groups)
                if alternatives:  # which its result then has
                    selector.alternatives(data.X, data.y, data.groups)
    except (KeyboardInterrupt, Exception) as error:
        unfinished = error  # told when what is finished has been printed and written
    result = getattr(selector, "result_", None)
    if result is not None and (result.steps or unfinished is None):
        result = _with_units(result, data)
        shown = beside.pop("selection", None) is not None and not asked["json"]
        chosen = [data.X.columns[j] for j in result.selected]
        try:
            asked.finish(
                result, lambda: data.beside_target(data.X[chosen]), beside=beside, shown=shown
            )
        except Exception as error:  # what broke off the work matters more
            if unfinished is None:
                raise
            if not isinstance(error, BrokenPipeError):
                print(f"infosieve: error: {printable(first_line(error))}", file=sys.stderr)
    if unfinished is not None:
        raise unfinished


def _with_units(result: "SelectionResult", data: "Data") -> "SelectionResult":
    """The result, which knows what numbers count that stand for dates, and what has no name."""
    more = {"dates": dict(data.units), "unnamed": data.n_unnamed}
    known = result.provenance
    parameters = {**known.parameters} | {name: value for name, value in more.items() if value}
    return replace(result, provenance=replace(known, parameters=parameters))
