"""Products of arrays, sparse matrices and packed bits, also under a mask, and the terms that win."""
