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
    texts = TreeTexts(classifier, feature_names, class_names, value_names)
    title = "C4.5 pruned tree" if classifier.prune else "C4.5 unpruned tree"
    lines = [title, "-" * 18]
    root_is_leaf = tree.feature[0] < 0
    lines.append(f": {texts.leaf_text(0)}" if root_is_leaf else "")
    # A stack of nodes and their depths; children are pushed in reverse, so that the first is next.
    stack = [(child, 0) for child in reversed(_children(tree, 0))]
    while stack:
        node, depth = stack.pop()
        line = "|   " * depth + texts.split_text(int(tree.parent[node])) + texts.branch_text(node)
        if tree.feature[node] < 0:
            line += f": {texts.leaf_text(node)}"
        lines.append(line)
        stack.extend((child, depth + 1) for child in reversed(_children(tree, node)))
    lines += ["", f"Number of Leaves  : \t{tree.n_leaves}", ""]
    lines += [f"Size of the tree : \t{tree.n_nodes}", ""]
    return "\n".join(lines)


def fitted_tree(classifier: Any, *, caller: str) -> Tree:
    """Return the tree of a fitted C45Classifier; raise an error for any other object.

    ``caller`` is the function that the error message names.
    """
    if not isinstance(classifier, C45Classifier):
        raise parameter_error("classifier", caller, "be a fitted C45Classifier", classifier)
    check_is_fitted(classifier)
    return classifier.tree_


class TreeTexts:
    """The texts at the nodes and branches of a tree, for `export_text` and `plot_tree`.

    The parameters are those of `export_text`; None stands for the names of the training data.
    """

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
        self.feature_names = _names_or_default(
            feature_names, default_names, parameter="feature_names"
        )
        self.class_names = _names_or_default(
            class_names, classifier.classes_, parameter="class_names"
        )
        self.value_names = value_names
        self._majority_class = argmax_with_tolerance(self.tree.counts, 0.0)

    def split_text(self, node: int) -> str:
        """Return the name of the column that the inner node with this index splits on."""
        return str(self.feature_names[self.tree.feature[node]])

    def branch_text(self, node: int) -> str:
        """Return the condition of the branch that leads to a node, such as `` <= 70``.

        The node must not be the root.
        """
        parent = self.tree.parent[node]
        branch = int(node - self.tree.first[parent])
        cut = self.tree.cut[parent]
        if not math.isnan(cut):
            operator = "<=" if branch == 0 else ">"
            return f" {operator} {six_decimals(cut)}"
        column = self.tree.feature[parent]
        if self.value_names is not None and self.value_names[column] is not None:
            return f" = {self.value_names[column][branch]}"
        return f" = {self.codes.value_name(column, branch)}"

    def leaf_text(self, node: int) -> str:
        """Return the predicted class of a node and the weights of its rows, as in `export_text`.

        ``yes (6.0/1.0)`` means a weight of 6, of which 1 is of other classes; the latter is left
        out if it is 0.
        """
        counts = self.tree.counts[node]
        parent = self.tree.parent[node]
        total = counts.sum()
        is_empty = total <= 1e-6 and parent >= 0
        # An empty leaf predicts the majority class of its parent.
        predicted = self._majority_class[parent if is_empty else node]
        other_weight = total - counts[predicted]
        weights = two_decimals(total)
        if other_weight > 1e-6:
            weights += f"/{two_decimals(other_weight)}"
        return f"{self.class_names[predicted]} ({weights})"


def two_decimals(value: float) -> str:
    """Return a number >= 0 rounded to two decimals, in the form in which Java prints a double."""
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
    """Return a number rounded to six decimals as a text, without trailing zeros."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _names_or_default(names: Names, default: Sequence[Any], *, parameter: str) -> list[str]:
    """Return ``names`` as texts, or ``default`` if they are None.

    Raises an error that names the parameter unless there are as many names as defaults.
    """
    if names is None:
        names = default
    elif len(names) != len(default):
        raise parameter_error(parameter, "export_text", f"have {len(default)} entries", len(names))
    return [str(name) for name in names]


def _children(tree: Tree, node: int) -> list[int]:
    """Return the indices of the children of a node; an empty list for a leaf."""
    if tree.feature[node] < 0:
        return []
    return list(range(tree.first[node], tree.first[node] + tree.width[node]))
