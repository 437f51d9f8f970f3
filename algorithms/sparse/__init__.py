"""Elimination on sparse structure: a fill-reducing order, its symbolic analysis, its costs; transitive reductions."""
