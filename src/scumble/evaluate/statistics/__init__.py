"""Statistical tests, effect sizes and counts that compare methods over data sets.

Every function takes numbers, or a store or table of results as `score_table` reads it, and returns
a frozen record. So the same test serves an experiment, the tables of the paper and a notebook.
"""

from scumble.evaluate.statistics.pairs import (
    BayesianResult,
    EffectSizes,
    FoldDifference,
    PearsonResult,
    WilcoxonResult,
    WinTieLoss,
    bayesian_signed_rank,
    corrected_t_test,
    effect_sizes,
    pearson,
    wilcoxon,
    win_tie_loss,
)
from scumble.evaluate.statistics.ranks import (
    FriedmanResult,
    NemenyiResult,
    friedman,
    holm,
    nemenyi,
)
from scumble.evaluate.statistics.score_table import (
    ScoreTable,
    score_table,
)

__all__ = [
    "BayesianResult",
    "EffectSizes",
    "FoldDifference",
    "FriedmanResult",
    "NemenyiResult",
    "PearsonResult",
    "ScoreTable",
    "WilcoxonResult",
    "WinTieLoss",
    "bayesian_signed_rank",
    "corrected_t_test",
    "effect_sizes",
    "friedman",
    "holm",
    "nemenyi",
    "pearson",
    "score_table",
    "wilcoxon",
    "win_tie_loss",
]
