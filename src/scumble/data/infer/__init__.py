"""Inference for plain tables: which columns are labels, identifiers, dates, numbers or texts."""
