"""Checks of what users pass in: labels, features, frames, categorical columns, label parents."""
