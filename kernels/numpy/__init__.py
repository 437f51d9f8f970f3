"""An engine without a compiler: the expressions of an algebra, computed by NumPy. It answers at once, everywhere."""
