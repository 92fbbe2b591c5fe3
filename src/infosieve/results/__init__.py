"""What functions and estimators return: frozen records that turn into tables, JSON and reports."""

from infosieve._core.provenance import Excerpt, Provenance
from infosieve.results._choice import KChoice
from infosieve.results._clusters import ClusterResult
from infosieve.results._cv_scores import CVScores
from infosieve.results._relevance_test import RelevanceTest
from infosieve.results._selection import Alternative, Remaining, SelectionResult, Step
from infosieve.results._stability import Stability
from infosieve.results._tests import PermutationTest

__all__ = [
    "Alternative",
    "CVScores",
    "ClusterResult",
    "Excerpt",
    "KChoice",
    "PermutationTest",
    "Provenance",
    "RelevanceTest",
    "Remaining",
    "SelectionResult",
    "Stability",
    "Step",
]
