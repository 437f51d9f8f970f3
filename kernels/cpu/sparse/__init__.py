"""Engines of compressed rows and fronts on the CPU."""
