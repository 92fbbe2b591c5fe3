"""Results for people: aligned text, with a little colour where that is a terminal."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from infosieve._core.files import printable
from infosieve.report._data import n_candidates, nats, p_text, tested, untested
from infosieve.report._doubt import near_level
from infosieve.report._parts import counted
from infosieve.report._relevance import by_information
from infosieve.report._stability import bound_text, by_frequency, unbounded
from infosieve.report._words import added_to, how_alike, last_level
from infosieve.results import (
    ClusterResult,
    CVScores,
    KChoice,
    PermutationTest,
    RelevanceTest,
    SelectionResult,
    Stability,
)

_BAR = 16
# So many columns that were left out are named.
_NAMES = 10
# So many relevant columns are listed; and of the others, the first.
_RELEVANT, _OTHERS = 50, 10
# So many clusters are listed, and all that have several columns.
_CLUSTERS = 30
# So many columns that were chosen from halves are listed, and so many sets.
_CHOSEN, _SETS = 30, 3


def show(result: Any) -> None:
    """Any result."""
    if isinstance(result, SelectionResult):
        selection(result)
    elif isinstance(result, KChoice):
        choice(result)
    elif isinstance(result, PermutationTest):
        permutations(result)
    elif isinstance(result, RelevanceTest):
        relevance(result)
    elif isinstance(result, Stability):
        stability(result)
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
    head = f"{len(names)} of {n_candidates(result)} features selected"
    if result.stop_reason == "interrupted":
        head = f"unfinished: {head} so far"
    out.print(Text(f"{head} ({counted(result.provenance.n_samples, 'sample')})", style="bold"))
    largest = max((s.gain for s in result.steps), default=0.0)
    rows, with_p = [], any(step.p_value is not None for step in result.steps)
    for step in result.steps:
        sign = {"add": "+", "remove": "-", "refuse": "~", "stop": "x"}[step.action]
        for j in step.features:
            row = [sign, result.features[j], nats(step.gain, "+")]
            if with_p:
                row += [nats(step.null_quantiles[2]) if step.null else ""]
                row += [p_text(step.p_value, step.lower_limit, plain=True)]
                row += ["" if step.level is None else f"{step.level:.3g}"]
            rows.append([*row, bar(step.gain, largest)])
    tested = ["chance (95 %)", "p", "allowed"] if with_p else []
    heads = ["", "feature", "adds (nats)", *tested, ""]
    out.print(table(heads, rows, right=range(2, len(heads) - 1)))
    if result.criterion in ("cmim", "jmi") and not with_p:
        out.print(Text(f"what a column adds {added_to(result)[0]}"))
    if result.cv_scores is not None:
        _prediction(out, result, result.cv_scores)
    if result.steps and result.steps[-1].action == "stop":
        out.print(
            Text("x did not pass the test, which ended the search: that it is useless is not shown")
        )
    for step in result.steps:
        if step.action == "add" and len(step.features) > 1:
            pair = " and ".join(str(result.features[j]) for j in step.features)
            out.print(Text(printable(f"{pair} are a pair: what it adds and p are those of both")))
        if step.action == "refuse":
            follows = " and ".join(str(result.features[j]) for j in step.follows)
            name = result.features[step.features[0]]
            out.print(Text(printable(f"~ {name} follows {follows}, and does not pass beside it")))
    for j in result.selected if result.alternatives is not None else ():
        stand_ins = [other.stand_in for other in result.alternatives or () if other.feature == j]
        found = _some(result, stand_ins) or "no column"
        text = f"could stand in for {result.features[j]}: {found}"
        out.print(Text(printable(text)))
    for j, others in result.duplicates.items():
        copies = ", ".join(str(result.features[k]) for k in others)
        out.print(Text(printable(f"copies of {result.features[j]}, left out: {copies}")))
    for what, columns in (
        ("constant", result.constant),
        ("identifiers", result.identifiers),
        ("cannot be tested", untested(result)),
    ):
        if columns:
            out.print(Text(printable(f"{what}, left out: {_some(result, columns)}")))
    for note in result.notes:
        out.print(Text(note))
    out.print(Text(f"seed {result.provenance.seed}; stop reason: {result.stop_reason}"))
    if why := last_level(result):
        out.print(Text(why))
    for note in near_level(result):
        out.print(Text(printable(note)))


def _prediction(out: Console, result: SelectionResult, scores: CVScores) -> None:
    """How well a model predicts with each number of columns, and which columns are certain."""
    n_folds, every, n_all = len(scores.scores), scores.all_columns, n_candidates(result)
    numbers, folds = [*scores.sizes], [*zip(*scores.scores, strict=True)]
    if every is not None and scores.sizes[-1] < n_all:
        numbers, folds = [*numbers, n_all], [*folds, every]
    means, errors = np.mean(folds, axis=1), np.std(folds, axis=1, ddof=1) / np.sqrt(n_folds)
    digits = ".3f" if 0.1 <= np.abs(means).max() < 1000 else ".3g"
    gained, words = means - scores.without, {0: "none", n_all: f"all {numbers[-1]}"}
    rows = [
        [">" if n == scores.n_chosen else "", words.get(n, n), f"{mean:{digits}}",
         f"{error:{digits}}", bar(more, gained.max())]
        for n, mean, error, more in zip(numbers, means, errors, gained, strict=True)
    ]  # fmt: skip
    own = ", each with its own ranking"
    out.print(Text(f"how well {scores.model_name} predicts ({n_folds} folds{own})", style="bold"))
    heads = ["", "columns", scores.scoring, "± standard error", ""]
    out.print(table(heads, rows, right=(1, 2, 3)))
    ranking = ", as was the ranking," if scores.others else ","
    out.print(Text(f"> was chosen{ranking} so that its score is too good"))
    for name, others in scores.others.items():
        best = f"{max(others[1:]):{digits}}"
        text = f"columns are ranked by {scores.criterion}; by {name}, {scores.scoring} is {best}"
        out.print(Text(f"{text} at best"))
    if scores.best_score <= scores.without:
        out.print(Text("no number of columns predicts better than none: it may all be chance"))
    out.print(Text(printable(_certain(result))))


def _certain(result: SelectionResult) -> str:
    """Which columns are certain, and what the others are."""
    if not result.provenance.parameters.get("test"):
        return "which of them are certain was not tested; --test does"
    steps = [step for step in result.steps if step.action == "add"]
    if all(step.p_value is None for step in steps):
        return "certain columns: the tests, which would say it, were broken off"
    sure = [j for step in steps if step.significant for j in step.features]
    text = f"certain, by permutation tests: {_some(result, sure) or 'no column'}"
    if len(sure) == len(result.selected):
        return text
    scores = result.cv_scores
    if scores is not None and scores.best_score <= scores.without:
        return f"{text}; of the others no test says that they add anything"
    return f"{text}; the others help to predict, and no test says that they add anything"


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
        rows.append([t.name, nats(t.observed), nats(t.high), p, bar(t.observed, largest)])
    out.print(table(["feature", "nats", "chance (95 %)", "p", ""], rows, right=(1, 2, 3)))
    for note in result.notes:
        out.print(Text(note))
    if result.provenance is not None:
        out.print(Text(f"seed {result.provenance.seed}"))


def relevance(result: RelevanceTest) -> None:
    """The relevant columns, the most informative first, and how many others there are."""
    out = console()
    n, m = int(result.relevant.sum()), len(result.features)
    head = f"{n:,} of {m:,} features relevant, at a false discovery rate of {result.alpha:g}"
    out.print(Text(f"{head} ({counted(result.provenance.n_samples, 'sample')})", style="bold"))
    order = by_information(result)
    rows, frame = [], result.to_frame()
    for one in frame.iloc[order[: min(n, _RELEVANT)]].to_dict("records"):
        rows.append(_relevance_row("+", one, frame["statistic"].max()))
    if n > _RELEVANT:
        rows.append(["", f"... and {n - _RELEVANT:,} more", "", "", "", "", ""])
    others = order[n:][np.argsort(result.p_values[order[n:]], kind="stable")]  # those nearest first
    for one in frame.iloc[others[:_OTHERS]].to_dict("records"):
        rows.append(_relevance_row("", one, frame["statistic"].max()))
    heads = ["", "feature", "nats", "chance (95 %)", "p", "q", ""]
    out.print(table(heads, rows, right=(2, 3, 4, 5)))
    if m - n > _OTHERS:
        out.print(Text(f"... and {m - n - _OTHERS:,} more that are not relevant"))
    for note in result.notes:
        out.print(Text(note))
    out.print(Text(f"seed {result.provenance.seed}"))


def _relevance_row(sign: str, one: dict[str, Any], largest: float) -> list[Any]:
    numbers = [nats(one[name]) for name in ("statistic", "chance_q95")]
    numbers += [f"{one[name]:.2g}" for name in ("p_value", "q_value")]
    return [sign, one["feature"], *numbers, bar(one["statistic"], largest)]


def stability(result: Stability) -> None:
    """The columns that were chosen, most often first, and the most frequent sets."""
    out = console()
    head = f"{len(result.stable())} of {len(result.features):,} features are stable"
    out.print(
        Text(f"{head} ({result.n_halves} halves of {result.n_samples} samples)", style="bold")
    )
    frame, order = result.to_frame(), by_frequency(result)
    rows = [
        ["+" if one["stable"] else "", one["feature"], f"{one['frequency']:.0%}",
         bound_text(one["expected_false"], len(result.features)), bar(one["frequency"], 1.0)]
        for one in frame.iloc[order[:_CHOSEN]].to_dict("records")
    ]  # fmt: skip
    out.print(table(["", "feature", "chosen", "false columns", ""], rows, right=(2,)))
    if len(order) > _CHOSEN:
        out.print(Text(f"... and {len(order) - _CHOSEN:,} that were chosen less often"))
    for note in unbounded(result):
        out.print(Text(note))
    for columns, times in result.sets[:_SETS]:
        names = ", ".join(str(result.features[j]) for j in columns[:_NAMES]) or "nothing"
        more = f" and {len(columns) - _NAMES} more" if len(columns) > _NAMES else ""
        out.print(Text(printable(f"from {times} of {result.n_halves} halves: {names}{more}")))
    for note in result.notes:
        out.print(Text(note))
    out.print(Text(f"seed {result.provenance.seed}"))


def clusters(result: ClusterResult) -> None:
    """Each cluster: how many columns, the most typical, and all of them."""
    out = console()
    head = f"{len(result.clusters)} clusters of {len(result.features)} features{how_alike(result)}"
    out.print(Text(head, style="bold"))
    members = result.members
    order = sorted(range(len(members)), key=lambda label: -len(members[label]))
    largest = len(members[order[0]])
    listed = [label for i, label in enumerate(order) if i < _CLUSTERS or len(members[label]) > 1]
    rows = [
        [label, len(some), result.features[result.medoids[label]], bar(len(some), largest)]
        for label, some in ((label, members[label]) for label in listed)
    ]
    out.print(table(["cluster", "columns", "most typical", ""], rows, right=(0, 1)))
    if len(listed) < len(order):
        out.print(Text(f"... and {len(order) - len(listed):,} more of one column each"))
    several = [label for label in order if len(members[label]) > 1]
    if several:
        out.print(Text("columns of clusters that have several", style="bold"))
    for label in several:
        names = ", ".join(printable(name) for name in members[label])
        out.print(Padding(Text(f"{label}: {names}"), (0, 0, 0, 2), expand=False))
    for note in result.notes:
        out.print(Text(printable(note)))
    out.print(Text(f"seed {result.provenance.seed}"))
