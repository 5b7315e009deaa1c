"""Trees of random problems are those of the kernels that were compared with J48 first.

Numbers and values, dense and sparse, missing values, weights, bootstraps, two to forty classes,
rows and columns left out, all settings: every way through the grower and the pruner.
"""

from pathlib import Path

from scumble.learn.trees import c45
from tests.learn.random_problems import names

EXPECTED = Path(__file__).with_name("random_problems.txt")


def test_trees_of_900_random_problems():
    expected = EXPECTED.read_text().splitlines()
    found = list(names(len(expected), c45))
    assert len(expected) == 900
    assert [seed for seed in range(900) if found[seed] != expected[seed]] == []
