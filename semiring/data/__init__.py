"""Data sets that the demo and the tests read."""
