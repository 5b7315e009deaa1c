"""The measures as one would write them with pencil and paper: dense, slow, obvious."""

import math
from collections import Counter

import numpy as np


def irlbl(Y):
    counts = np.asarray(Y).sum(axis=0)
    return [max(counts) / c if c else math.nan for c in counts]


def scumble_by_instance(Y):
    ratios = irlbl(Y)
    scores = []
    for row in np.asarray(Y):
        active = [r for r, present in zip(ratios, row, strict=True) if present]
        if len(active) < 2:
            scores.append(0.0)
            continue
        geometric = math.exp(sum(math.log(r) for r in active) / len(active))
        scores.append(1 - geometric / (sum(active) / len(active)))
    return scores


def scumble_by_label(Y):
    scores = scumble_by_instance(Y)
    return [
        np.mean([s for s, row in zip(scores, Y, strict=True) if row[label]])
        if any(row[label] for row in Y)
        else math.nan
        for label in range(np.asarray(Y).shape[1])
    ]


def labelsets(Y):
    return Counter(tuple(int(cell) for cell in row) for row in np.asarray(Y))
