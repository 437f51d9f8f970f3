"""Engines of packed truth values on a GPU."""
