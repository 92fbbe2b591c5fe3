"""Reports: a result becomes a dict, the dict a page."""
