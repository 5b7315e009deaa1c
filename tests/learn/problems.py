"""Problems that several tests learn from."""

import numpy as np


def problem(seed=0, n=60, n_labels=4, *, n_features=4, decimals=1, above=1.0):
    """Labels that hang on all columns, and on chance; the larger ``above``, the rarer they are."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, n_features)), decimals)
    weights = rng.normal(size=(n_features, n_labels))
    return X, (X @ weights + rng.normal(size=(n, n_labels)) > above).astype(int)
