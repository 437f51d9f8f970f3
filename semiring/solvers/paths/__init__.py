"""Best walks and paths: searches, trees, single paths, measures over all pairs."""
