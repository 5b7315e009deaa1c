"""Check a few results of an installed scumble; run after building a wheel."""

from __future__ import annotations

import sys

import scumble
from scumble.evaluate import cross_validate
from scumble.learn import BinaryRelevance
from scumble.resample import REMEDIAL


def main() -> int:
    """Compare results with expected ones; return 1 as the exit status if any differs."""
    data = scumble.load("debtags")
    before = scumble.characterize(data).scumble
    X, Y = REMEDIAL().fit_resample(data.X, data.Y)
    # The only feature determines which of two labels a row has.
    parities = [number % 2 for number in range(40)]
    separable = scumble.MultilabelDataset(
        [[parity] for parity in parities], [["odd" if parity else "even"] for parity in parities]
    )
    result = cross_validate(separable, BinaryRelevance(), random_state=1)
    results = {
        "SCUMBLE of debtags": (round(before, 4), 0.3749),
        "SCUMBLE after REMEDIAL": (round(scumble.characterize(Y).scumble, 3), 0.227),
        "rows after REMEDIAL": (X.shape[0], 7492),
        "Hamming loss on separable data": (result["hamming_loss"].mean, 0.0),
    }
    for name, (value, expected) in results.items():
        print(f"{name}: {value}, expected {expected}")
    return int(any(value != expected for value, expected in results.values()))


if __name__ == "__main__":
    sys.exit(main())
