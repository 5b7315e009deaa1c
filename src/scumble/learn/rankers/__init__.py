"""Rankers: classifiers with out-of-sample scores that rank the rows of every label."""
