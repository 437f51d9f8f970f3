"""Engines of compressed rows on a GPU."""
