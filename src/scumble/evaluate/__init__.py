"""Judge predictions: metrics, splitters, cross-validation."""

from scumble._core import exports
from scumble.evaluate.bipartition_metrics import (
    accuracy as accuracy,
    f1 as f1,
    hamming_loss as hamming_loss,
    hierarchical_loss as hierarchical_loss,
    macro_balanced_accuracy as macro_balanced_accuracy,
    macro_f1 as macro_f1,
    macro_g_mean as macro_g_mean,
    macro_precision as macro_precision,
    macro_recall as macro_recall,
    macro_specificity as macro_specificity,
    micro_f1 as micro_f1,
    micro_precision as micro_precision,
    micro_recall as micro_recall,
    micro_specificity as micro_specificity,
    never_predicted as never_predicted,
    precision as precision,
    recall as recall,
    specificity as specificity,
    subset_accuracy as subset_accuracy,
)
from scumble.evaluate.comparison import (
    Comparison as Comparison,
    Difference as Difference,
    Trial as Trial,
    compare as compare,
)
from scumble.evaluate.counts import Confusion as Confusion, Counts as Counts, confusion as confusion
from scumble.evaluate.cross_validation import (
    CrossValidation as CrossValidation,
    FoldResult as FoldResult,
    Spread as Spread,
    cross_validate as cross_validate,
)
from scumble.evaluate.evaluation import (
    Evaluation as Evaluation,
    Scorer as Scorer,
    evaluate as evaluate,
    scorer as scorer,
)
from scumble.evaluate.folds import (
    Fold as Fold,
    LabelCounts as LabelCounts,
    pool as pool,
    run_fold as run_fold,
)
from scumble.evaluate.groups import (
    find_metric as find_metric,
    label_groups as label_groups,
    metric_names as metric_names,
)
from scumble.evaluate.metric import (
    Metric as Metric,
    bipartition_metric as bipartition_metric,
    probability_metric as probability_metric,
    ranking_metric as ranking_metric,
)
from scumble.evaluate.ranking_metrics import (
    average_precision as average_precision,
    coverage as coverage,
    error_set_size as error_set_size,
    example_auc as example_auc,
    geometric_mean_average_interpolated_precision as geometric_mean_average_interpolated_precision,
    geometric_mean_average_precision as geometric_mean_average_precision,
    is_error as is_error,
    log_loss as log_loss,
    macro_auc as macro_auc,
    macro_auc_pr as macro_auc_pr,
    mean_average_interpolated_precision as mean_average_interpolated_precision,
    mean_average_precision as mean_average_precision,
    mean_squared_error as mean_squared_error,
    micro_auc as micro_auc,
    one_error as one_error,
    ranking_loss as ranking_loss,
)
from scumble.evaluate.splitters import (
    BaseSplitter as BaseSplitter,
    FixedFolds as FixedFolds,
    IterativeStratification as IterativeStratification,
    LabelsetStratification as LabelsetStratification,
    MulanKFold as MulanKFold,
    RepeatedKFold as RepeatedKFold,
    make_splitter as make_splitter,
    write_folds as write_folds,
)
from scumble.evaluate.train_test import train_test_split as train_test_split

exports.publish(globals())
