"""Which columns carry information about a target, how sure that is, and which are redundant."""

from typing import TYPE_CHECKING, Any

from infosieve._core.lazy import lazy, provide_report
from infosieve._core.version import __version__

if TYPE_CHECKING:
    from infosieve import datasets, estimators, plots
    from infosieve._executors import WorkersLostError
    from infosieve._sources import ColumnSource, open_columns
    from infosieve.clustering import FeatureClustering, false_neighbors
    from infosieve.curves import CurveFeatures
    from infosieve.estimators import choose_k, entropy, mutual_information, relevance
    from infosieve.examination import Examination, examine
    from infosieve.results import (
        Alternative,
        ClusterResult,
        CVScores,
        KChoice,
        PermutationTest,
        RelevanceTest,
        Remaining,
        SelectionResult,
        Stability,
        Step,
    )
    from infosieve.selection import MISelector, stability
    from infosieve.significance import permutation_test, relevance_test

__all__ = [
    "Alternative",
    "CVScores",
    "ClusterResult",
    "ColumnSource",
    "CurveFeatures",
    "Examination",
    "FeatureClustering",
    "KChoice",
    "MISelector",
    "PermutationTest",
    "RelevanceTest",
    "Remaining",
    "SelectionResult",
    "Stability",
    "Step",
    "WorkersLostError",
    "__version__",
    "choose_k",
    "datasets",
    "entropy",
    "estimators",
    "examine",
    "false_neighbors",
    "mutual_information",
    "open_columns",
    "permutation_test",
    "plots",
    "relevance",
    "relevance_test",
    "stability",
]

# A package is imported when a name of its is first used: the command answers at once.
__getattr__, __dir__ = lazy(
    __name__,
    {
        "_executors": ["WorkersLostError"],
        "_sources": ["ColumnSource", "open_columns"],
        "clustering": ["FeatureClustering", "false_neighbors"],
        "curves": ["CurveFeatures"],
        "datasets": [],
        "estimators": ["choose_k", "entropy", "mutual_information", "relevance"],
        "examination": ["Examination", "examine"],
        "plots": [],
        "results": [
            "Alternative",
            "CVScores",
            "ClusterResult",
            "KChoice",
            "PermutationTest",
            "RelevanceTest",
            "Remaining",
            "SelectionResult",
            "Stability",
            "Step",
        ],
        "selection": ["MISelector", "stability"],
        "significance": ["permutation_test", "relevance_test"],
    },
)


def _report() -> Any:
    from infosieve.report import _render

    return _render


provide_report(_report)
