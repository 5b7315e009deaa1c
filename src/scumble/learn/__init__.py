"""Learning from features and labels: C4.5 trees, and the multilabel classifiers on top of them."""

from scumble.learn.bagged_trees import BaggedTrees
from scumble.learn.base import BaseMultilabelClassifier, BaseRanker
from scumble.learn.binary_relevance import BinaryRelevance
from scumble.learn.blended_ranker import BlendedRanker
from scumble.learn.brknn import BRkNN
from scumble.learn.c45 import C45Classifier
from scumble.learn.calibrated_label_ranking import CalibratedLabelRanking
from scumble.learn.chains import (
    ClassifierChain,
    EnsembleOfClassifierChains,
)
from scumble.learn.cocoa import COCOA
from scumble.learn.eccru import ECCRU
from scumble.learn.export import export_text
from scumble.learn.homer import HOMER
from scumble.learn.iblr import IBLR
from scumble.learn.label_powerset import LabelPowerset
from scumble.learn.make_and_fit import (
    fit_dataset,
    make_classifier,
)
from scumble.learn.mlknn import MLkNN
from scumble.learn.neighbour_ranker import NeighbourRanker
from scumble.learn.pruned_sets import (
    EnsembleOfPrunedSets,
    PrunedSets,
)
from scumble.learn.rakel import RAkEL
from scumble.learn.rare import RareLabelClassifier
from scumble.learn.resampled_ensemble import ResampledEnsemble
from scumble.learn.ridge import RidgeRanker
from scumble.learn.stacking import StackedBinaryRelevance
from scumble.learn.storage.files import (
    StoredModel,
    load,
    read_model,
    save,
)
from scumble.learn.storage.model_predictions import ModelPredictions, predict_dataset
from scumble.learn.texts import TextColumns, TextModel
from scumble.learn.threshold_tables import (
    ThresholdTable,
    threshold_table,
)
from scumble.learn.thresholded_classifier import ThresholdedClassifier
from scumble.learn.thresholds import (
    ThresholdCurve,
    label_thresholds,
    threshold_curves,
)

__all__ = [
    "COCOA",
    "ECCRU",
    "HOMER",
    "IBLR",
    "BRkNN",
    "BaggedTrees",
    "BaseMultilabelClassifier",
    "BaseRanker",
    "BinaryRelevance",
    "BlendedRanker",
    "C45Classifier",
    "CalibratedLabelRanking",
    "ClassifierChain",
    "EnsembleOfClassifierChains",
    "EnsembleOfPrunedSets",
    "LabelPowerset",
    "MLkNN",
    "ModelPredictions",
    "NeighbourRanker",
    "PrunedSets",
    "RAkEL",
    "RareLabelClassifier",
    "ResampledEnsemble",
    "RidgeRanker",
    "StackedBinaryRelevance",
    "StoredModel",
    "TextColumns",
    "TextModel",
    "ThresholdCurve",
    "ThresholdTable",
    "ThresholdedClassifier",
    "export_text",
    "fit_dataset",
    "label_thresholds",
    "load",
    "make_classifier",
    "predict_dataset",
    "read_model",
    "save",
    "threshold_curves",
    "threshold_table",
]
