"""Learning from features and labels: C4.5 trees, and the multilabel classifiers on top of them."""

from scumble.learn.base import BaseMultilabelClassifier
from scumble.learn.binary_relevance import BinaryRelevance
from scumble.learn.c45 import C45Classifier
from scumble.learn.export import export_text

__all__ = ["BaseMultilabelClassifier", "BinaryRelevance", "C45Classifier", "export_text"]
