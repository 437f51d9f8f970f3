"""Schedules: each file is one closure algorithm, written against the kernel interface and blind to the algebra."""
