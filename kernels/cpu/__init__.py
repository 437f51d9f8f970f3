"""The CPU engine: Numba templates, packed Boolean words, Python objects."""
