"""Sums and products along axes, and their prefixes."""
