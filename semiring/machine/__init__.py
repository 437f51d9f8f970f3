"""What the machine has, and what a person sees while it works: memory, threads, progress."""
