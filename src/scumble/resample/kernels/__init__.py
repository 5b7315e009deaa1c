"""Compiled loops of the resamplers."""
