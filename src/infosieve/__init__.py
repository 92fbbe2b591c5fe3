"""Which columns carry information about a target, how sure that is, and which say the same."""

from typing import TYPE_CHECKING, Any

from infosieve._lazy import lazy

if TYPE_CHECKING:
    from infosieve import datasets, estimate, plots
    from infosieve.clustering import FeatureClustering, false_neighbors
    from infosieve.columns import ColumnSource, open_columns
    from infosieve.curves import CurveFeatures
    from infosieve.estimate import entropy, mutual_information, relevance
    from infosieve.results import ClusterResult, KChoice, PermutationTest, SelectionResult, Step
    from infosieve.selector import MISelector
    from infosieve.significance import permutation_test
    from infosieve.smoothing import choose_k

__all__ = [
    "ClusterResult",
    "ColumnSource",
    "CurveFeatures",
    "FeatureClustering",
    "KChoice",
    "MISelector",
    "PermutationTest",
    "SelectionResult",
    "Step",
    "choose_k",
    "datasets",
    "entropy",
    "estimate",
    "false_neighbors",
    "mutual_information",
    "open_columns",
    "permutation_test",
    "plots",
    "relevance",
]

# A module is imported when a name of its is first used: the command answers at once.
_get, __dir__ = lazy(
    __name__,
    {
        "ClusterResult": "results",
        "ColumnSource": "columns",
        "CurveFeatures": "curves",
        "FeatureClustering": "clustering",
        "KChoice": "results",
        "MISelector": "selector",
        "PermutationTest": "results",
        "SelectionResult": "results",
        "Step": "results",
        "choose_k": "smoothing",
        "datasets": "datasets",
        "entropy": "estimate",
        "estimate": "estimate",
        "false_neighbors": "clustering",
        "mutual_information": "estimate",
        "open_columns": "columns",
        "permutation_test": "significance",
        "plots": "plots",
        "relevance": "estimate",
    },
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("infosieve")
    return _get(name)
