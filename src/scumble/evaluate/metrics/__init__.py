"""Metrics of predictions and scores, the counts they are computed from, and label groups."""
