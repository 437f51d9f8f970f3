"""Graphs as people have them: vertices, edges, weights and names."""
