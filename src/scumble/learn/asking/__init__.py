"""Loops that ask many trees about many rows."""
