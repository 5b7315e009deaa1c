"""Classifiers that decide by the labels of the nearest rows: MLkNN, IBLR and BRkNN."""
