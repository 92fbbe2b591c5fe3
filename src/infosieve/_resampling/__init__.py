"""Random numbers, folds, permutations and surrogates."""
