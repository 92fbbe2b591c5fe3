"""Reports: a result becomes facts, and templates turn these into words."""
