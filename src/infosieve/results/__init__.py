"""What functions and estimators return: frozen records."""

from infosieve.results._records import (
    ClusterResult,
    Excerpt,
    KChoice,
    Origin,
    PermutationTest,
    SelectionResult,
    Step,
)

__all__ = [
    "ClusterResult",
    "Excerpt",
    "KChoice",
    "Origin",
    "PermutationTest",
    "SelectionResult",
    "Step",
]
