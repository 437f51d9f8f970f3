"""Graphs from files, and matrices to files: each format in a module."""
