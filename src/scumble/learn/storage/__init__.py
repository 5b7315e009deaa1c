"""Fitted models in files that hold numbers and names, never code.

`save` writes a model and `load` reads it; `read_model` also returns the columns that it was fitted
on, and `predict_dataset` predicts the rows of a data set. The file is a zip archive of one JSON
text and a few plain arrays; scikit-learn's estimators are stored by skops. Nothing in it is
pickled.
"""
