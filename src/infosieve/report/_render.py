"""From a record to words: facts go into templates, which have the sentences.

Templates are in ``templates``: ``<kind>.html`` for pages and notebooks, ``<kind>.txt`` for the
terminal, and ``<kind>.jinja`` for the sentences that these share. All are escaped as HTML, so that
a name is never mistaken for a mark of ours; text that is not for a page is unescaped at the end.
"""

import html
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from infosieve import results
from infosieve._core import dialect, formats, messages
from infosieve._core.files import printable, write_atomically
from infosieve._core.formats import counted, nats, p_text, percent
from infosieve._core.settings import OPTION_NAMES
from infosieve.report import _asking, _figures
from infosieve.report._clusters import LEAVES, ClusterFacts
from infosieve.report._columns import against_target, on_curves
from infosieve.report._names import name_text, shortened
from infosieve.report._prediction import MOST_OF
from infosieve.report._selection import SelectionFacts
from infosieve.report._stability import StabilityFacts
from infosieve.report._tests import ChoiceFacts, RelevanceFacts, TestFacts
from infosieve.results import Provenance, SelectionResult
from infosieve.results._base import Document

# Facts about a record of each kind.
_FACTS: dict[str, Callable[..., Any]] = {
    "clusters": ClusterFacts,
    "k-choice": ChoiceFacts,
    "permutation-test": TestFacts,
    "relevance-test": RelevanceFacts,
    "selection": SelectionFacts,
    "stability": StabilityFacts,
}
# What can be shown beside a selection.
_BESIDE: dict[str, type[Document]] = {
    "clusters": results.ClusterResult,
    "relevance": results.RelevanceTest,
    "stability": results.Stability,
}
# How the command calls parameters.
_COMMAND = dialect.Dialect(OPTION_NAMES)
# What begins a sentence, a heading, an indented line and a row of a table, and what stands between
# cells: names have no such characters (``name_text``).
NOTE, HEADING, INDENTED, ROW, CELL = "\x01", "\x02", "\x03", "\x04", "\x05"
# What divides a text at its marks.
_BREAK = "\0"
# Where a name may be broken: after _ / | \\ =, after - and . between letters, before a capital.
_JOINTS = re.compile(
    r"(?<=\w[_/|\\=])(?=\w)|(?<=[a-zA-Z][-.:])(?=[a-zA-Z])|(?<=[a-z])(?=[A-Z][a-z])"
)


def page(result: Document, curves: Any = None, **beside: Any) -> str:
    """The whole report: one file that needs nothing else.

    ``curves`` is a pair of a fitted CurveFeatures and the curves, or of an axis and the curves;
    ``clusters``, ``relevance`` and ``stability`` are records to be shown beside a selection.
    """
    from plotly.offline import get_plotlyjs

    shown: list[_figures.Figure] = []

    def draw(figure: _figures.Figure) -> int:
        """The number of a figure, which a script draws."""
        shown.append(figure)
        return len(shown) - 1

    more = {
        "f": facts_of(result, **beside), "figures": _figures, "drawn": shown, "draw": draw,
        "curves": None if curves is None else on_curves(result, *curves),
        "against_target": against_target, "plotly": Markup(get_plotlyjs()),
    }  # fmt: skip
    template = _templates().get_template(f"{result._schema}.html")
    return template.render(layout="page.html", whole=True, **more)


def fragment(result: Document) -> str:
    """What a notebook shows: the words and the table."""
    template = _templates().get_template(f"{result._schema}.html")
    return template.render(layout="fragment.html", whole=False, f=facts_of(result))


def terminal(result: Document) -> list[tuple[str, str]]:
    """What a terminal shows: pieces of text, each with the mark of its kind."""
    template = _templates().get_template(f"{result._schema}.txt")
    return _pieces(template.render(f=facts_of(result)))


def notes(result: Document) -> tuple[str, ...]:
    """What a reader should know of a result, a sentence each."""
    return said(result._schema, "notes", facts_of(result))


def said(kind: str, name: str, facts: object) -> tuple[str, ...]:
    """The sentences of a macro that pages and the terminal share."""
    macros: Any = _templates().get_template(f"{kind}.jinja").module
    return tuple(text for _, text in _pieces(getattr(macros, name)(facts)))


def write(result: Document, path: str | os.PathLike[str], **beside: Any) -> None:
    """Write the report to a file, whole or not at all."""
    write_atomically(path, page(result, **beside))


def facts_of(result: Document, **beside: Any) -> Any:
    """The facts about a record, and about what is shown beside a selection."""
    if not isinstance(result, SelectionResult):
        for name, other in beside.items():
            if other is not None:
                raise ValueError(f"{name!r} can be shown beside a selection only.")
        return _FACTS[result._schema](result)
    _check(result, beside)
    return SelectionFacts(result=result, **beside)


def _check(result: SelectionResult, beside: Mapping[str, Any]) -> None:
    """Refuse what is no record of its kind, or about other columns than the selection."""
    for name, other in beside.items():
        if not isinstance(other, _BESIDE[name] | None):
            kind, got = _BESIDE[name].__name__, messages.shown(other)
            raise TypeError(f"The {name!r} parameter must be a {kind} or None. Got {got} instead.")
    for name in ("relevance", "stability"):
        other = beside.get(name)
        if other is not None and list(other.features) != list(result.features):
            raise ValueError(
                f"{name!r} is about other columns than the selection: {len(other.features)} "
                f"columns, of which {len({*result.features} & {*other.features})} are among the "
                f"{len(result.features)} of the selection. Ask both of the same table, with the "
                "same columns in the same order."
            )


# --- what templates know


@lru_cache(maxsize=1)
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("infosieve.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_plain,
        extensions=["jinja2.ext.do"],
    )
    environment.filters |= {
        "line": _line, "paragraphs": _paragraphs, "pieces": _sentences,
        "joined": lambda text: Markup(" ").join(_sentences(text)),
        "as_it_is": lambda text: Markup(escape(text)),
    }  # fmt: skip
    marks = {"note": NOTE, "heading": HEADING, "indented": INDENTED}
    environment.globals |= {name: Markup(mark) for name, mark in marks.items()}
    environment.globals |= {
        "asking": _asking, "bar": bar, "breakable": breakable, "counted": counted,
        "fmt": format, "listed": _listed, "nats": nats, "p_text": p_text,
        "percent": lambda share: Markup(percent(share)), "repr": repr, "row": _row,
        "setting": setting, "short": _short,
        "GROUPS": _figures.GROUPS, "LEAVES": LEAVES, "MANY": _figures.MANY, "MOST_OF": MOST_OF,
    }  # fmt: skip
    return environment


def _plain(value: Any) -> Any:
    """Whatever stands in a template: a name is on one line, and in its own direction."""
    return value if isinstance(value, Markup | int | float) else name_text(value)


def setting(known: Provenance | None, name: str, *value: Any) -> str:
    """A parameter, with a value or alone, in the words of whoever asked: of Python or a command."""
    with dialect.speaking(_COMMAND if known is not None and known.command else dialect.PYTHON):
        return dialect.setting(name, *value) if value else dialect.bare(name)


def bar(value: float, largest: float, width: int = 16) -> str:
    """A small bar of text."""
    share = max(value, 0.0) / largest if largest > 0 else 0.0
    eighths = round(share * width * 8)
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")


def breakable(text: object) -> Markup:
    """Text whose names are broken at their joints; only what is longer than a line, elsewhere."""
    return Markup("<wbr>".join(_JOINTS.split(escape(_plain(text)))))


def _line(text: str) -> Markup:
    """Text on one line."""
    lines = (line.strip(" ") for line in escape(text).split("\n"))
    return Markup(" ").join(line for line in lines if line)


def _sentences(text: str) -> list[Markup]:
    """The sentences that begin with a mark."""
    return [_line(part) for part in text.split(NOTE)[1:]]


def _paragraphs(text: str) -> Markup:
    """Each sentence in a paragraph of its own."""
    some = [Markup("<p>{}</p>").format(breakable(part)) for part in _sentences(text)]
    return Markup("\n").join(some)


def _listed(names: Iterable[object], most: int = 6) -> Markup:
    """ "a, b and c", or "a, b and 7 more"."""
    return Markup(formats.listed([escape(_plain(name)) for name in names], most))


def _short(names: Sequence[object], length: int = 32) -> list[str]:
    """Names that fit a headline, each different from the others."""
    return [name_text(text) for text in shortened(names, length)]


def _row(*cells: object) -> Markup:
    """A row of a table in a terminal; heads that begin with ">" are above numbers."""
    texts = [cell if isinstance(cell, Markup) else printable(cell) for cell in cells]
    return Markup(ROW + CELL.join(map(escape, texts)))


def _pieces(text: str) -> list[tuple[str, str]]:
    """Sentences, headings and rows, each with its mark."""
    for mark in (NOTE, HEADING, INDENTED, ROW):
        text = text.replace(mark, _BREAK + mark)
    parts = text.split(_BREAK)[1:]
    return [(part[0], html.unescape(str(_line(Markup(part[1:]))))) for part in parts]
