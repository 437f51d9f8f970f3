"""Elimination on sparse structure: a fill-reducing order, its symbolic analysis, and what it will cost."""
