"""Who spreads batches over workers. No mathematics lives here."""
