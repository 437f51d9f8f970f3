"""Products of sequences of matrices: `chain`, `scan` and `forward`."""
