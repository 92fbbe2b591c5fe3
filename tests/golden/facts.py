"""What golden records are about: facts of results, by the names of the public interface.

A field of a record that is renamed is renamed in FIELDS, and nowhere else in this folder. Fields
that are not listed (sentences, versions, times, parameters) are not looked at, nor are new ones.
"""

import hashlib
import json
import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

# Digits of a number that count: what the last ones are depends on the CPU's linear algebra.
DIGITS = 10
FIELDS = {
    "Provenance": ["data", "n_samples", "seed", "n_left_out", "by_changes", "by_order"],
    "Excerpt": ["rows", "features", "target"],
    "Step": [
        "action", "features", "mi", "gain", "n_candidates", "n_screened", "p_value",
        "early_stopped", "level", "exceedances", "n_permutations", "null", "singletons",
        "sequential", "gap_gain", "follows", "weaker", "lower_limit", "null_quantiles",
        "significant",
    ],
    "Alternative": [
        "feature", "stand_in", "information", "in_place", "p_value", "without", "remaining",
        "share",
    ],
    "CVScores": [
        "criterion", "sizes", "scores", "all_columns", "order", "fold_orders", "n_chosen",
        "scoring", "others", "mean", "standard_error", "best", "best_score", "without",
        "model_name",
    ],
    "KChoice": ["k", "feature", "features", "ks", "t", "mi", "mi_permuted", "provenance"],
    "SelectionResult": [
        "selected", "features", "steps", "relevance", "n_neighbors", "n_parts",
        "n_samples_used", "duplicates", "constant", "identifiers", "missing", "k_choice",
        "alternatives", "cv_scores", "excerpt", "criterion", "corrected", "provenance",
    ],
    "Followed": ["columns", "null", "observed", "weaker"],
    "PermutationTest": [
        "candidates", "observed", "null", "correction", "given", "alpha", "early_stopped",
        "n_permutations_asked", "device", "sequential", "n_candidates", "n_parts",
        "n_samples_used", "followed", "lower_limit", "n_permutations", "permutations_used",
        "exceedances", "p_values", "p_value", "provenance",
    ],
    "RelevanceTest": [
        "features", "statistic", "alpha", "exceedances", "n_draws", "n_draws_asked", "shared",
        "chance", "device", "n_parts", "n_samples_used", "tested", "p_values", "q_values",
        "relevant", "smallest_p", "n_needed", "provenance",
    ],
    "Stability": [
        "features", "chosen", "n_pairs", "n_halves", "n_samples", "n_selected_mean",
        "frequencies", "sets", "index", "index_interval", "provenance",
    ],
    "ClusterResult": [
        "features", "clusters", "labels", "medoids", "children", "similarities", "duplicates",
        "cv_results", "members", "n_clusters_range", "decided", "linkage_matrix",
        "node_clusters", "provenance",
    ],
}  # fmt: skip
# What a person sees of a case whose record has changed, beside the names of the parts.
SEEN = ["status", "selected", "steps", "observed", "p_values", "statistic", "relevant", "chosen",
        "labels", "k", "value", "values", "columns", "written"]  # fmt: skip


def facts_of(record):
    """The fields of a record."""
    return {name: getattr(record, name) for name in FIELDS[type(record).__name__]}


def facts_of_selector(selector):
    """The record of a fitted selector, and what the selector itself says."""
    return facts_of(selector.result_) | {
        "support_": selector.support_,
        "selected_": selector.selected_,
        "relevance_": selector.relevance_,
        "n_neighbors_": selector.n_neighbors_,
        "duplicates_": selector.duplicates_,
        "names out": selector.get_feature_names_out(),
        "path_": selector.path_,
    }


def plain(value, digits=DIGITS):
    """A fact as JSON holds it; digits=None: numbers with all of their bits."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if digits is None or not math.isfinite(value):
            return value.hex()
        # Small differences of large numbers have fewer digits that mean something.
        return f"{round(value, digits + 2) + 0.0:.{digits}g}"
    if isinstance(value, (pd.DataFrame, pd.Series)):
        columns = list(value.columns) if isinstance(value, pd.DataFrame) else [value.name]
        return {"columns": [str(name) for name in columns], "rows": len(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(part, digits) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(part, digits) for part in value]
    return plain(facts_of(value), digits)


def digest(value):
    """A short hash of what JSON holds."""
    text = json.dumps(value, sort_keys=True, allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def record_of(facts):
    """What is kept of a case: hashes, and what a person can read."""
    parts = {name: digest(plain(fact)) for name, fact in facts.items()}
    return {
        "hash": digest(parts),
        "all bits": digest({name: plain(fact, None) for name, fact in facts.items()}),
        "seen": {name: _seen(facts[name]) for name in SEEN if name in facts},
        "parts": parts,
    }


def _seen(fact):
    """The beginning of a fact, with few digits."""
    if type(fact).__name__ == "Step":
        text = f"{fact.action} {list(fact.features)}, gain {fact.gain:.5g}"
        if fact.p_value is None:
            return text
        return f"{text}, p {fact.p_value:.5g} ({fact.exceedances} of {fact.n_permutations})"
    if isinstance(fact, Mapping):
        return {str(key): _seen(part) for key, part in list(fact.items())[:40]}
    if isinstance(fact, (list, tuple, np.ndarray)):
        return [_seen(part) for part in list(fact)[:6]]
    return plain(fact, 5)
