"""Ways to compute a task, one a file: what it would cost, doing it, and the factors that elimination leaves."""
