"""Closures, equations and factors of arrays, on the host and on a GPU."""
