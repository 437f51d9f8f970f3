"""Ways to compute a task, one a file: what it would cost, and doing it."""
