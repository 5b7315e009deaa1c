"""Problem transformations: multilabel learning by one model per label, labelset or pair."""
