"""Engines of packed truth values on the CPU."""
