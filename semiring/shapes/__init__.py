"""The same ⊕ and ⊗ in other shapes than products of two matrices and closures: sums, einsum, scans, convolutions."""
