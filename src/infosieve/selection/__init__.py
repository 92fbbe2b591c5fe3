"""Feature selection: which columns, in which order, and how sure that is."""

from infosieve.selection._selector import MISelector

__all__ = ["MISelector"]
