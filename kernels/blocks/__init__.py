"""Blocks that are no arrays: packed bits, bit planes, compressed rows."""
