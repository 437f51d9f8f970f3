"""Products of arrays, sparse matrices and packed bits; of which a mask says what is wanted, and which terms win."""
