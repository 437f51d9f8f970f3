"""Engines of arrays on the CPU."""
