"""The algorithms that this library goes back to, each as its authors describe it."""
