"""Compiled kernels of the resamplers."""
