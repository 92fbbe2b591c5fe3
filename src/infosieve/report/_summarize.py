"""From a result to what a page says: words, rows and figures in a dict.

Results are known by their schema and their fields: their classes lie above this package.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from infosieve.report import _data
from infosieve.report import _figures as figures
from infosieve.report._parts import Page, listed, names, section, short
from infosieve.report._words import alone


def summarize(result: Any, curves: Any = None, clusters: Any = None) -> Page:
    """Any result as a dict that the templates know.

    ``curves`` is a pair of a fitted CurveFeatures and the curves, or of an axis and the curves;
    ``clusters`` a ClusterResult to be shown beside.
    """
    page = _PAGES[result._schema](result)
    if curves is not None:
        page["sections"].insert(1, _curves(result, *curves))
    if clusters is not None:
        text = f"{len(clusters.features)} columns, {len(clusters.clusters)} clusters."
        shown = figures.tree(clusters)
        page["sections"].append(section("Which columns are redundant", text, shown))
    return page | {"provenance": _provenance(result.provenance)}


# --- a selection


def _selection(result: Any) -> Page:
    tested = all(step.p_value is not None for step in result.steps)
    return {
        "kind": "Selection",
        "title": _selection_title(result, tested),
        "words": _selection_words(result, tested),
        "heads": ["", "column", "adds (nats)", "chance (95 %)", "test", "how sure"],
        "rows": [_step_row(result, step) for step in result.steps],
        "numeric": [2, 3],
        "sections": _selection_sections(result, tested),
    }


def _selection_title(result: Any, tested: bool) -> str:
    found = [short(result.features[j]) for j in result.selected]
    target = " and ".join(str(name) for name in result.excerpt.target)
    if not found:
        return f"No column was found to be informative about {target}"
    if not tested:
        return f"Most informative about {target}, untested: {listed(found, 4)}"
    if not result.corrected:
        return f"Informative about {target}, if tested alone: {listed(found, 4)}"
    verb = "is" if len(found) == 1 else "are"
    return f"{listed(found, 4)} {verb} informative about {target}"


def _selection_words(result: Any, tested: bool) -> list[str]:
    n, m, selected = result.provenance.n_samples, len(result.features), len(result.selected)
    words = [f"{selected} of {m} columns were selected from {n} samples."]
    if not tested:
        words.append("No test was asked for: the last of them may add nothing.")
    words.append(f"Stop reason: {result.stop_reason}.")
    words += result.notes
    if not selected:
        words.append(
            "More samples may show a weak dependence; so may a larger alpha, at the price of more "
            "false columns. The figures below show how close the best column came."
        )
    copies = [
        f"{listed(names(result, others))} of {result.features[j]}"
        for j, others in result.duplicates.items()
    ]
    if copies:
        words.append(f"Copies, which were left out: {'; '.join(copies)}.")
    if result.constant:
        what = "Constant changes" if result.provenance.by_changes else "Constant"
        words.append(f"{what}, and left out: {listed(names(result, result.constant))}.")
    if result.identifiers:
        some = listed(names(result, result.identifiers))
        words.append(f"Identifiers, hardly any of which occurs twice, were left out: {some}.")
    return words


def _step_row(result: Any, step: Any) -> list[str]:
    return [
        {"add": "selected", "remove": "removed", "stop": "did not pass"}[step.action],
        " and ".join(names(result, step.features)),
        f"{step.gain:+.3f}",
        f"{step.null_quantiles[2]:.3f}" if step.null else "",
        _data.p_text(step.p_value, step.lower_limit) or "no test",
        _sureness(step, alone(result, step)),
    ]


def _sureness(step: Any, uncorrected: bool) -> str:
    """A p-value in words; ``uncorrected``: of the column alone, not of the best of many."""
    if step.p_value is None:
        return "not tested"
    if step.action == "stop":
        return "permuted columns may do as well"
    if not step.significant:
        return "kept on request, not by the test"
    who = "its own permuted copies" if uncorrected else "permuted columns"
    often = f"{who} do as well in {1000 * step.p_value:.0f} of 1000 cases"
    often += " or fewer" if step.exceedances == 0 else ""
    if uncorrected:
        often += f"; the best of {step.n_candidates:,} columns without information, more often"
    return often


def _selection_sections(result: Any, tested: bool) -> list[Page]:
    beside = ", and what permuted columns add." if tested else "."
    sections = [
        section(
            "Step by step",
            f"What each column adds, conditional on the columns selected before it{beside}",
            figures.path(result),
        ),
        section(
            "Marginal information",
            "Information of each column about the target, without the others. A column with much "
            "of it may add nothing to the selected ones.",
            figures.relevance(result),
        ),
    ]
    if result.selected:
        pairs = figures.against_target(result)
        sections.append(section("The selected columns and the target", "", *pairs, small=True))
    if result.k_choice is not None:
        sections.append(_k_section(result.k_choice))
    return sections


# --- a choice of K


def _choice(result: Any) -> Page:
    best = result.t.max(axis=0)
    rows = [
        [str(k), f"{t:.2f}", str(result.features[int(j)])]
        for k, t, j in zip(result.ks, best, result.t.argmax(axis=0), strict=True)
    ]
    return {
        "kind": "Choice of K",
        "title": f"K = {result.k}",
        "words": [f"From {result.provenance.n_samples} samples of {len(result.features)} columns."],
        "heads": ["K", "largest t", "column"],
        "rows": rows,
        "numeric": [0, 1],
        "sections": [_k_section(result)],
    }


def _k_section(choice: Any) -> Page:
    return section(
        "The number of neighbours",
        f"With K = {choice.k} the information of {choice.feature} stands farthest above that with "
        "the target permuted.",
        figures.smoothing(choice),
    )


# --- clusters


def _clusters(result: Any) -> Page:
    m, k = len(result.features), len(result.clusters)
    rows = [
        [str(label), name, str(int(np.sum(result.labels == label))), str(result.features[medoid])]
        for label, (name, medoid) in enumerate(zip(result.clusters, result.medoids, strict=True))
    ]
    joined = section(
        "The merges", "The lower two columns meet, the more alike they are.", figures.tree(result)
    )
    sections = [joined]
    if result.cv_results is not None:
        text = "Judged by predictions for samples that were left out."
        sections.append(section("How many clusters", text, figures.numbers(result.cv_results)))
    return {
        "kind": "Clusters",
        "title": f"{k} clusters of {m} columns",
        "words": [
            f"{m} columns of {result.provenance.n_samples} samples were joined into {k} clusters."
        ],
        "heads": ["cluster", "columns", "how many", "medoid"],
        "rows": rows,
        "numeric": [0, 2],
        "sections": sections,
    }


# --- a permutation test


def _test(result: Any) -> Page:
    tested = _data.tested(result)
    rows = [
        [t.name, f"{t.observed:.3f}", f"{t.high:.3f}", str(t.exceedances), t.p_text] for t in tested
    ]
    one = "The observed value, and the values of permuted columns."
    each = "Observed values, and the values of permuted columns."
    return {
        "kind": "Permutation test",
        "title": _test_title(result, tested),
        "words": _test_words(result),
        "heads": ["column", "observed (nats)", "chance (95 %)", "reached by", "test"],
        "rows": rows,
        "numeric": [1, 2, 3],
        "sections": [
            section("Against chance", one if len(tested) == 1 else each, figures.test(result))
        ],
    }


def _test_title(result: Any, tested: Sequence[_data.Tested]) -> str:
    if len(tested) == 1:
        return f"{short(tested[0].name)}: {tested[0].p_text}"
    if result.correction is None:
        return f"{len(tested)} columns, tested one by one"
    best, n = tested[0], result.n_candidates
    return f"{short(best.name)}, the best of {n:,} columns: {best.p_text}"


def _test_words(result: Any) -> list[str]:
    several = result.n_candidates > 1
    known = result.provenance
    samples = "" if known is None else f" Asked of {known.n_samples} samples."
    given = [str(name) for name in result.given]
    condition = f", conditional on {listed(given)}" if given else ""
    what = "Are these columns" if several else "Is this column"
    words = [f"{what} informative about the target{condition}?{samples}"]
    words.append(_p_words(result))
    if several and result.correction is not None:
        words.append(
            "Each column is compared with the best of all permuted columns: the p-values allow for "
            "choosing the best."
        )
    words += result.notes
    if result.lower_limit:
        level = "" if result.alpha is None else f", when p ≤ {result.alpha:g} had become impossible"
        words.append(
            f"The test was ended early, after {result.n_permutations} permutations{level}: early-"
            "stopped p-values (p ≥ ...) are lower limits."
        )
    return words


def _p_words(result: Any) -> str:
    """What the p-values of a test are."""
    asked = result.n_permutations_asked
    if not result.sequential:
        return (
            f"p = (b + 1) / ({asked} + 1), where b of {asked} permuted columns reach what is "
            "observed."
        )
    return (
        f"Up to {asked} permutations: a column's test ended when it had surely passed or failed at "
        f"{result.alpha:g}. p is the probability that a column without information comes as far, "
        "exact for such a test."
    )


# --- what all may have


def _curves(result: Any, source: Any, values: Any) -> Page:
    """The curves, and where what was found comes from."""
    if result._schema == "clusters":
        axis = np.asarray(source, float)
        covered = _data.cluster_parts(result, axis)
        parts = [(start, end, result.clusters[label], label) for start, end, label in covered]
        shown = figures.curves(_read_curves(values, axis), axis, parts, "")
        return section("On the curves", "", shown)
    if result._schema != "selection":
        raise ValueError("'curves' can be shown beside a selection or clusters only.")
    about = source.describe().set_index("feature", drop=False)
    chosen = about.loc[[str(result.features[j]) for j in result.selected]]
    parts = [(*part, i) for i, part in enumerate(_data.feature_parts(chosen, source.axis_))]
    curves = _read_curves(values, source.axis_)
    shown = figures.curves(curves, source.axis_, parts, str(source.unit or ""))
    return section("On the curves", "Where the selected features come from.", shown)


def _read_curves(values: Any, axis: Any) -> Any:
    """Curves as numbers, a row each, whatever table they come in."""
    curves = np.asarray(values, np.float64)
    if curves.ndim != 2 or curves.shape[1] != len(axis) or not np.isfinite(curves).all():
        raise ValueError(
            f"'curves' must be rows of {len(axis)} finite numbers, one for each point of the "
            f"axis. Got a table of shape {curves.shape}."
        )
    return curves


def _provenance(known: Any) -> Page | None:
    """How to have the result again."""
    if known is None:
        return None
    return {
        "code": known.code,
        "seed": known.seed,
        "data": known.data,
        "command": known.command,
        "n_samples": known.n_samples,
        "parameters": [(name, repr(value)) for name, value in known.parameters.items()],
        "versions": list(known.versions.items()),
    }


# By the schema of a record.
_PAGES: dict[str, Callable[[Any], Page]] = {
    "selection": _selection,
    "clusters": _clusters,
    "k-choice": _choice,
    "permutation-test": _test,
}
