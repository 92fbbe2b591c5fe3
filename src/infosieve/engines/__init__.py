"""Where a batch of candidates is scored."""
