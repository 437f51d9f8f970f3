"""Multiply-add and small-block closure for an algebra, a dtype and a device; knows no algorithm."""
