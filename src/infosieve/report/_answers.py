"""What is asked next about a selection, each with a short answer and a section of the page.

How many predict, what could stand in, what else is informative, would it happen again, what was
left out. Where a question was not asked, the short answer says how to ask it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from infosieve._core import messages
from infosieve.report import _asking as asking
from infosieve.report import _figures as figures
from infosieve.report._clusters import tree_section
from infosieve.report._data import nats, untested
from infosieve.report._parts import (
    Page,
    counted,
    fact,
    listed,
    name_text,
    names,
    percent,
    section,
    table,
)
from infosieve.report._words import gaps, how_alike, setting, weak_clusters
from infosieve.results._facts import certainty

# So many rows of a table of columns that were not selected.
_MANY = 20
# So many names of columns that were left out.
_NAMES = 12
# Such a share of gaps hides how alike columns are.
_GAPS = 0.1
# So many sets of redundant columns, and so many columns of each, stand in the answer.
_SETS, _IN_SET = 4, 5
# What parameters of a report take: its schema, its class, and what gives one.
_KINDS = {
    "clusters": ("clusters", "ClusterResult", "as FeatureClustering().fit(X, y).result_ is"),
    "relevance": ("relevance-test", "RelevanceTest", "as relevance_test(X, y) gives"),
    "stability": ("stability", "Stability", "as stability(selector, X, y) gives"),
}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A line among the short answers, and the section that it leads to."""

    fact: Page
    section: Page | None = None


def _answer(question: str, answer: str, part: Page | None = None, code: str = "") -> Answer:
    anchor = "" if part is None else part["anchor"]
    return Answer(fact=fact(question, answer, anchor, code), section=part)


def check_kinds(others: Mapping[str, Any]) -> None:
    """Refuse what is no record of the kind that a parameter of a report takes."""
    for name, other in others.items():
        schema, kind, call = _KINDS[name]
        if other is not None and getattr(other, "_schema", None) != schema:
            raise TypeError(
                f"The {name!r} parameter must be a {kind}, {call}, or None. Got "
                f"{messages.shown(other)} instead."
            )


def check_same_columns(result: Any, others: Mapping[str, Any]) -> None:
    """Refuse answers about other columns than those of the selection."""
    for name, other in others.items():
        if other is not None and list(other.features) != list(result.features):
            raise ValueError(
                f"{name!r} is about other columns than the selection: {len(other.features)} "
                f"columns, of which {_n_common(result, other)} are among the "
                f"{len(result.features)} of the selection. Ask both of the same table, with the "
                "same columns in the same order."
            )


def _n_common(result: Any, other: Any) -> int:
    return len(set(result.features) & set(other.features))


def _other_data(result: Any, other: Any) -> Iterator[str]:
    """That an answer comes from other samples, where its fingerprint says so."""
    known, mine = getattr(other, "provenance", None), result.provenance
    if known is not None and known.data != mine.data:
        yield (
            f"This was asked of other data than the selection: {known.n_samples:,} samples with "
            f"the fingerprint {known.data[:8]}…, not {mine.n_samples:,} with {mine.data[:8]}…."
        )


# --- how many predict


def how_many_predict(result: Any) -> Iterator[Answer]:
    """That a model may want other columns than tests find; where it chose, a section says it."""
    if result.cv_scores is None and result.steps:
        certain = "certain" if result.steps[0].p_value is not None else "most informative"
        text = f"Not asked: these are the {certain} ones, and a model may want more, or others."
        if not result.selected:
            text = "Not asked: a model may predict from columns that no test finds."
        yield _answer("How many columns predict best?", text, code=asking.prediction(result))


# --- what could stand in


def stand_ins(result: Any, clusters: Any = None) -> Answer:
    """Columns that could take the place of a selected one."""
    question = "What could stand in?"
    if not result.selected:
        return _answer(question, "Nothing was selected.")
    copies = list(_copies(result))
    if result.alternatives is None:
        ask = asking.alternatives(result)
        text = " ".join([*copies, "Other columns were not looked at."]) if copies else "Not asked."
        return _answer(question, text, code=ask)
    found = _by_column(result)
    if not found:
        text = (
            "No column was found that could take the place of a selected one. A column that tells "
            "a part of the same is not listed here."
        )
        return _answer(question, " ".join([text, *copies]))
    without = [j for j in result.selected if j not in found]
    notes = [*copies, *_clusters_words(result, clusters)]
    if without:
        notes.insert(0, f"No stand-in was found for {listed(names(result, without), _NAMES)}.")
    text = (
        "A stand-in has passed a test in the place of the selected column. Beside the stand-in, "
        "the selected column adds less than half of what it adds otherwise. Bars: what a stand-in "
        "adds there, in parts of what the selected column adds. Dots: what the selected column "
        "would still add beside it. A long bar and a dot near zero: either may be used."
    )
    part = section(
        "What could stand in",
        text,
        figures.stand_ins(result, found),
        table=_stand_in_table(result, found, clusters),
        notes=notes,
        anchor="stand-ins",
    )
    first = "; ".join(_replaced(result, j, others) for j, others in list(found.items())[:2])
    more = f"; and {len(found) - 2} more" if len(found) > 2 else ""
    have = "has a stand-in" if len(found) == 1 else "have stand-ins"
    answer = f"{len(found)} of {len(result.selected)} {have}: {first}{more}."
    return _answer(question, answer, part)


def _replaced(result: Any, column: int, others: list[Any]) -> str:
    shown = names(result, [other.stand_in for other in others])
    return f"{listed(shown, 2)} for {name_text(result.features[column])}"


def _by_column(result: Any) -> dict[int, list[Any]]:
    """For each selected column that has some, its stand-ins, the best first."""
    found: dict[int, list[Any]] = {}
    for j in result.selected:
        others = [other for other in result.alternatives if other.feature == j]
        if others:
            found[j] = sorted(others, key=lambda other: -other.in_place)
    return found


def _stand_in_table(result: Any, found: Mapping[int, list[Any]], clusters: Any) -> Page:
    heads = ["selected", "stand-in", "adds in its place", "left to add", "p"]
    same = _same_cluster(result, clusters)
    heads += ["same cluster"] * bool(same)
    rows = []
    for j, others in found.items():
        for other in others:
            worth = figures.worth(other)
            row: list[Any] = [
                name_text(result.features[j]),
                name_text(result.features[other.stand_in]),
                {"text": _in_place(other), "bar": min(max(worth, 0.0), 1.0)},
                f"{other.share:.0%}",
                f"{other.p_value:.2g}",
            ]
            if same:
                known = same.get((j, other.stand_in))
                row.append("" if known is None else "yes" if known else "no")
            rows.append(row)
    return table(heads, rows, numeric=[2, 3, 4]) | {"names": [0, 1], "once": 0}


def _in_place(other: Any) -> str:
    """What a stand-in adds: a share of what the selected column adds, unless that is below zero."""
    if other.information > 0:
        return f"{figures.worth(other):.0%}"
    return f"{nats(other.in_place, '+')} nats ({nats(other.information, '+')})"


def _copies(result: Any) -> Iterator[str]:
    """Exact copies of selected columns, and of what could stand in for them."""
    others = (other.stand_in for other in result.alternatives or ())
    for j in dict.fromkeys((*result.selected, *others)):
        copies = result.duplicates.get(j, ())
        if copies:
            verb = "is an exact copy" if len(copies) == 1 else "are exact copies"
            name = name_text(result.features[j])
            yield f"{listed(names(result, copies), _NAMES)} {verb} of {name}."


def _same_cluster(result: Any, clusters: Any) -> dict[tuple[int, int], bool]:
    """Whether a column and its stand-in are in one cluster, where both are in one."""
    if clusters is None:
        return {}
    label = dict(zip(clusters.features, clusters.labels.tolist(), strict=True))
    of = [label.get(name) for name in result.features]
    pairs = [(other.feature, other.stand_in) for other in result.alternatives]
    return {(a, b): of[a] == of[b] for a, b in pairs if of[a] is not None and of[b] is not None}


def _clusters_words(result: Any, clusters: Any) -> Iterator[str]:
    same = _same_cluster(result, clusters)
    if same:
        verb = "is" if sum(same.values()) == 1 else "are"
        alike = "are wrong about the same samples"
        if clusters.provenance.parameters.get("similarity") == "unsupervised":
            alike = "follow each other, whatever the target"
        yield (
            f"{sum(same.values())} of {counted(len(same), 'stand-in')} {verb} in the cluster of "
            f"the selected column: a cluster gathers columns that {alike}."
        )


# --- which columns are redundant


def redundant(result: Any, clusters: Any = None) -> Answer:
    """Clusters of columns that are redundant with each other."""
    question = "Which columns are redundant?"
    if clusters is None:
        ask = asking.clusters(result)
        text = "Not asked." if ask else "Not asked: clusters are of two columns of numbers or more."
        return _answer(question, text, code=ask)
    part = tree_section(clusters, "Which columns are redundant", anchor="redundant")
    several = sorted((some for some in clusters.members if len(some) > 1), key=len, reverse=True)
    sets = [listed([name_text(name) for name in some], _IN_SET) for some in several[:_SETS]]
    more = f"; and {len(several) - _SETS:,} more such sets" if len(several) > _SETS else ""
    answer = f"{'; '.join(sets)}{more}" if sets else f"None of {len(clusters.features):,}"
    answer += f"{how_alike(clusters)}."
    if clusters.decided is False:
        answer += " The data do not decide on the number of clusters."
    answer = " ".join([answer, *weak_clusters(clusters)])
    among = set(clusters.features)
    left_out = [name_text(name) for name in result.features if name not in among]
    if left_out:
        answer += f" Not among the clusters, which are of numbers: {listed(left_out, _NAMES)}."
    dropped = clusters.provenance.parameters.get("missing") == "drop"
    if not dropped and any(
        n > _GAPS * result.provenance.n_samples for n in result.missing.values()
    ):
        answer += " Gaps count as medians there, so that columns seem less alike than they are."
    return _answer(question, answer, part)


# --- what else is informative


def informative(result: Any, test: Any = None) -> Answer:
    """Columns that tell something by themselves."""
    question, anchor = "What is informative at all?", "informative"
    title = "What else is informative"
    alone = (
        "Information of each column about the target, without the others. A column with much of "
        "it may add nothing to the selected ones, which are blue."
    )
    if len(result.features) > figures.MANY:
        alone += f" The {figures.MANY} columns with the most are shown."
    shown = figures.relevance(result, test)
    if test is None:
        ask = asking.relevance(result)
        part = section(title, alone, shown, anchor=anchor)
        text = "Columns were measured, but not tested one by one."
        return _answer(question, text, part, code=ask)
    relevant = np.flatnonzero(test.relevant)
    n, m, alpha = relevant.size, len(test.features), test.alpha
    others = [int(j) for j in relevant if j not in result.selected]
    lonely = [j for j in result.selected if not test.relevant[j]]
    rate = f"false discovery rate {percent(alpha)}"
    tell, selves = ("tells", "by itself") if n == 1 else ("tell", "by themselves")
    text = (
        f"Tested one by one, {n:,} of {counted(m, 'column')} {tell} something about the target "
        f"({rate}). {alone} Green: informative, but not selected."
    )
    notes = list(_other_data(result, test))
    if lonely:
        verb, who, adds = ("is", "it", "adds") if len(lonely) == 1 else ("are", "they", "add")
        if not all(certainty(result)[j] for j in lonely):
            adds = "may add"
        notes.append(
            f"{listed(names(result, lonely), _NAMES)} {verb} selected, but not certain to be "
            f"informative alone: {who} {adds} something beside the other selected columns."
        )
    if others and _ended_by_test(result):
        notes.append(
            "What is informative and not selected may add something, too: beside selected "
            "columns a test sees strong additions only, and the best of those left did not pass."
        )
    elif others and result.cv_scores is not None:
        notes.append(
            "What is informative and not selected comes later in the ranking, where the model "
            "predicts hardly better; whether it adds anything certain was not tested."
        )
    part = section(
        title,
        text,
        shown,
        table=_relevant_table(result, test, others) if others else None,
        notes=notes,
        anchor=anchor,
    )
    answer = f"{n:,} of {counted(m, 'column')} {selves} ({rate})"
    answer += f", {len(others):,} of them not selected." if others else "."
    return _answer(question, answer, part)


def _ended_by_test(result: Any) -> bool:
    """Whether no column that is left has passed."""
    last = result.steps[-1] if result.steps else None
    return last is not None and last.action == "stop" and last.p_value is not None


def _relevant_table(result: Any, test: Any, others: list[int]) -> Page:
    """Informative columns that were not selected, best first, and what else is known of them."""
    order = sorted(others, key=lambda j: -float(test.statistic[j]))
    rows = [
        [
            name_text(result.features[j]),
            nats(float(test.statistic[j])),
            f"{test.q_values[j]:.2g}",
            _what_it_is(result, j),
        ]
        for j in order[:_MANY]
    ]
    more = len(order) - len(rows)
    if more:
        rows.append([f"and {more:,} more", "", "", ""])
    caption = {"caption": "Informative, but not selected"}
    if not any(row[3] for row in rows):  # nothing else is known of any
        return table(["column", "nats", "q"], [row[:3] for row in rows], numeric=[1, 2]) | caption
    shown = table(["column", "nats", "q", "what it is"], rows, numeric=[1, 2])
    return shown | caption | {"texts": [3]}


def _what_it_is(result: Any, column: int) -> str:
    for first, copies in result.duplicates.items():
        if column in copies:
            return f"copy of {name_text(result.features[first])}"
    for other in result.alternatives or ():
        if other.stand_in == column:
            return f"could stand in for {name_text(result.features[other.feature])}"
    return ""


# --- would it happen again


def stable(result: Any, found: Any = None) -> Answer:
    """How often the columns are selected from other samples."""
    question = "Would it happen again?"
    if found is None:
        if asking.is_series(result.provenance):
            return _answer(question, "Not asked: halves of the samples would tear a series apart.")
        return _answer(question, "Not asked.", code=asking.stability(result))
    threshold = found.threshold()
    text = (
        "The selection was repeated on halves of the samples. Bars: the share of the halves from "
        "which a column was chosen; those of this selection are blue."
    )
    if threshold == threshold:
        text += f" The dashed line is the threshold of stable columns, {percent(threshold)}."
    part = section(
        "How stable it is",
        text,
        figures.frequencies(found, result.selected),
        notes=[*_other_data(result, found), *found.notes],
        anchor="stable",
    )
    stable_ones = set(found.stable())
    again = [j for j in result.selected if j in stable_ones]
    others = len(stable_ones) - len(again)
    answer = f"{len(again)} of {counted(len(result.selected), 'selected column')} "
    answer += "is" if len(again) == 1 or len(result.selected) == 1 else "are"
    if not result.selected:
        one = others == 1
        which = counted(others, "column") if others else "none"
        answer = f"No column was selected, and {which} {'is' if one or not others else 'are'}"
    answer += " chosen again and again from halves of the samples"
    if others and result.selected:
        answer += f", and so {'is' if others == 1 else 'are'} {counted(others, 'other column')}"
    return _answer(question, f"{answer}.", part)


# --- what was left out


def excluded(result: Any) -> Answer:
    """Columns and samples that were left out, and gaps."""
    question = "What was excluded?"
    rows = list(_excluded_rows(result))
    notes = list(gaps(result))
    short = [row[0] for row in rows]
    left_out = result.provenance.n_left_out
    if left_out:
        short.append(counted(left_out, "sample"))
    by_command = list(_by_command(result.provenance))
    before = f"By the command: {'; '.join(by_command)}." if by_command else ""
    if not rows and not notes:
        return _answer(question, before or "Nothing.")
    shown = table(["what", "columns", "why"], rows) | {"names": [1], "texts": [2]} if rows else None
    title = "What was excluded, and why" if short else "Missing values"
    part = section(title, "", table=shown, notes=notes, anchor="excluded")
    answer = f"{listed(short)}." if short else "Nothing, but there are gaps."
    if before:
        answer = f"{before} Of the others: {answer[0].lower()}{answer[1:]}"
    return _answer(question, answer, part)


def _by_command(known: Any) -> Iterator[str]:
    """Columns of the file that never came to the selection."""
    if out := asking.given(known, "exclude"):
        yield f"{listed([name_text(name) for name in out], _NAMES)} (--exclude)"
    if kept := asking.given(known, "features"):
        yield f"all columns but {listed([name_text(name) for name in kept], _NAMES)} (--features)"
    unnamed = known.parameters.get("unnamed")
    if isinstance(unnamed, int) and unnamed > 0:
        yield f"{counted(unnamed, 'column')} without a name"


def _excluded_rows(result: Any) -> Iterator[list[str]]:
    copies = [k for others in result.duplicates.values() for k in others]
    if copies:
        pairs = [
            f"{listed(names(result, others), _NAMES)} (of {name_text(result.features[j])})"
            for j, others in result.duplicates.items()
        ]
        why = "equal to another column but for shift, scale or sign; either may be used"
        yield [counted(len(copies), "copy", "copies"), listed(pairs, _NAMES), why]
    if result.constant:
        changes = result.provenance.by_changes
        what = counted(len(result.constant), "constant column")
        why = "its changes have one value" if changes else "one value tells nothing"
        yield [what, listed(names(result, result.constant), _NAMES), why]
    if result.identifiers:
        what = counted(len(result.identifiers), "identifier")
        way = setting(result.provenance, "discrete_features")
        why = f"text that hardly occurs twice; declare it ({way}) to keep it"
        yield [what, listed(names(result, result.identifiers), _NAMES), why]
    if some := untested(result):
        what = counted(len(some), "column that cannot be tested", "columns that cannot be tested")
        why = "the order of the rows tells them, in each group or as a calendar does"
        yield [what, listed(names(result, some), _NAMES), why]
    follows = {
        step.features[0]: step.follows
        for step in result.steps
        if step.action == "refuse" and step.features[0] not in result.selected
    }
    if follows:
        shown = [
            f"{name_text(result.features[j])} (follows {listed(names(result, others))})"
            for j, others in follows.items()
        ]
        why = "follows selected columns along a curve, and adds nothing certain beside them"
        yield [counted(len(follows), "refused column"), listed(shown, _NAMES), why]
