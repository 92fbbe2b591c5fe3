"""Permutation tests: is what columns tell more than chance?"""

from infosieve.significance._permutation_test import permutation_test

__all__ = ["permutation_test"]
