"""Matrices beyond one memory: from file to file, through a GPU, several GPUs, several processes."""
