"""Closures of matrices that do not fit in memory: a recorded program of tile operations, planned, then executed."""
