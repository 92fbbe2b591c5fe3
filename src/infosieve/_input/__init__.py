"""From what users pass to prepared columns: read, checked, scaled, ties broken."""
