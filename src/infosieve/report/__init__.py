"""Reports: a result becomes a dict, the dict a page.

Records know these functions by name, and load this package when one of them is called.
"""

from infosieve._core.lazy import lazy

__getattr__, __dir__ = lazy(
    __name__,
    {
        "_relevance": ["relevance_notes"],
        "_render": ["fragment", "write"],
        "_stability": ["stability_notes"],
        "_words": ["cluster_notes", "selection_notes", "test_notes"],
    },
)
