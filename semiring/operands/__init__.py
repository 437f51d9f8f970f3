"""Matrices that users pass: one representation per file, and the table of readers."""
