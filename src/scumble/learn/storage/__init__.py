"""Fitted models as files that hold numbers and names, never code.

`save` writes a model, `load` reads it back, `read_model` also tells which columns it was fitted
on, and `ask` has it judge the rows of a data set. The file is a zip archive of one JSON text and
a few plain arrays; scikit-learn's estimators go through skops. Nothing in it is pickled.
"""
