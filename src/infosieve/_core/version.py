"""The version: here, so that a source tree that was never installed knows it, too."""

__version__ = "0.2.0"
