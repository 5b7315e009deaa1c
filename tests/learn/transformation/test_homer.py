"""HOMER: the tree of labels, the way down it, confidences, and learners inside."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from sklearn.linear_model import RidgeClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from scumble import MultilabelDataset
from scumble.learn import HOMER, BinaryRelevance, CalibratedLabelRanking, LabelPowerset, fit_dataset
from scumble.learn.transformation.label_clustering import (
    assign_to_clusters,
    build_hierarchy,
    check_hierarchy,
    list_nodes,
    mulan_hierarchy,
)
from tests.learn import problems

problem = partial(problems.problem, n=120, n_labels=9, decimals=2)


def labels_in(tree):
    return [tree] if isinstance(tree, int) else [leaf for part in tree for leaf in labels_in(part)]


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 30),
    st.integers(1, 5),
    st.sampled_from(["balanced", "kmeans", "random"]),
    st.sampled_from([0.0, 0.1, 0.5]),
)
def test_every_label_is_in_the_tree_once_and_no_node_is_wider_than_wanted(
    seed, n_labels, n_clusters, method, share
):
    rng = np.random.default_rng(seed)
    Y = sparse.csr_array(rng.random((12, n_labels)) < share)
    tree = build_hierarchy(Y, n_clusters=n_clusters, method=method, generator=rng)
    assert sorted(labels_in(tree)) == list(range(n_labels))
    for node in list_nodes(tree):
        assert len(node.labels_by_child) <= n_clusters or n_clusters == 1
        assert all((len(below) > 1) == (inner >= 0) for below, inner in _children(node))
    if method == "random" and n_labels > n_clusters > 1:
        sizes = [len(below) for below in list_nodes(tree)[0].labels_by_child]
        assert max(sizes) - min(sizes) <= 1


def _children(node):
    return zip(node.labels_by_child, node.node_by_child, strict=True)


@given(
    st.integers(0, 2**31 - 1),
    st.integers(1, 30),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.1, 0.5]),
)
def test_mulans_tree_has_every_label_once(seed, n_labels, n_clusters, share):
    rng = np.random.default_rng(seed)
    Y = sparse.csr_array(rng.random((12, n_labels)) < share)  # equal and empty columns too
    order = rng.permutation(n_labels).tolist()
    tree = mulan_hierarchy(Y, order, n_clusters=n_clusters, seed=seed)
    assert sorted(labels_in(tree)) == list(range(n_labels))
    for node in list_nodes(tree):
        assert len(node.labels_by_child) <= n_clusters or n_clusters == 1
    assert mulan_hierarchy(Y, order, n_clusters=n_clusters, seed=seed) == tree


def test_mulans_tree_depends_on_the_names_of_labels_and_on_the_seed():
    X, Y = problem()
    model = HOMER(method="mulan", random_state=10)
    trees = {
        names: model.fit(X, pd.DataFrame(Y, columns=list(names))).hierarchy_
        for names in ("abcdefghi", "qwertyuio")
    }
    assert trees["abcdefghi"] == model.fit(X, Y).hierarchy_  # the hash order is theirs
    assert len(set(trees.values())) == 2
    other = HOMER(method="mulan", random_state=3).fit(X, Y).hierarchy_
    assert other != trees["abcdefghi"]


def test_names_told_for_one_fit_are_forgotten_after_it():
    X, Y = problem()
    data = MultilabelDataset(X, Y, labels=list("qwertyuio"))
    fitted = fit_dataset(HOMER(method="mulan", random_state=10), data)
    told = fitted.hierarchy_
    assert fitted.fit(X, Y).hierarchy_ != told


def test_labels_of_the_same_rows_stand_together():
    groups = [[0, 4, 5], [1, 3, 8], [2, 6, 7]]
    Y = np.zeros((90, 9), bool)
    rng = np.random.default_rng(0)
    for at, group in enumerate(groups):
        Y[np.ix_(np.arange(30 * at, 30 * at + 30), group)] = rng.random((30, 3)) < 0.9
    found = set()
    for seed in range(10):  # k-means ends in poor places from some starts
        generator = np.random.default_rng(seed)
        tree = build_hierarchy(
            sparse.csr_array(Y), n_clusters=3, method="balanced", generator=generator
        )
        found.add(tuple(sorted(tuple(sorted(part)) for part in tree)))
    assert tuple(map(tuple, groups)) in found


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 4))
def test_clusters_have_room_for_all_and_no_more(seed, n_labels, n_clusters):
    distances = np.random.default_rng(seed).integers(0, 5, (n_labels, n_clusters)).astype(float)
    capacity = -(-n_labels // n_clusters)
    assert np.bincount(assign_to_clusters(distances, capacity)).max() <= capacity
    free = assign_to_clusters(distances, n_labels)
    assert (free == distances.argmin(axis=1)).all()


def test_a_label_that_is_sent_on_may_send_on_another():
    # The last label takes the place of the first, which takes that of the second.
    distances = np.array([[1.0, 4.0, 9.0], [5.0, 6.0, 7.0], [0.0, 9.0, 9.0]])
    assert assign_to_clusters(distances[:2], 1).tolist() == [0, 1]
    assert assign_to_clusters(distances, 1).tolist() == [1, 2, 0]


def test_given_trees_are_read_from_any_nesting():
    tree = check_hierarchy([[0], [[1, 2]], np.array([3, 4])], 5, caller="docs")
    assert tree == (0, (1, 2), (3, 4))
    assert check_hierarchy([[[0]]], 1, caller="docs") == (0,)
    nodes = list_nodes((0, (1, (2, 3))))
    assert [node.node_by_child for node in nodes] == [[-1, 1], [-1, 2], [-1, -1]]
    assert [below.tolist() for below in nodes[0].labels_by_child] == [[0], [1, 2, 3]]
    assert np.concatenate(nodes[0].labels_by_child).tolist() == [0, 1, 2, 3]


def slow_homer(X, Y, tree, X_new, inner):
    """Ask node after node, each with a classifier of its own, row after row."""
    labels = np.zeros((len(X_new), Y.shape[1]), int)
    ours, theirs = np.zeros(labels.shape), np.zeros(labels.shape)

    def visit(children, rows, reached, weight):
        groups = [labels_in(child) for child in children]
        targets = np.column_stack([Y[:, group].any(axis=1) for group in groups]).astype(int)
        if not rows.any():
            return
        present, sure = inner.fit(X[rows], targets[rows]).predict_both(X_new)
        for at, (child, group) in enumerate(zip(children, groups, strict=True)):
            going = reached & (present[:, at] == 1)
            if isinstance(child, int):
                labels[:, child] = going
                ours[:, child] = weight * sure[:, at]
                theirs[going, child] = sure[going, at]
            else:
                for label in group:
                    theirs[reached & ~going, label] = sure[reached & ~going, at]
                visit(child, targets[:, at] == 1, going, weight * sure[:, at])

    everywhere = np.ones(len(X_new), bool)
    visit(tree, np.ones(len(X), bool), everywhere, np.ones(len(X_new)))
    return labels, ours, theirs


@pytest.mark.parametrize("inner", [BinaryRelevance(), LabelPowerset(), CalibratedLabelRanking()])
def test_it_goes_down_as_told(inner):
    X, Y = problem(1)
    Y[:, 7:] = 0  # a group nobody has
    tree = ((0, 4, (5, 6)), (1, 2, 3), (7, 8))
    X_new = problem(2)[0]
    labels, ours, theirs = slow_homer(X, Y, tree, X_new, inner)
    for compat, expected in ((False, ours), (True, theirs)):
        homer = HOMER(inner, hierarchy=tree, mulan_compat=compat).fit(X, Y)
        assert homer.hierarchy_ == tree
        found, confidences = homer.predict_both(X_new)
        assert (found == labels).all()
        if type(inner) is not CalibratedLabelRanking:  # constant children are not asked there
            np.testing.assert_allclose(confidences, expected, atol=1e-12)


def test_without_groups_it_is_the_classifier_inside():
    X, Y = problem()
    for inner in (BinaryRelevance(), LabelPowerset()):
        expected = inner.fit(X, Y).predict_both(X)
        found = HOMER(inner, n_clusters=1).fit(X, Y).predict_both(X)
        assert (found[0] == expected[0]).all()
        assert (found[1] == expected[1]).all()


@pytest.mark.parametrize(
    "inner",
    [
        DecisionTreeClassifier(max_depth=4),
        KNeighborsClassifier(5),
        MultiOutputClassifier(GaussianNB()),
        MultiOutputClassifier(RidgeClassifier()),
        HOMER(n_clusters=2),
    ],
    ids=["tree", "neighbours", "naive Bayes", "ridge", "HOMER"],
)
def test_any_multilabel_classifier_may_decide(inner):
    X, Y = problem()
    Y[:, 3] = 1
    labels, confidences = HOMER(inner, random_state=0).fit(X, Y).predict_both(X)
    assert (labels == Y).mean() > 0.75
    assert confidences[Y == 1].mean() > confidences[Y == 0].mean() + 0.1
    assert (confidences[:, 3] > 0).all()


@pytest.mark.parametrize("method", ["balanced", "kmeans", "random"])
def test_one_seed_one_tree(method):
    X, Y = problem(n_labels=20)
    trees = [HOMER(method=method, random_state=seed).fit(X, Y).hierarchy_ for seed in (1, 1, 2)]
    assert trees[0] == trees[1] != trees[2]
