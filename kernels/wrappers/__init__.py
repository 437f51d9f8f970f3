"""Engines around an engine."""
