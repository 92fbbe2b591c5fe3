"""Feature selection: which columns, in which order, how sure that is, and would it happen again."""

from infosieve.selection._selector import MISelector
from infosieve.selection._stability import stability

__all__ = ["MISelector", "stability"]
