"""MULAN's classifiers with MULAN's draws: what it answers, also where chance decides."""

import numpy as np

from scumble.learn import (
    HOMER,
    IBLR,
    BinaryRelevance,
    CalibratedLabelRanking,
    ClassifierChain,
    EnsembleOfClassifierChains,
    EnsembleOfPrunedSets,
    LabelPowerset,
    MLkNN,
    PrunedSets,
    fit_dataset,
)
from scumble.learn.transformation.chains import ChainSample
from scumble.learn.transformation.label_clustering import mulan_hierarchy
from scumble.learn.transformation.label_powerset import most_probable_labelset_scores
from tests.learn.java import draw_chains, draw_samples, draw_winners, pruned_order

#: Nothing is drawn here.
DETERMINISTIC = {
    "BR": BinaryRelevance(),
    "CC": ClassifierChain(),
    "CLR": CalibratedLabelRanking(mulan_compat=True),
    "CLRfixed": CalibratedLabelRanking(),
    "IBLR": IBLR(),
    "MLKNN": MLkNN(),
}


class GivenChains(EnsembleOfClassifierChains):
    """Chains and bags as they were drawn elsewhere."""

    def _draw_samples(self, n_rows, n_labels, generator):
        return [
            ChainSample(np.array(draw["chain"]), np.bincount(draw["bag"], minlength=n_rows))
            for draw in self.given
        ]


class GivenSamples(EnsembleOfPrunedSets):
    """Samples as they were drawn elsewhere."""

    def _draw_samples(self, n_rows, generator):
        assert len(self.given[0]) == len(super()._draw_samples(n_rows, np.random.default_rng(0))[0])
        return [np.array(rows) for rows in self.given]


def replay(method, train, test):
    """Train and answer as MULAN does.

    Parameters
    ----------
    method : str
        As MULAN's files call it.
    train, test : MultilabelDataset
        The data.

    Returns
    -------
    labels, confidences : ndarray or csr_array
        The answers.
    """
    if method in DETERMINISTIC:
        return fit_dataset(DETERMINISTIC[method], train).predict_both(test.X)
    return {
        "LP": replay_labelsets, "PS": replay_labelsets, "EPS": replay_pruned_sets,
        "ECC": replay_chains, "HOMER": replay_homer,
    }[method](method, train, test)  # fmt: skip


def replay_labelsets(method, train, test):
    """Label powerset or pruned sets, with ties drawn by Java's generator."""
    model = fit_dataset(LabelPowerset() if method == "LP" else PrunedSets(), train)
    probabilities = model.models_.predict_proba(test.X)
    sets = model.labelsets_.toarray()
    order = pruned_order(train.Y.toarray(), sets, b=2)
    winners, _ = draw_winners(probabilities, order)
    labels = sets[winners]
    if method == "LP":
        return labels, most_probable_labelset_scores(labels, probabilities)
    confidences = np.zeros(labels.shape)
    for at in order:  # rounding in this order makes equal numbers of some, and not of others
        confidences += probabilities[:, [at]] * sets[at]
    return labels, confidences


def replay_chains(method, train, test):
    """An ensemble of chains with Java's bags and orders."""
    model = GivenChains(categorical_features=train.categorical_features)
    model.given = draw_chains(len(train), train.n_labels)
    return model.fit(train.X, train.Y).predict_both(test.X)


def replay_pruned_sets(method, train, test):
    """An ensemble of pruned sets with Java's samples, and ties drawn by its generator."""
    votes, _ = vote(draw_samples(len(train)), train, test)
    return votes >= 0.5, votes


def vote(samples, train, test):
    """Count votes of pruned sets; also tell how often a member was in doubt."""
    model = GivenSamples(categorical_features=train.categorical_features)
    model.given = samples
    model.fit(train.X, train.Y)
    sets = [part.toarray() for part in model.labelsets_]
    borders = np.cumsum([len(part) for part in sets])[:-1]
    answers = np.split(model.models_.predict_proba(test.X), borders, axis=1)
    Y = train.Y.toarray()
    votes, n_tied = np.zeros((len(test), train.n_labels)), 0
    for rows, part, own in zip(samples, answers, sets, strict=True):
        winners, n = draw_winners(part, pruned_order(Y[rows], own, b=3))
        votes += own[winners]
        n_tied += n
    return votes / len(samples), n_tied


def replay_homer(method, train, test, *, names=None, seed=10):
    """HOMER with MULAN's tree of labels; ``names`` as MULAN walks through them, if not by hash."""
    model = HOMER(method="mulan", mulan_compat=True, random_state=seed)
    if names is not None:
        order = [train.labels.index(name) for name in names]
        tree = mulan_hierarchy(train.Y, order, n_clusters=3, seed=seed)
        model = HOMER(hierarchy=tree, mulan_compat=True)
    return fit_dataset(model, train).predict_both(test.X)
