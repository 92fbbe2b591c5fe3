"""From a result to what a page says: words, rows and figures in a dict."""

from typing import Any

import numpy as np

from infosieve.report import _data
from infosieve.report import _figures as figures


def summarize(result: Any, curves: Any = None, clusters: Any = None) -> dict[str, Any]:
    """Any result as a dict that the templates know.

    ``curves`` is a pair of a fitted CurveFeatures and the curves, or of an axis and the curves;
    ``clusters`` a ClusterResult to be shown beside.
    """
    page = _PAGES[result._schema](result)
    if curves is not None:
        page["sections"].insert(1, _curves(result, *curves))
    if clusters is not None:
        text = f"{len(clusters.features)} columns, {len(clusters.clusters)} clusters."
        page["sections"].append(_section("Which say the same", text, figures.tree(clusters)))
    return page | {"provenance": _provenance(result.provenance)}


def _section(title: str, text: str, *shown: dict[str, Any], small: bool = False) -> dict[str, Any]:
    return {"title": title, "text": text, "figures": list(shown), "small": small}


def _selection(result: Any) -> dict[str, Any]:
    names = [str(result.features[j]) for j in result.selected]
    target = " and ".join(str(name) for name in result.excerpt.target)
    n, m = result.provenance.n_samples, len(result.features)
    tested = all(step.p_value is not None for step in result.steps)
    short = [name if len(name) <= 32 else name[:31] + "…" for name in names]
    if names:
        verb = ("tells" if len(names) == 1 else "tell") if tested else "chosen to tell"
        head = f"{_listed(short, 4)} {verb} about {target}"
    else:
        head = f"No column was found to tell about {target}"
    words = [f"{len(names)} of {m} columns were selected from {n} samples."]
    if not tested:
        words.append("No test was asked for: the last of them may add nothing.")
    words.append(f"The search ended because {result.stop_reason}.")
    if not names:
        words.append(
            "More samples may show a weak relation; so may a larger alpha, at the price of more "
            "false columns. The figures below tell how close the best column came."
        )
    said = [
        f"{result.features[j]} also stands for {_listed([str(result.features[k]) for k in others])}"
        for j, others in result.duplicates.items()
    ]
    if said:
        words.append(f"Columns that say the same: {'; '.join(said)}.")
    if result.constant:
        constant = _listed([str(result.features[j]) for j in result.constant])
        words.append(f"Constant, and not looked at: {constant}.")
    rows = [
        [
            {"add": "selected", "remove": "removed", "stop": "did not pass"}[step.action],
            " and ".join(str(result.features[j]) for j in step.features),
            f"{step.gain:+.3f}",
            f"{step.null_quantiles[2]:.3f}" if step.null else "",
            _data.p_text(step.p_value, step.early_stopped) or "no test",
            _sureness(step),
        ]
        for step in result.steps
    ]
    heads = ["", "column", "adds (nats)", "chance (95 %)", "test", "how sure"]
    path = _section(
        "Step by step",
        "What each column adds to those before it"
        + (", beside what permuted columns add by chance." if tested else "."),
        figures.path(result),
    )
    alone = _section(
        "Each column alone",
        "Information about the target, without the others. A column that tells much alone may "
        "have nothing to add to those selected.",
        figures.relevance(result),
    )
    sections = [path, alone]
    if result.selected:
        sections.append(
            _section(
                "The selected columns and the target",
                "",
                *figures.against_target(result),
                small=True,
            )
        )
    if result.k_choice is not None:
        sections.append(_k_section(result.k_choice))
    return {
        "kind": "Selection", "title": head, "words": words, "heads": heads, "rows": rows,
        "numeric": [2, 3], "sections": sections,
    }  # fmt: skip


def _sureness(step: Any) -> str:
    """A p-value in words."""
    if step.p_value is None:
        return "not tested"
    if step.action == "stop":
        return "chance may do as much"
    if not step.significant:
        return "kept on request, not by the test"
    often = 1000 * step.p_value
    return f"chance alone does as much in {often:.0f} of 1000 cases" + (
        " or fewer" if step.exceedances == 0 else ""
    )


def _k_section(choice: Any) -> dict[str, Any]:
    return _section(
        "The number of neighbours",
        f"K = {choice.k} tells columns from chance best, by {choice.feature}.",
        figures.smoothing(choice),
    )


def _choice(result: Any) -> dict[str, Any]:
    best = result.t.max(axis=0)
    rows = [
        [str(k), f"{t:.2f}", str(result.features[int(j)])]
        for k, t, j in zip(result.ks, best, result.t.argmax(axis=0), strict=True)
    ]
    return {
        "kind": "Choice of K", "title": f"K = {result.k}",
        "words": [f"From {result.provenance.n_samples} samples of {len(result.features)} columns."],
        "heads": ["K", "largest t", "column"], "rows": rows, "numeric": [0, 1],
        "sections": [_k_section(result)],
    }  # fmt: skip


def _clusters(result: Any) -> dict[str, Any]:
    m, k = len(result.features), len(result.clusters)
    rows = [
        [str(label), name, str(int(np.sum(result.labels == label))), str(result.features[medoid])]
        for label, (name, medoid) in enumerate(zip(result.clusters, result.medoids, strict=True))
    ]
    words = [f"{m} columns of {result.provenance.n_samples} samples were joined into {k} clusters."]
    sections = [_section("What was joined", "The lower two meet, the more alike they are.",
                         figures.tree(result))]  # fmt: skip
    if result.cv_results is not None:
        sections.append(
            _section("How many clusters", "Judged by predictions for samples that were left out.",
                     figures.numbers(result.cv_results))
        )  # fmt: skip
    return {
        "kind": "Clusters", "title": f"{k} clusters of {m} columns", "words": words,
        "heads": ["cluster", "columns", "how many", "most typical"], "rows": rows,
        "numeric": [0, 2], "sections": sections,
    }  # fmt: skip


def _curves(result: Any, source: Any, values: Any) -> dict[str, Any]:
    """The curves, and where what was found comes from."""
    if result._schema == "clusters":
        axis = np.asarray(source, float)
        curves = _read_curves(values, axis)
        covered = _data.cluster_parts(result, axis)
        parts = [(start, end, result.clusters[label], label) for start, end, label in covered]
        return _section("On the curves", "", figures.curves(curves, axis, parts, ""))
    about = source.describe().set_index("feature", drop=False)
    chosen = about.loc[[str(result.features[j]) for j in result.selected]]
    parts = [(*part, i) for i, part in enumerate(_data.feature_parts(chosen, source.axis_))]
    curves = _read_curves(values, source.axis_)
    shown = figures.curves(curves, source.axis_, parts, str(source.unit or ""))
    return _section("On the curves", "Where the selected features come from.", shown)


def _read_curves(values: Any, axis: Any) -> Any:
    """Curves as numbers, a row each, whatever table they come in."""
    curves = np.asarray(values, np.float64)
    if curves.ndim != 2 or curves.shape[1] != len(axis) or not np.isfinite(curves).all():
        raise ValueError(
            f"'curves' must be rows of {len(axis)} finite numbers, one for each point of the "
            f"axis. Got a table of shape {curves.shape}."
        )
    return curves


def _provenance(known: Any) -> dict[str, Any]:
    """How to have the result again."""
    return {
        "code": known.code,
        "seed": known.seed,
        "data": known.data,
        "command": known.command,
        "n_samples": known.n_samples,
        "parameters": [(name, repr(value)) for name, value in known.parameters.items()],
        "versions": list(known.versions.items()),
    }


def _listed(names: list[str], most: int = 6) -> str:
    """ "a, b and c"."""
    if len(names) > most:
        return ", ".join(names[:most]) + f" and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# By the schema of a record.
_PAGES = {"selection": _selection, "clusters": _clusters, "k-choice": _choice}
