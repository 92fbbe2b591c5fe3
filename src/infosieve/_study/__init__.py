"""A table that was opened once, and all that questions about it share."""
