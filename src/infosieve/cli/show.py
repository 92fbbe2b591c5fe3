"""Results for people: aligned text, with a little colour where that is a terminal."""

import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from infosieve._core.files import printable
from infosieve.report._data import p_text, tested
from infosieve.results import ClusterResult, KChoice, PermutationTest, SelectionResult

_BAR = 24
# So many columns that were left out are named.
_NAMES = 10


def show(result: Any) -> None:
    """Any result."""
    if isinstance(result, SelectionResult):
        selection(result)
    elif isinstance(result, KChoice):
        choice(result)
    elif isinstance(result, PermutationTest):
        permutations(result)
    else:
        clusters(result)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """As for everything else that is printed; rich would end the process."""
        raise


def console() -> Console:
    """Standard output; wide enough for anything where it is no terminal."""
    terminal = sys.stdout.isatty()
    return _Console(width=None if terminal else 10_000, highlight=False, soft_wrap=False)


def bar(value: float, largest: float) -> str:
    """A small bar."""
    share = max(value, 0.0) / largest if largest > 0 else 0.0
    eighths = round(share * _BAR * 8)
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[int] = ()) -> Table:
    """Text in columns, some of them aligned at the right."""
    shown = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for number, head in enumerate(heads):
        cells = [head, *(printable(row[number]) for row in rows)]
        least = max(map(len, cells)) if number in right else min(12, max(map(len, cells)))
        bars = not head and number == len(heads) - 1
        side = "right" if number in right else "left"
        room = {"min_width": 0, "overflow": "crop"} if bars else {"min_width": least}
        shown.add_column(head, justify=side, no_wrap=True, **room)  # type: ignore[arg-type]
    for row in rows:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    return shown


def selection(result: SelectionResult) -> None:
    """The path, and what it means."""
    out = console()
    names = [str(result.features[j]) for j in result.selected]
    head = f"{len(names)} of {len(result.features)} features selected"
    if result.stop_reason == "interrupted":
        head = f"unfinished: {head} so far"
    out.print(Text(f"{head} ({result.provenance.n_samples} samples)", style="bold"))
    largest = max((s.gain for s in result.steps), default=0.0)
    rows = []
    for step in result.steps:
        sign = {"add": "+", "remove": "-", "stop": "x"}[step.action]
        for j in step.features:
            row = [sign, result.features[j], f"{step.mi:.3f}", f"{step.gain:+.3f}"]
            p = p_text(step.p_value, step.lower_limit, plain=True)
            rows.append([*row, p, bar(step.gain, largest)])
    heads = ["", "feature", "MI (nats)", "gain", "p", ""]
    out.print(table(heads, rows, right=(2, 3, 4)))
    if len(result.selected) > 1:
        out.print(Text("(MI of larger sets is biased, mostly downwards: what counts is the gain)"))
    if result.steps and result.steps[-1].action == "stop":
        out.print(Text("x did not pass the test, which ended the search"))
    for j, others in result.duplicates.items():
        copies = ", ".join(str(result.features[k]) for k in others)
        out.print(Text(printable(f"copies of {result.features[j]}, left out: {copies}")))
    for what, columns in (("constant", result.constant), ("identifiers", result.identifiers)):
        if columns:
            out.print(Text(printable(f"{what}, left out: {_some(result, columns)}")))
    for note in result.notes:
        out.print(Text(note))
    out.print(Text(f"seed {result.provenance.seed}; stop reason: {result.stop_reason}"))


def _some(result: SelectionResult, columns: Sequence[int]) -> str:
    """A few names, and how many more there are."""
    names = ", ".join(str(result.features[j]) for j in columns[:_NAMES])
    more = len(columns) - _NAMES
    return f"{names} and {more:,} more" if more > 0 else names


def choice(result: KChoice) -> None:
    """t of each K, over the features."""
    out = console()
    out.print(Text(f"K = {result.k}, by {result.feature}", style="bold"))
    best = result.t.max(axis=0)
    winners = result.t.argmax(axis=0)
    rows = [
        [k, f"{t:.2f}", result.features[j], bar(t, best.max()), "<" if k == result.k else ""]
        for k, t, j in zip(result.ks.tolist(), best.tolist(), winners.tolist(), strict=True)
    ]
    out.print(table(["K", "largest t", "feature", "", ""], rows, right=(0, 1)))
    out.print(Text(f"seed {result.provenance.seed}"))


def permutations(result: PermutationTest) -> None:
    """The candidates of a test, and their p-values."""
    out = console()
    given = f" given {', '.join(map(str, result.given))}" if result.given else ""
    head = f"{result.n_candidates:,} features tested{given}, {result.n_permutations} permutations"
    out.print(Text(printable(head), style="bold"))
    candidates = tested(result)
    largest = max(t.observed for t in candidates)
    rows = []
    for t in candidates:
        p = p_text(t.p_value, result.lower_limit, plain=True)
        rows.append([t.name, f"{t.observed:.3f}", f"{t.high:.3f}", p, bar(t.observed, largest)])
    out.print(table(["feature", "nats", "chance (95 %)", "p", ""], rows, right=(1, 2, 3)))
    for note in result.notes:
        out.print(Text(note))
    if result.provenance is not None:
        out.print(Text(f"seed {result.provenance.seed}"))


def clusters(result: ClusterResult) -> None:
    """Each cluster: how many columns, which, and the most typical."""
    out = console()
    head = f"{len(result.clusters)} clusters of {len(result.features)} features"
    out.print(Text(head, style="bold"))
    sizes = [int((result.labels == label).sum()) for label in range(len(result.clusters))]
    rows = [
        [number, size, result.features[medoid], name, bar(size, max(sizes))]
        for number, (size, medoid, name) in enumerate(
            zip(sizes, result.medoids.tolist(), result.clusters, strict=True)
        )
    ]
    out.print(table(["cluster", "columns", "most typical", "name", ""], rows, right=(0, 1)))
    out.print(Text(f"seed {result.provenance.seed}"))
