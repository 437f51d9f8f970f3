"""Graphs from files, and matrices to files: one reader a format."""
