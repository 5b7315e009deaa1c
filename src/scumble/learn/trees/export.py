"""C4.5 trees as text, in the form of WEKA."""

import math
from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from scumble._core.errors import parameter_error
from scumble.learn.trees.c45.classifier import C45Classifier, argmax_with_tolerance
from scumble.learn.trees.c45.tree import Tree

Names = Sequence[str] | None


def export_text(
    classifier: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    value_names: Sequence[Sequence[str] | None] | None = None,
) -> str:
    """Return a tree as text: a line per branch, with class and weight at the leaves.

    ``humidity <= 70: yes (6.0/1.0)`` is a leaf that six training rows reached, one of which is
    not of class *yes*.

    Parameters
    ----------
    classifier : C45Classifier
        A fitted tree.
    feature_names : sequence of str, optional
        Names of the columns; by default those of the training data, or x0, x1, ...
    class_names : sequence of str, optional
        Names of the classes; by default the classes themselves.
    value_names : sequence, optional
        For each column, the names of its values if it is nominal, else None.

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
    lines = [f"C4.5 {'pruned' if classifier.prune else 'unpruned'} tree", "-" * 18]
    root_is_leaf = tree.feature[0] < 0
    lines.append(f": {labels.leaf_text(0)}" if root_is_leaf else "")
    # A stack of nodes and their depths; children are pushed in reverse, so that the first is next.
    stack = [(child, 0) for child in reversed(_children(tree, 0))]
    while stack:
        node, depth = stack.pop()
        line = "|   " * depth + labels.split_text(int(tree.parent[node])) + labels.branch_text(node)
        if tree.feature[node] < 0:
            line += f": {labels.leaf_text(node)}"
        lines.append(line)
        stack.extend((child, depth + 1) for child in reversed(_children(tree, node)))
    lines += ["", f"Number of Leaves  : \t{tree.n_leaves}", ""]
    lines += [f"Size of the tree : \t{tree.n_nodes}", ""]
    return "\n".join(lines)


def fitted_tree(classifier: Any, *, caller: str) -> Tree:
    """Return the tree of a fitted C45Classifier; raise an error for anything else."""
    if not isinstance(classifier, C45Classifier):
        raise parameter_error("classifier", caller, "be a fitted C45Classifier", classifier)
    check_is_fitted(classifier)
    return classifier.tree_


class TreeLabels:
    """The texts for the nodes and branches of a tree, used by `export_text` and `plot_tree`."""

    def __init__(
        self,
        classifier: Any,
        feature_names: Names,
        class_names: Names,
        value_names: Sequence[Names] | None,
    ) -> None:
        self.tree = classifier.tree_
        self.codes = classifier._codes
        default_names = [f"x{column}" for column in range(classifier.n_features_in_)]
        default_names = getattr(classifier, "feature_names_in_", default_names)
        self.features = _check_names(feature_names, default_names, parameter="feature_names")
        self.classes = _check_names(class_names, classifier.classes_, parameter="class_names")
        self.values = value_names
        self._majority_class = argmax_with_tolerance(self.tree.counts, 0.0)

    def split_text(self, node: int) -> str:
        """Return the name of the column that a node splits on."""
        return str(self.features[self.tree.feature[node]])

    def branch_text(self, node: int) -> str:
        """Return the condition of the branch to a node, such as `` <= 70``."""
        parent = self.tree.parent[node]
        branch = int(node - self.tree.first[parent])
        cut = self.tree.cut[parent]
        if not math.isnan(cut):
            operator = "<=" if branch == 0 else ">"
            return f" {operator} {six_decimals(cut)}"
        column = self.tree.feature[parent]
        if self.values is not None and self.values[column] is not None:
            return f" = {self.values[column][branch]}"
        return f" = {self.codes.value_name(column, branch)}"

    def leaf_text(self, node: int) -> str:
        """Return the class of a leaf, its weight, and the weight of the other classes."""
        counts, parent = self.tree.counts[node], self.tree.parent[node]
        total = counts.sum()
        is_empty = total <= 1e-6 and parent >= 0
        # An empty leaf predicts the majority class of its parent.
        predicted = self._majority_class[parent if is_empty else node]
        other = total - counts[predicted]
        weights = two_decimals(total)
        if other > 1e-6:
            weights += f"/{two_decimals(other)}"
        return f"{self.classes[predicted]} ({weights})"


def two_decimals(value: float) -> str:
    """Return a number rounded to two decimals, in the form in which Java prints a double."""
    rounded = math.floor(value * 100 + 0.5) / 100
    if rounded == 0 or 1e-3 <= rounded < 1e7:
        return repr(float(rounded))
    if rounded < 1e-3:
        return f"{rounded:E}"
    digits, _, exponent = f"{rounded!r}".partition("e")
    power = math.floor(math.log10(rounded))
    if not exponent:
        significant = digits.replace(".", "").rstrip("0") or "0"
        digits = f"{significant[0]}.{significant[1:] or '0'}"
    return f"{digits}E{power}"


def six_decimals(value: float) -> str:
    """Return a number with up to six decimals, without trailing zeros."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _check_names(names: Names, default: Sequence[Any], *, parameter: str) -> list[str]:
    """Return the names as texts, or the default; raise an error if their number is wrong."""
    if names is None:
        names = default
    elif len(names) != len(default):
        raise parameter_error(parameter, "export_text", f"have {len(default)} entries", len(names))
    return [str(name) for name in names]


def _children(tree: Tree, node: int) -> list[int]:
    """Return the children of a node; a leaf has none."""
    if tree.feature[node] < 0:
        return []
    return list(range(tree.first[node], tree.first[node] + tree.width[node]))
