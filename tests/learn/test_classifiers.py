"""What all multilabel classifiers on trees share: forms, edges, refusals, threads, pickles."""

import pickle
from inspect import cleandoc, signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from imblearn.pipeline import make_pipeline as make_imblearn_pipeline
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from scumble import catalogue
from scumble._core.errors import LabelError, ParameterError, ScumbleError
from scumble._core.parallel import row_slices
from scumble._core.parameters import get_parameter_constraints
from scumble.learn import (
    COCOA,
    ECCRU,
    HOMER,
    BaseRanker,
    BinaryRelevance,
    C45Classifier,
    CalibratedLabelRanking,
    ClassifierChain,
    EnsembleOfClassifierChains,
    EnsembleOfPrunedSets,
    NeighbourRanker,
    PrunedSets,
    RAkEL,
    ResampledEnsemble,
    RidgeRanker,
    StackedBinaryRelevance,
    ThresholdedClassifier,
)
from scumble.learn.base import (
    MultilabelClassifierConstraint,
    SingleLabelClassifierConstraint,
)
from scumble.learn.inner_classifier import set_random_states
from scumble.resample import REMEDIAL

KINDS = dict(catalogue.entries("classifier"))


def parameter_with(cls, constraint):
    """Return the name of the first parameter of a class with a constraint of this type, or None."""
    constraints = get_parameter_constraints(cls).items()
    return next((name for name, value in constraints if isinstance(value, constraint)), None)


def multilabel_parameter(cls):
    """Return the name of the parameter that is a multilabel classifier, by default BR, or None."""
    name = parameter_with(cls, MultilabelClassifierConstraint)
    return name if cls()._inner_estimator() is None else None


def takes_base_learner(cls):
    """Return whether a class fits copies of a base learner, or of a classifier that does."""
    single = parameter_with(cls, SingleLabelClassifierConstraint)
    return single is not None or multilabel_parameter(cls) is not None


#: Those that take a base learner, and those that take none or another kind of one.
SHORT = {name: cls for name, cls in KINDS.items() if takes_base_learner(cls)}
RANKERS = {name: cls for name, cls in KINDS.items() if name not in SHORT}


@pytest.mark.parametrize("cls", catalogue.entries("classifier").values())
def test_the_docstring_tells_of_all_parameters_in_their_order(cls):
    text = cleandoc(cls.__doc__)
    section = text.partition("\nParameters\n")[2].partition("\n\nAttributes\n")[0]
    told = [line.partition(" : ")[0] for line in section.splitlines() if " : " in line[:40]]

    assert ", ".join(told).split(", ") == list(signature(cls).parameters)


@pytest.mark.parametrize("cls", catalogue.entries("classifier").values())
def test_a_list_of_attributes_has_those_of_the_base_class(cls):
    section = cleandoc(cls.__doc__).partition("\nAttributes\n")[2].partition("\n\n")[0]
    heads = [line.partition(" : ")[0] for line in section.splitlines() if line[:1].strip()]
    names = ", ".join(heads).split(", ")
    shared = ["classes_", "n_labels_", "label_names_", "n_features_in_", "feature_names_in_"]
    if section:  # a class of somebody else may do without
        assert [name for name in shared if name not in names] == []


def has_parameter(short, name):
    """Return whether a classifier has a parameter; those of the base class are optional."""
    return name in KINDS[short]().get_params()


def make(short, **parameters):
    """Make a classifier with a fixed seed, where it has one."""
    cls = KINDS[short]
    if has_parameter(short, "random_state"):
        parameters.setdefault("random_state", 0)
    if has_parameter(short, "n_estimators"):
        parameters.setdefault("n_estimators", 4)
    inner = multilabel_parameter(cls)
    if inner is not None and "estimator" in parameters:
        parameters[inner] = BinaryRelevance(parameters.pop("estimator"))
    return cls(**parameters)


def problem(seed=0, n=80, n_features=5, n_labels=6):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, n_features)), 2)
    X[rng.random(X.shape) < 0.3] = 0.0
    weights = rng.normal(size=(n_features, n_labels))
    Y = (X @ weights + rng.normal(size=(n, n_labels)) > 1).astype(int)
    return X, Y


every = pytest.mark.parametrize("short", SHORT)
each_kind = pytest.mark.parametrize("short", KINDS)
#: Those that take a base learner with trees and with another; the others as they are.
with_bases = pytest.mark.parametrize(
    ("short", "base"),
    [(short, {"estimator": each}) for short in SHORT for each in (None, GaussianNB())]
    + [(short, {}) for short in RANKERS],
)

#: The first check wants probabilities strictly between 0 and 1. A tree's leaf may be sure.
CERTAIN = {
    "check_classifiers_multilabel_output_format_predict_proba": "0 and 1 are probabilities too",
    "check_class_weight_classifiers": "weights are those of a label's absence and presence",
}


#: A weight of 2 is not a row that comes twice where rows are drawn, counted as neighbours, left out
#: one at a time, or where thresholds are chosen on rows that count once each.
WEIGHTS_ARE_NOT_REPETITIONS = {
    "check_sample_weight_equivalence_on_dense_data": "weights are not numbers of repetitions",
    "check_sample_weight_equivalence_on_sparse_data": "weights are not numbers of repetitions",
}


def expected_failures(estimator):
    failures = CERTAIN
    if not estimator.classifier_tags.scores_can_be_0_or_1:
        failures = {name: why for name, why in CERTAIN.items() if "weight" in name}
    if not estimator.classifier_tags.weights_equal_repetitions:
        failures = failures | WEIGHTS_ARE_NOT_REPETITIONS
    return failures


@parametrize_with_checks([make(short) for short in KINDS], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@each_kind
def test_the_catalogue_knows_it_by_its_short_name(short):
    assert catalogue.get("classifier", short) is KINDS[short]


@each_kind
def test_arrays_sparse_matrices_frames_and_lists_give_the_same(short):
    X, Y = problem()
    expected, confidences = make(short).fit(X, Y).predict_both(X)
    assert expected.dtype == Y.dtype
    assert 0 <= confidences.min() <= confidences.max() <= 1
    features, labels = list("abcde"), list("uvwxyz")

    sparse_form = make(short).fit(sparse.csr_array(X), sparse.csc_matrix(Y))
    found, found_confidences = sparse_form.predict_both(sparse.csc_array(X))
    assert isinstance(found, sparse.csr_array)
    assert isinstance(sparse_form.predict(X), sparse.csr_array)
    if KINDS[short].classifier_tags.sparse_equals_dense:
        assert (found.toarray() == expected).all()
        atol = 1e-9 if short in RANKERS else 0
        np.testing.assert_allclose(found_confidences, confidences, rtol=0, atol=atol)

    frame = pd.DataFrame(X, columns=features, index=np.arange(80) + 7)
    found = make(short).fit(frame, pd.DataFrame(Y > 0, columns=labels)).predict(frame)
    assert found.columns.tolist() == labels
    assert found.dtypes.unique().tolist() == [bool]
    assert found.index.equals(frame.index)
    assert (found.to_numpy() == expected).all()

    frame = pl.DataFrame(X, schema=features)
    found = make(short).fit(frame, pl.DataFrame(Y, schema=labels)).predict(frame)
    assert isinstance(found, pl.DataFrame)
    assert (found.columns, found.dtypes[0]) == (labels, pl.Int64)
    assert (found.to_numpy() == expected).all()

    assert (make(short).fit(X.tolist(), Y.tolist()).predict(X.tolist()) == expected).all()
    named = [{labels[j] for j in np.flatnonzero(row)} for row in Y]
    fitted = make(short).fit(X, named)
    assert fitted.label_names_ == tuple(labels)
    wanted = [{labels[j] for j in np.flatnonzero(row)} for row in expected]
    assert fitted.predict(X) == wanted
    assert fitted.predict_both(X)[0] == wanted


@with_bases
def test_the_number_of_threads_changes_nothing(short, base):
    if not has_parameter(short, "n_jobs"):
        return
    X, Y = problem(n=200)
    answers = [make(short, **base, n_jobs=n).fit(X, Y).predict_both(X) for n in (1, 2, 5)]
    for labels, confidences in answers[1:]:
        assert (labels == answers[0][0]).all()
        assert (confidences == answers[0][1]).all()


@pytest.mark.parametrize("short", [name for name in KINDS if issubclass(KINDS[name], BaseRanker)])
def test_out_of_sample_scores_come_with_the_model_that_fit_gives(short):
    X, Y = problem()
    ranker = make(short)
    scores = ranker.fit_out_of_sample(X, Y)
    assert scores.shape == Y.shape
    assert 0 <= scores.min() <= scores.max() <= 1
    expected = make(short).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(ranker.predict_proba(X), expected, rtol=0, atol=1e-9)
    # A row that is left out does not know its own labels, and most rows are still ranked right.
    assert abs(scores - Y).mean() >= abs(expected - Y).mean()
    assert scores[Y > 0].mean() > scores[Y == 0].mean()
    assert ThresholdedClassifier(ranker, random_state=0).fit(X, Y).predict(X).shape == Y.shape


@each_kind
def test_pickles_clones_and_repeats(short):
    X, Y = problem()
    fitted = make(short).fit(X, Y)
    labels, confidences = fitted.predict_both(X)
    again = [pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(X, Y)]
    for classifier in again:
        assert (classifier.predict(X) == labels).all()
        assert (classifier.predict_proba(X) == confidences).all()


@every
@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(max_depth=5),
        RidgeClassifier(),
        KNeighborsClassifier(3),
        C45Classifier(min_objects=3, laplace=True),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_classifier_may_learn(short, estimator):
    X, Y = problem()
    kept = estimator.get_params()
    seeded = estimator.set_params(random_state=0) if "random_state" in kept else estimator
    labels, confidences = make(short, estimator=seeded).fit(X, Y).predict_both(X)
    assert (labels == Y).mean() > 0.75
    if KINDS[short].classifier_tags.scores_rank_rows:
        assert confidences[Y > 0].mean() > confidences[Y == 0].mean()
    from_sparse = make(short, estimator=seeded).fit(sparse.csr_array(X), Y)
    assert (from_sparse.predict(sparse.csr_array(X)) == labels).mean() > 0.97


class Obstinate(C45Classifier):
    """A tree that is no C4.5 by type, so that it takes the way of foreign classifiers."""


@every
def test_the_shared_way_and_the_way_of_foreign_classifiers_meet(short):
    # Extra columns come last in both, as numbers there and as truth values here: an 0/1 column
    # splits in the same way, except for what a numeric cut pays (mdl) and that it may not repeat.
    X, Y = problem(n=60)
    ours = make(short, estimator=C45Classifier(mdl=False)).fit(X, Y)
    theirs = make(short, estimator=Obstinate(mdl=False)).fit(X, Y)
    labels, confidences = ours.predict_both(X)
    equivalent = KINDS[short].classifier_tags.base_learners_are_equivalent
    assert (theirs.predict(X) == labels).mean() >= (1 if equivalent else 0.97)
    if equivalent:
        assert (theirs.predict_proba(X) == confidences).all()


@every
def test_seeds(short):
    X, Y = problem()
    if "random_state" not in SHORT[short]().get_params():
        return  # which these are, says the next test
    tree = DecisionTreeClassifier(splitter="random", max_depth=2)
    runs = [
        make(short, estimator=clone(tree), random_state=seed).fit(X, Y).predict_proba(X)
        for seed in (1, 1, 2)
    ]
    assert (runs[0] == runs[1]).all()
    assert (runs[0] != runs[2]).any()
    generator = np.random.default_rng(1)
    before = np.random.mtrand._rand.get_state()[1].tolist()
    assert (make(short, random_state=generator).fit(X, Y).predict(X) == Y).mean() > 0.7
    assert np.random.mtrand._rand.get_state()[1].tolist() == before


@pytest.mark.parametrize("short", ["br", "lp", "ps", "cc", "clr"])
def test_what_draws_nothing_has_no_seed(short):
    assert "random_state" not in SHORT[short]().get_params()


@each_kind
def test_a_label_without_positives_is_never_predicted_and_one_without_negatives_always(short):
    X, Y = problem()
    Y[:, 1], Y[:, 4] = 0, 1
    labels, confidences = make(short).fit(X, Y).predict_both(X)
    assert not labels[:, 1].any()
    assert labels[:, 4].all()
    assert (confidences[:, 4] >= confidences[:, 1]).all()


@each_kind
def test_rows_asked_some_at_a_time_get_the_same_answers(monkeypatch, short):
    X, Y = problem()
    whole = make(short).fit(X, sparse.csr_array(Y))
    labels, sure = whole.predict(X), whole.predict_proba(X)
    calls = []

    def three(n_rows, width):
        calls.append(width)
        return row_slices(n_rows, width, 3 * width)

    for module in ("base", "transformation.single_label_models"):
        monkeypatch.setattr(f"scumble.learn.{module}.row_slices", three)
    again = make(short).fit(X, sparse.csr_array(Y))
    assert (again.predict(X) != labels).nnz == 0
    np.testing.assert_allclose(again.predict_proba(X), sure, rtol=0, atol=1e-12)
    assert min(calls) > 0


@with_bases
def test_one_label_no_labels_and_all_labels(short, base):
    X, Y = problem()
    single = make(short, **base).fit(X, Y[:, :1])
    assert single.predict(X).shape == single.predict_proba(X).shape == (80, 1)
    assert (single.predict(X) == Y[:, :1]).mean() > 0.7
    for cell in (0, 1):
        fitted = make(short, **base).fit(X, np.full((80, 4), cell))
        assert (fitted.predict(X) == cell).all()
        if KINDS[short].classifier_tags.certain_of_constant_labels:
            atol = 0.1 if short in RANKERS else 0
            np.testing.assert_allclose(fitted.predict_proba(X), cell, rtol=0, atol=atol)


@pytest.mark.parametrize("estimator", [None, GaussianNB()])
def test_calibrated_label_ranking_of_constant_labels(estimator):
    X, _ = problem()
    for cell in (0, 1):
        # No pair is told apart: only each label's own classifier votes for it.
        fitted = make("clr", estimator=estimator).fit(X, np.full((80, 4), cell))
        assert (fitted.predict_proba(X) == cell / 4).all()


@each_kind
def test_more_labels_than_rows(short):
    X, Y = problem(n=5, n_labels=40)
    labels, confidences = make(short).fit(X, Y).predict_both(X)
    assert labels.shape == confidences.shape == (5, 40)
    lonely = make(short).fit(X[:1], Y[:1])
    assert (lonely.predict(X[:1]) == Y[:1]).all()


@each_kind
def test_rows_without_labels_count(short):
    X = np.arange(20.0).reshape(-1, 1)
    Y = np.zeros((20, 3), int)
    Y[10:, :2] = 1
    # Few neighbours, so that those of the first and last rows are alike.
    few = {"n_neighbors": 5} if has_parameter(short, "n_neighbors") else {}
    labels = make(short, **few).fit(X, Y).predict([[0.0], [19.0]])
    assert labels.tolist() == [[0, 0, 0], [1, 1, 0]]


@each_kind
def test_missing_values_and_nominal_columns(short):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, 90)
    Y = np.column_stack([codes == 0, codes == 1, codes != 2, codes == 2]).astype(int)
    X = np.column_stack([codes, rng.normal(size=90)])
    nominal = has_parameter(short, "categorical_features")
    fitted = make(short, **({"categorical_features": {0: 3}} if nominal else {})).fit(X, Y)
    # A tree finds the one column that tells all. To a ranker one half is no chosen threshold.
    enough = 0.85 if short in RANKERS else 1
    assert (fitted.predict(X) == Y).mean() >= enough
    frame = pd.DataFrame({"kind": pd.Categorical.from_codes(codes, list("abc")), "x": X[:, 1]})
    assert (make(short).fit(frame, Y).predict(frame) == Y).mean() >= enough
    X[::9, 0] = np.nan
    fitted = make(short, **({"categorical_features": [0]} if nominal else {})).fit(X, Y)
    known = ~np.isnan(X[:, 0])
    labels, confidences = fitted.predict_both(X)
    assert (labels[known] == Y[known]).mean() >= enough
    assert np.isfinite(confidences).all()


def test_the_tree_may_say_which_columns_are_nominal():
    X = [[0], [0], [0], [2], [2], [2], [1], [1], [1]]
    Y = [[1, 0]] * 3 + [[0, 1]] * 3 + [[1, 0]] * 3
    inside = BinaryRelevance(C45Classifier(categorical_features={0: 3}))
    for classifier in (inside, HOMER(inside)):
        assert classifier.fit(X, Y)._codes.n_values.tolist() == [3]


@every
def test_pipelines_and_searches(short):
    X, Y = problem()
    Y[0] = 0
    chain = make_pipeline(StandardScaler().set_output(transform="pandas"), make(short))
    names = pd.DataFrame(X, columns=list("abcde"))
    assert (chain.fit(names, Y).predict(names) == Y).mean() > 0.7
    resampled = make_imblearn_pipeline(REMEDIAL(), make(short)).fit(X, Y)
    assert resampled.predict(X).shape == Y.shape
    grid = {"estimator__min_objects": [2, 5]}
    inner = multilabel_parameter(KINDS[short])
    if inner is not None:
        grid = {f"{inner}__estimator__min_objects": [2, 5]}
    grid = {"homer": {"n_clusters": [2, 3]}, "resampled": {"n_estimators": [1, 2]}}.get(short, grid)
    base = make(short) if short == "homer" else make(short, estimator=C45Classifier())
    search = GridSearchCV(base, grid, cv=2, scoring="f1_micro", error_score="raise").fit(X, Y)
    assert 0 < search.best_score_ <= 1
    assert search.predict(X).shape == Y.shape
    by_rank = GridSearchCV(base, grid, cv=2, scoring="average_precision", error_score="raise")
    assert 0 < by_rank.fit(X, Y[:, :2]).best_score_ <= 1


@each_kind
def test_refusals(short):
    X, Y = problem()
    with pytest.raises(LabelError, match="row 3, column 1 holds 2"):
        make(short).fit(X, np.where((np.arange(80) == 3)[:, None] & (np.arange(6) == 1), 2, Y))
    with pytest.raises(LabelError, match="equally many rows"):
        make(short).fit(X, Y[:-1])
    with pytest.raises(LabelError, match="no labels"):
        make(short).fit(X, Y[:, :0])
    for name, value in {"n_jobs": 0, "categorical_features": [9]}.items():
        if has_parameter(short, name):
            with pytest.raises(ParameterError, match=f"'{name}'"):
                make(short, **{name: value}).fit(X, Y)
    with pytest.raises(LabelError, match="y contains NaN"):
        make(short).fit(X, np.where(Y[:, 0] == 1, 1.0, np.nan))
    with pytest.raises(ScumbleError, match="is expecting"):
        make(short).fit(X, Y).predict(X[:, 1:])
    named = pd.DataFrame(X).add_prefix("x")
    with pytest.raises(ScumbleError, match="same order"):
        make(short).fit(named, Y).predict(named.iloc[:, ::-1])


@every
def test_refusals_of_base_learners(short):
    X, Y = problem()
    inner = multilabel_parameter(KINDS[short])
    wrong = {"estimator": GaussianNB} if inner is None else {inner: BinaryRelevance}
    with pytest.raises(ScumbleError, match="Got <class"):
        make(short, **wrong).fit(X, Y)
    with pytest.raises(ScumbleError, match="'estimator' parameter"):
        make(short, estimator=7).fit(X, Y)
    with pytest.raises(ScumbleError, match=r"'estimator' parameter .* Got LinearRegression"):
        make(short, estimator=LinearRegression()).fit(X, Y)


@pytest.mark.parametrize("short", RANKERS)
def test_rankers_in_pipelines_and_searches(short):
    X, Y = problem()
    names = pd.DataFrame(X, columns=list("abcde"))
    chain = make_pipeline(StandardScaler().set_output(transform="pandas"), make(short))
    assert (chain.fit(names, Y).predict(names) == Y).mean() > 0.7
    assert make_imblearn_pipeline(REMEDIAL(), make(short)).fit(X, Y).predict(X).shape == Y.shape
    grid = {
        "ridge": {"penalty": [0.1, 10.0]},
        "neighbours": {"n_neighbors": [2, 9]},
        "bagging": {"draw": ["bootstrap", "balanced"]},
        "blend": {"rankers": [[RidgeRanker()], [NeighbourRanker()]]},
        "thresholded": {"rule": ["shrunken", "rate"], "estimator": [RidgeRanker()]},
        "rare": {"quality": ["fast"]},
    }.get(short, {})
    search = GridSearchCV(make(short), grid, cv=2, scoring="f1_micro", error_score="raise")
    assert 0 < search.fit(X, Y).best_score_ <= 1
    assert search.predict(X).shape == Y.shape


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "boolean", "string"])
def test_missing_values_of_pandas_own_types(dtype):
    X, Y = problem()
    cells = (X[:, 0] > np.median(X[:, 0])).astype(int)
    plain = pd.Series(cells).astype({"boolean": bool, "string": str}.get(dtype, float))
    gone = pd.Series(np.arange(len(X)) % 5 == 0)
    nullable = pd.DataFrame({"a": plain.astype(dtype).mask(gone), "b": X[:, 1]})
    expected = pd.DataFrame({"a": plain.astype(object).mask(gone, None), "b": X[:, 1]})
    if dtype in ("Float64", "Int64"):
        expected["a"] = expected["a"].astype(float)
    else:
        expected["a"] = pd.Categorical(expected["a"])
    found = BinaryRelevance().fit(nullable, Y).predict_proba(nullable)
    assert nullable["a"].isna().sum() == 16
    assert (found == BinaryRelevance().fit(expected, Y).predict_proba(expected)).all()


@pytest.mark.parametrize(
    ("classifier", "match"),
    [
        (ClassifierChain(order=[0, 1]), "'order' parameter of ClassifierChain must name each"),
        (ClassifierChain(order=[0, 1, 2, 3, 4, 4]), "'order'"),
        (ClassifierChain(order=[[0], [1, 2]]), "'order'"),
        (ClassifierChain(order=["a", 1, 2, 3, 4, None]), "'order'"),
        (EnsembleOfClassifierChains(n_estimators=0), "'n_estimators'"),
        (EnsembleOfClassifierChains(use_confidences=1), "'use_confidences'"),
        (EnsembleOfClassifierChains(bootstrap="yes"), "'bootstrap'"),
        (EnsembleOfClassifierChains(sample=0.0), r"'sample' .* \(0, inf\)"),
        (EnsembleOfClassifierChains(sample=np.inf), r"'sample' .* \(0, inf\)"),
        (EnsembleOfClassifierChains(sample=2, bootstrap=False), r"'sample' .* \(0, 1\]"),
        (EnsembleOfClassifierChains(random_state=-1), "'random_state'"),
        (EnsembleOfPrunedSets(sample=1.5), r"'sample' .* \(0, 1\]"),
        (EnsembleOfPrunedSets(threshold="half"), "'threshold'"),
        (PrunedSets(p=-1), "'p'"),
        (PrunedSets(b=1.5), "'b'"),
        (PrunedSets(strategy="C"), "'strategy'"),
        (CalibratedLabelRanking(mulan_compat=None), "'mulan_compat'"),
        (HOMER(n_clusters=0), "'n_clusters'"),
        (HOMER(method="em"), "'method'"),
        (HOMER(hierarchy=[[0, 1], [2, 3, 4]]), "each of the 6 labels once"),
        (HOMER(hierarchy=[[0, 1], ["b", 3, 4, 5]]), "Found 'b' in it"),
        (HOMER(hierarchy=[[0, 1], [], [2, 3, 4, 5]]), r"Found \[\] in it"),
        (HOMER(PrunedSets(p=-1)), "'p' parameter of PrunedSets"),
        (COCOA(n_couples=-1), "'n_couples'"),
        (ECCRU(variant=4), "'variant' parameter of ECCRU must be one of 1, 2, 3. Got 4"),
        (ECCRU(variant=True), "'variant'"),
        (ECCRU(n_estimators=0), "'n_estimators'"),
        (ECCRU(theta_min=0), "'theta_min'"),
        (ECCRU(theta_max=np.nan), "'theta_max'"),
        (RAkEL(size=0), "'size'"),
        (RAkEL(overlapping="no"), "'overlapping'"),
        (RAkEL(n_labelsets=0), "'n_labelsets'"),
        (StackedBinaryRelevance(n_folds=-1), "'n_folds'"),
        (StackedBinaryRelevance(passthrough=1), "'passthrough'"),
        (ResampledEnsemble(n_estimators=0), "'n_estimators'"),
        (ResampledEnsemble(resampler="mlsoul"), "mlsol"),
        (ResampledEnsemble(resampler=REMEDIAL), "'resampler' .* Got <class"),
        (ResampledEnsemble(resampler=3), "'resampler' .* Got 3"),
        (ResampledEnsemble(PrunedSets(p=-1)), "'p' parameter of PrunedSets"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_parameters(classifier, match):
    with pytest.raises(ParameterError, match=match):
        classifier.fit(*problem())


@settings(max_examples=15)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 7),
    st.sampled_from(sorted(SHORT)),
    st.sampled_from([0.0, 0.2, 0.6, 1.0]),
)
def test_any_small_problem_has_an_answer(seed, n, n_labels, short, share):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 2)).astype(float)
    Y = (rng.random((n, n_labels)) < share).astype(int)
    labels, confidences = make(short).fit(X, Y).predict_both(X)
    assert set(np.unique(labels)) <= {0, 1}
    assert np.isfinite(confidences).all()
    assert confidences.min() >= 0
    assert confidences.max() <= 1 + 1e-12
    dense, swapped = make(short).fit(sparse.csr_array(X), Y).predict_both(sparse.csr_array(X))
    assert (dense == labels).all()
    assert (swapped == confidences).all()


def test_classes_of_rows_are_learnt_too():
    X = np.arange(30.0).reshape(-1, 1)
    y = np.repeat(["a", "b", "c"], 10)
    for short in SHORT:
        fitted = make(short).fit(X, y)
        assert fitted.classes_.tolist() == ["a", "b", "c"]
        assert fitted.predict([[0.0], [15.0], [29.0]]).tolist() == ["a", "b", "c"]
        np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1)
    with pytest.warns(UserWarning, match="column-vector"):
        assert make("br").fit(X, y.reshape(-1, 1)).predict(X).shape == (30,)
    never_seen = DummyClassifier(strategy="constant", constant=0)
    fitted = make("br", estimator=never_seen).fit(X, y)  # nothing is sure: the training shares
    np.testing.assert_allclose(fitted.predict_proba(X[:1]), [[1 / 3, 1 / 3, 1 / 3]])


@pytest.mark.parametrize(
    "short", [short for short, cls in SHORT.items() if "random_state" in cls().get_params()]
)
def test_one_seed_reaches_every_member_and_each_another_way(short):
    X, Y = problem()
    random = make_pipeline(StandardScaler(), ExtraTreeClassifier(max_depth=3))
    one, again = (make(short, estimator=random).fit(X, Y) for _ in range(2))
    assert (one.predict_proba(X) == again.predict_proba(X)).all()
    chained = [HOMER(ClassifierChain(random), random_state=1).fit(X, Y) for _ in range(2)]
    assert (chained[0].predict_proba(X) == chained[1].predict_proba(X)).all()


def test_cross_validation_seeds_every_member_differently():
    X, Y = problem()
    seeded = set_random_states(EnsembleOfClassifierChains(ExtraTreeClassifier(), n_estimators=2), 7)
    assert seeded.random_state == 7
    members = seeded.fit(X, Y).models_.models
    assert len({member.random_state for member in members}) == len(members) == 12
    assert set_random_states(BinaryRelevance(ExtraTreeClassifier()), 7).estimator.random_state == 7
