"""From a result to what a page says: words, rows and figures in a dict.

Results are known by their schema and their fields: their classes lie above this package.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from infosieve.report import _data
from infosieve.report import _figures as figures
from infosieve.report._clusters import cluster_page
from infosieve.report._parts import Page, listed, section, short
from infosieve.report._relevance import relevance_page
from infosieve.report._selection import k_section, selection_page
from infosieve.report._stability import stability_page


def summarize(
    result: Any,
    curves: Any = None,
    clusters: Any = None,
    relevance: Any = None,
    stability: Any = None,
) -> Page:
    """Any result as a dict that the templates know.

    ``curves`` is a pair of a fitted CurveFeatures and the curves, or of an axis and the curves;
    ``clusters``, ``relevance`` and ``stability`` are records to be shown beside a selection.
    """
    beside = {"clusters": clusters, "relevance": relevance, "stability": stability}
    if result._schema == "selection":
        page = selection_page(result, **beside)
    else:
        for name, other in beside.items():
            if other is not None:
                raise ValueError(f"{name!r} can be shown beside a selection only.")
        page = _PAGES[result._schema](result)
    if curves is not None:
        page["sections"].insert(1, _curves(result, *curves))
    return page | {"provenance": _provenance(result.provenance)}


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
        "sections": [k_section(result)],
    }


# --- a permutation test


def _test(result: Any) -> Page:
    tested = _data.tested(result)
    rows = [
        [t.name, _data.nats(t.observed), _data.nats(t.high), str(t.exceedances), t.p_text]
        for t in tested
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


# By the schema of a record; a selection has a page that answers more.
_PAGES: dict[str, Callable[[Any], Page]] = {
    "clusters": cluster_page,
    "k-choice": _choice,
    "permutation-test": _test,
    "relevance-test": relevance_page,
    "stability": stability_page,
}
