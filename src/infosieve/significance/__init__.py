"""Permutation tests: are columns informative about the target, given others, or by themselves?"""

from infosieve.significance._permutation_test import permutation_test
from infosieve.significance._relevance_test import relevance_test

__all__ = ["permutation_test", "relevance_test"]
