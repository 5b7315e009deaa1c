"""Splitters, folds, cross-validation and splits into training and test rows."""
