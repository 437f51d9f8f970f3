"""Engines of arrays on a GPU."""
