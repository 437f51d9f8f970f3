"""Sparse matrices and graphs: elimination on their structure, products, and what fills in nothing."""
