"""An algebra: expressions, laws, dtypes, the `Semiring` class, and the catalogue."""
