"""Decision thresholds per label, chosen from scores, and tables of them."""
