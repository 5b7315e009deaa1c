"""Scores, splitters, cross-validation. Nothing is here yet."""
