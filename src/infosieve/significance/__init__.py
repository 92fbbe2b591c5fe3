"""Permutation tests: are columns informative about the target, given others?"""

from infosieve.significance._permutation_test import permutation_test

__all__ = ["permutation_test"]
