"""Which columns carry information about a target, how sure that is, and which say the same."""

from importlib.metadata import version

from infosieve import datasets, estimate
from infosieve.clustering import FeatureClustering, false_neighbors
from infosieve.curves import CurveFeatures
from infosieve.estimate import entropy, mutual_information, relevance
from infosieve.results import ClusterResult, KChoice, PermutationTest, SelectionResult, Step
from infosieve.selector import MISelector
from infosieve.significance import permutation_test
from infosieve.smoothing import choose_k

__version__ = version("infosieve")
__all__ = [
    "ClusterResult",
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
    "permutation_test",
    "relevance",
]
