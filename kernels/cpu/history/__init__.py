"""Engines as plain as the programs that were published: loops on the matrix where it lies, on one core."""
