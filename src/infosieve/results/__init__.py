"""What functions and estimators return: frozen records."""

from infosieve.results._records import (
    ClusterResult,
    Excerpt,
    KChoice,
    PermutationTest,
    Provenance,
    SelectionResult,
    Step,
)

__all__ = [
    "ClusterResult",
    "Excerpt",
    "KChoice",
    "PermutationTest",
    "Provenance",
    "SelectionResult",
    "Step",
]
