"""Results that answer questions: reachability, paths, the structure of graphs, and measures."""
