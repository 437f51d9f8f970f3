"""Sparse matrices and graphs: elimination on their structure, and what fills in nothing."""
