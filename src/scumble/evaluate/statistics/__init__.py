"""Tests and tallies that compare methods over data sets.

Every function takes plain numbers, or a store or table of results as `score_table` reads it, and
returns a small frozen record, so that the same test serves an experiment, the paper's tables and a
user's own notebook.
"""

from scumble._core import exports
from scumble.evaluate.statistics.pairs import (
    BayesianResult as BayesianResult,
    EffectSizes as EffectSizes,
    FoldDifference as FoldDifference,
    PearsonResult as PearsonResult,
    WilcoxonResult as WilcoxonResult,
    WinTieLoss as WinTieLoss,
    bayesian_signed_rank as bayesian_signed_rank,
    corrected_t_test as corrected_t_test,
    effect_sizes as effect_sizes,
    pearson as pearson,
    wilcoxon as wilcoxon,
    win_tie_loss as win_tie_loss,
)
from scumble.evaluate.statistics.ranks import (
    FriedmanResult as FriedmanResult,
    NemenyiResult as NemenyiResult,
    friedman as friedman,
    holm as holm,
    nemenyi as nemenyi,
)
from scumble.evaluate.statistics.score_table import (
    ScoreTable as ScoreTable,
    score_table as score_table,
)

exports.publish(globals())
