"""`einsum`: sums of products of arrays with named axes."""
