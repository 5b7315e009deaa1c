"""Ask an installed scumble a few questions whose answers are known; run after building a wheel."""

from __future__ import annotations

import sys

import scumble
from scumble.evaluate import cross_validate
from scumble.learn import BinaryRelevance
from scumble.resample import REMEDIAL


def main() -> int:
    """Compare answers with known ones; any difference is an exit status of 1."""
    data = scumble.load("debtags")
    before = scumble.characterize(data).scumble
    X, Y = REMEDIAL().fit_resample(data.X, data.Y)
    # Which of two labels a row has follows from its only feature.
    rows = scumble.MultilabelDataset(
        [[at % 2] for at in range(40)], [["odd" if at % 2 else "even"] for at in range(40)]
    )
    result = cross_validate(rows, BinaryRelevance(), random_state=1)
    found = {
        "SCUMBLE of debtags": (round(before, 4), 0.3749),
        "SCUMBLE after REMEDIAL": (round(scumble.characterize(Y).scumble, 3), 0.227),
        "rows after REMEDIAL": (X.shape[0], 7492),
        "Hamming loss of what can be learned": (result["hamming_loss"].mean, 0.0),
    }
    for name, (got, expected) in found.items():
        print(f"{name}: {got}, expected {expected}")
    return int(any(got != expected for got, expected in found.values()))


if __name__ == "__main__":
    sys.exit(main())
