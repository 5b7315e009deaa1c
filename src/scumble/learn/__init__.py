"""Learning from features and labels: C4.5 trees, and the multilabel classifiers on top of them."""

from scumble._core import exports
from scumble.learn.bagged_trees import BaggedTrees as BaggedTrees
from scumble.learn.base import BaseMultilabelClassifier as BaseMultilabelClassifier
from scumble.learn.binary_relevance import BinaryRelevance as BinaryRelevance
from scumble.learn.blended import BlendedRanker as BlendedRanker
from scumble.learn.brknn import BRkNN as BRkNN
from scumble.learn.c45 import C45Classifier as C45Classifier
from scumble.learn.calibrated_label_ranking import CalibratedLabelRanking as CalibratedLabelRanking
from scumble.learn.chains import (
    ClassifierChain as ClassifierChain,
    EnsembleOfClassifierChains as EnsembleOfClassifierChains,
)
from scumble.learn.chosen_thresholds import (
    ThresholdTable as ThresholdTable,
    threshold_table as threshold_table,
)
from scumble.learn.cocoa import COCOA as COCOA
from scumble.learn.eccru import ECCRU as ECCRU
from scumble.learn.export import export_text as export_text
from scumble.learn.homer import HOMER as HOMER
from scumble.learn.iblr import IBLR as IBLR
from scumble.learn.label_powerset import LabelPowerset as LabelPowerset
from scumble.learn.make_and_fit import (
    fit_dataset as fit_dataset,
    make_classifier as make_classifier,
)
from scumble.learn.mlknn import MLkNN as MLkNN
from scumble.learn.neighbour_ranker import NeighbourRanker as NeighbourRanker
from scumble.learn.pruned_sets import (
    EnsembleOfPrunedSets as EnsembleOfPrunedSets,
    PrunedSets as PrunedSets,
)
from scumble.learn.rakel import RAkEL as RAkEL
from scumble.learn.rare import RareLabelClassifier as RareLabelClassifier
from scumble.learn.resampled import ResampledEnsemble as ResampledEnsemble
from scumble.learn.ridge import RidgeRanker as RidgeRanker
from scumble.learn.stacking import StackedBinaryRelevance as StackedBinaryRelevance
from scumble.learn.storage.answers import Answers as Answers, ask as ask
from scumble.learn.storage.files import (
    StoredModel as StoredModel,
    load as load,
    read_model as read_model,
    save as save,
)
from scumble.learn.texts import TextColumns as TextColumns, TextModel as TextModel
from scumble.learn.thresholded import ThresholdedClassifier as ThresholdedClassifier
from scumble.learn.thresholds import (
    ThresholdCurve as ThresholdCurve,
    label_thresholds as label_thresholds,
    threshold_curves as threshold_curves,
)

exports.publish(globals())
