"""Which columns carry information about a target, how sure that is, and which say the same."""

from importlib.metadata import version

from infosieve import estimate
from infosieve.estimate import entropy, mutual_information, relevance

__version__ = version("infosieve")
__all__ = ["entropy", "estimate", "mutual_information", "relevance"]
