"""Candidates scored: the measure, categories, jobs for executors."""
