"""NetworkX's functions with this library behind them: what NetworkX loads when a call has `backend="semiring"`."""
