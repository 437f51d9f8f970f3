"""Algebras and schedules as pages that people step through."""
