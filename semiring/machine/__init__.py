"""The machine and the terminal: memory, threads, progress reports."""
