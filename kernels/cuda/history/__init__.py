"""Kernels of the algorithms that this library goes back to, as their authors cut the work."""
