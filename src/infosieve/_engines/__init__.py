"""Where batches are scored."""
