"""Learning from features and labels: C4.5 trees, and the multilabel classifiers on top of them."""

from scumble.learn.base import BaseMultilabelClassifier, BaseRanker
from scumble.learn.classifier_tags import ClassifierTags
from scumble.learn.make_and_fit import (
    fit_dataset,
    make_classifier,
)
from scumble.learn.neighbours.brknn import BRkNN
from scumble.learn.neighbours.iblr import IBLR
from scumble.learn.neighbours.mlknn import MLkNN
from scumble.learn.rankers.bagged_trees import BaggedTrees
from scumble.learn.rankers.blended_ranker import BlendedRanker
from scumble.learn.rankers.neighbour_ranker import NeighbourRanker
from scumble.learn.rankers.ridge import RidgeRanker
from scumble.learn.rare_label_classifier import RareLabelClassifier
from scumble.learn.storage.files import (
    StoredModel,
    load,
    read_model,
    save,
)
from scumble.learn.storage.model_predictions import ModelPredictions, predict_dataset
from scumble.learn.texts import TextColumns, TextModel
from scumble.learn.thresholded_classifier import ThresholdedClassifier
from scumble.learn.thresholds.selection import (
    ThresholdCurve,
    label_thresholds,
    threshold_curves,
)
from scumble.learn.thresholds.tables import (
    ThresholdTable,
    threshold_table,
)
from scumble.learn.transformation.binary_relevance import BinaryRelevance
from scumble.learn.transformation.calibrated_label_ranking import CalibratedLabelRanking
from scumble.learn.transformation.chains import (
    ClassifierChain,
    EnsembleOfClassifierChains,
)
from scumble.learn.transformation.cocoa import COCOA
from scumble.learn.transformation.eccru import ECCRU
from scumble.learn.transformation.homer import HOMER
from scumble.learn.transformation.label_powerset import LabelPowerset
from scumble.learn.transformation.pruned_sets import (
    EnsembleOfPrunedSets,
    PrunedSets,
)
from scumble.learn.transformation.rakel import RAkEL
from scumble.learn.transformation.resampled_ensemble import ResampledEnsemble
from scumble.learn.transformation.stacking import StackedBinaryRelevance
from scumble.learn.trees.c45 import C45Classifier
from scumble.learn.trees.export import export_text

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
    "ClassifierTags",
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
