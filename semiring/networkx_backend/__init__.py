"""NetworkX's functions computed by this library: the backend that `backend="semiring"` selects."""
