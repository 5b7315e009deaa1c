"""A tree as text, in the manner of WEKA."""

import math
from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from scumble._core.errors import parameter_error
from scumble.learn.c45.classifier import C45Classifier, argmax_with_tolerance
from scumble.learn.c45.tree import Tree

Names = Sequence[str] | None


def export_text(
    classifier: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    value_names: Sequence[Sequence[str] | None] | None = None,
) -> str:
    """Print a tree: a line per branch, its class and weight at the leaves.

    ``humidity <= 70: yes (6.0/1.0)`` is a leaf that six training rows reached, one of them not
    of class *yes*.

    Parameters
    ----------
    classifier : C45Classifier
        A fitted tree.
    feature_names : sequence of str, optional
        Names of the columns; by default those seen when fitting, or x0, x1, ...
    class_names : sequence of str, optional
        Names of the classes; by default the classes themselves.
    value_names : sequence, optional
        For each nominal column the names of its values, None elsewhere.

    Returns
    -------
    str
        Several lines.

    Examples
    --------
    >>> from scumble.learn import C45Classifier, export_text
    >>> tree = C45Classifier().fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
    >>> print(export_text(tree, feature_names=["size"]).splitlines()[3])
    size <= 2: a (2.0)
    """
    tree = fitted_tree(classifier, caller="export_text")
    labels = TreeLabels(classifier, feature_names, class_names, value_names)
    kind = "pruned" if classifier.prune else "unpruned"
    lines = [f"C4.5 {kind} tree", "-" * 18]
    lines.append(f": {labels.leaf_text(0)}" if tree.feature[0] < 0 else "")
    waiting = [(node, 0) for node in reversed(_children(tree, 0))]
    while waiting:
        node, depth = waiting.pop()
        line = "|   " * depth + labels.split_text(int(tree.parent[node])) + labels.branch_text(node)
        if tree.feature[node] < 0:
            line += f": {labels.leaf_text(node)}"
        lines.append(line)
        waiting.extend((child, depth + 1) for child in reversed(_children(tree, node)))
    lines += ["", f"Number of Leaves  : \t{tree.n_leaves}", ""]
    lines += [f"Size of the tree : \t{tree.n_nodes}", ""]
    return "\n".join(lines)


def fitted_tree(classifier: Any, *, caller: str) -> Tree:
    """Return the tree of a classifier that is one."""
    if not isinstance(classifier, C45Classifier):
        raise parameter_error("classifier", caller, "be a fitted C45Classifier", classifier)
    check_is_fitted(classifier)
    return classifier.tree_


class TreeLabels:
    """The words for a tree's nodes and branches, shared by text and drawing."""

    def __init__(
        self, classifier: Any, features: Names, classes: Names, values: Sequence[Names] | None
    ) -> None:
        self.tree = classifier.tree_
        self.codes = classifier._codes
        n_features = classifier.n_features_in_
        default = getattr(classifier, "feature_names_in_", [f"x{at}" for at in range(n_features)])
        self.features = _names(features, default, "feature_names")
        self.classes = _names(classes, classifier.classes_, "class_names")
        self.values = values
        self._largest = argmax_with_tolerance(self.tree.counts, 0.0)

    def split_text(self, node: int) -> str:
        """Name the column an inner node asks for."""
        return str(self.features[self.tree.feature[node]])

    def branch_text(self, node: int) -> str:
        """Name the branch that leads to a node."""
        parent = self.tree.parent[node]
        turn = int(node - self.tree.first[parent])
        cut = self.tree.cut[parent]
        if not math.isnan(cut):
            return f" {'>' if turn else '<='} {six_decimals(cut)}"
        column = self.tree.feature[parent]
        if self.values is not None and self.values[column] is not None:
            return f" = {self.values[column][turn]}"
        return f" = {self.codes.value_name(column, turn)}"

    def leaf_text(self, node: int) -> str:
        """Name the class of a leaf, its weight and the weight of other classes."""
        counts, parent = self.tree.counts[node], self.tree.parent[node]
        total = counts.sum()
        best = self._largest[parent if total <= 1e-6 and parent >= 0 else node]
        wrong = total - counts[best]
        text = f"{self.classes[best]} ({two_decimals(total)}"
        return text + (f"/{two_decimals(wrong)})" if wrong > 1e-6 else ")")


def two_decimals(value: float) -> str:
    """Round to two decimals and write as Java writes a double."""
    rounded = math.floor(value * 100 + 0.5) / 100
    if rounded < 1e7:
        return repr(float(rounded)) if rounded >= 1e-3 or rounded == 0 else f"{rounded:E}"
    digits, _, exponent = f"{rounded!r}".partition("e")
    power = math.floor(math.log10(rounded))
    if not exponent:
        plain = digits.replace(".", "").rstrip("0") or "0"
        digits = f"{plain[0]}.{plain[1:] or '0'}"
    return f"{digits}E{power}"


def six_decimals(value: float) -> str:
    """Write a cut with up to six decimals and no trailing zeros."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _names(given: Names, default: Sequence[Any], what: str) -> list[str]:
    if given is not None and len(given) != len(default):
        raise parameter_error(what, "export_text", f"have {len(default)} entries", len(given))
    return [str(name) for name in (default if given is None else given)]


def _children(tree: Any, node: int) -> list[int]:
    if tree.feature[node] < 0:
        return []
    return list(range(tree.first[node], tree.first[node] + tree.width[node]))
