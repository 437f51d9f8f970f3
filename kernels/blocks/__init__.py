"""Blocks that are not arrays: packed bits, bit planes, compressed rows."""
