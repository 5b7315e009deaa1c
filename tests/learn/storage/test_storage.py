"""Models to files and back: the same answers, and no stranger's file does any harm."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from scumble import MultilabelDataset, ScumbleError, ScumbleWarning, catalogue
from scumble._core.errors import ReadError
from scumble.data import Feature
from scumble.learn import (
    ECCRU,
    HOMER,
    IBLR,
    BaggedTrees,
    BinaryRelevance,
    BlendedRanker,
    C45Classifier,
    ClassifierChain,
    EnsembleOfClassifierChains,
    LabelPowerset,
    MLkNN,
    NeighbourRanker,
    RareLabelClassifier,
    ResampledEnsemble,
    RidgeRanker,
    ThresholdedClassifier,
    fit_dataset,
    load,
    predict_dataset,
    read_model,
    save,
)
from scumble.learn.storage.check import check_nodes
from scumble.learn.storage.columns import align_columns
from scumble.resample import MLSOL


def problem(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.random((n, 3)), rng.integers(0, 3, n)])
    X[rng.random(X.shape) < 0.05] = np.nan
    Y = np.column_stack([X[:, 0] > 0.4, X[:, 3] == 1, X[:, 1] > 0.7, rng.random(n) < 0.3])
    return X, Y.astype(int)


def there_and_back(model, folder, **options):
    path = folder / "a.model"
    save(model, path)
    return load(path, **options)


@pytest.mark.parametrize("name", catalogue.names("classifier"))
@pytest.mark.parametrize("form", ["dense", "sparse", "frame", "classes"])
def test_every_classifier_answers_as_before(tmp_path, name, form):
    X, Y = problem()
    model = catalogue.get("classifier", name)()
    if "categorical_features" in model.get_params():
        model.set_params(categorical_features={3: 3})
    if form == "sparse":
        X, Y = sparse.csr_array(np.nan_to_num(X)), sparse.csr_array(Y)
    elif form == "frame":
        X = pd.DataFrame(X, columns=list("abcd"))
        Y = pd.DataFrame(Y, columns=["p", "q", "r", "s"])
    elif form == "classes":
        Y = np.array(["low", "high"])[Y[:, 0]]
    model.fit(X, Y)
    again = there_and_back(model, tmp_path)

    assert type(again) is type(model)
    assert again.get_params().keys() == model.get_params().keys()
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    before, after = model.predict(X), again.predict(X)
    assert type(after) is type(before)
    if form == "sparse":
        before, after = before.toarray(), after.toarray()
    assert (np.asarray(before) == np.asarray(after)).all()


BASES = {
    "lr": BinaryRelevance(LogisticRegression()),
    "rf": BinaryRelevance(RandomForestClassifier(3, random_state=0)),
    "chain-of-pipelines": ClassifierChain(make_pipeline(StandardScaler(), GaussianNB())),
    "lp-tree": LabelPowerset(DecisionTreeClassifier(random_state=0)),
    "homer-lp": HOMER(LabelPowerset(), random_state=0),
    "homer-mlknn": HOMER(MLkNN(n_neighbors=3), random_state=0),
    "ecc-nb": EnsembleOfClassifierChains(GaussianNB(), random_state=np.random.RandomState(3)),
    "br-c45": BinaryRelevance(make_pipeline(StandardScaler(), C45Classifier())),
    "resampled-mlsol": ResampledEnsemble(
        BinaryRelevance(GaussianNB()), resampler=MLSOL(percent=40), random_state=0
    ),
    "eccru3-nb": ECCRU(GaussianNB(), variant=3, n_estimators=2, random_state=0),
    "thresholded-nb": ThresholdedClassifier(BinaryRelevance(GaussianNB()), random_state=0),
    "thresholded-pipeline": ThresholdedClassifier(
        make_pipeline(StandardScaler(), OneVsRestClassifier(LogisticRegression()))
    ),
    "blend-of-strangers": BlendedRanker(
        [RidgeRanker("rbf"), RandomForestClassifier(3)], random_state=0
    ),
    "rare-best": RareLabelClassifier("best", random_state=0),
}


@pytest.mark.parametrize("name", BASES)
def test_any_base_learner_goes_along(tmp_path, name):
    X, Y = problem()
    model = BASES[name]
    X = np.nan_to_num(X)
    again = there_and_back(model.fit(X, Y), tmp_path)
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_a_tree_alone_and_a_scikit_learn_model_can_be_saved(tmp_path):
    X, Y = problem()
    X = np.nan_to_num(X)
    for model in (C45Classifier(laplace=True), LogisticRegression()):
        model.fit(X, Y[:, 0])
        model.predict_proba(X)
        again = there_and_back(model, tmp_path)
        assert (again.predict_proba(X) == model.predict_proba(X)).all()


def test_a_pipeline_that_reads_texts_goes_along(tmp_path):
    texts, Y = ["red sky", "blue sky", "blue sea"] * 9, [[1, 0], [1, 0], [0, 1]] * 9
    reader = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LogisticRegression()))
    model = ThresholdedClassifier(reader).fit(texts, Y)
    again = there_and_back(model, tmp_path)
    assert (again.predict_proba(texts) == model.predict_proba(texts)).all()


def test_equal_models_are_equal_files(tmp_path):
    X, Y = problem()
    for name in ("a", "b"):
        save(EnsembleOfClassifierChains(random_state=0).fit(X, Y), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_many_trees_are_few_arrays(tmp_path):
    X, Y = problem()
    save(EnsembleOfClassifierChains(random_state=0).fit(X, Y), tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        names = archive.namelist()
    assert sorted(names) == [
        "model.json",
        *(f"numbers/{k}.npy" for k in ("float64", "int32", "int64")),
    ]


def test_columns_and_labels_are_kept(tmp_path):
    X, Y = problem()
    features = [Feature("w"), Feature("x"), Feature("y"), Feature("z", "nominal", ("a", "b", "c"))]
    data = MultilabelDataset(X, Y, features=features, labels=["p", "q", "r", "s"])
    model = BinaryRelevance(categorical_features=data.categorical_features).fit(data.X, data.Y)
    save(model, tmp_path / "a", data=data, notes={"resample": "remedial"})
    stored = read_model(tmp_path / "a")

    assert stored.features == data.features
    assert stored.labels == ("p", "q", "r", "s")
    assert stored.has_names
    assert stored.notes == {"resample": "remedial"}

    other = MultilabelDataset(X[:, :2], Y)
    with pytest.raises(ScumbleError, match="not what the model was fitted on"):
        save(model, tmp_path / "b", data=other)
    assert not (tmp_path / "b").exists()


def test_columns_are_known_from_frames(tmp_path):
    X = pd.DataFrame({"size": [1.0, 2, 3, 4], "kind": pd.Categorical(["u", "v", "u", "v"])})
    Y = pd.DataFrame({"cat": [1, 1, 0, 0], "dog": [0, 0, 1, 1]})
    model = MLkNN(n_neighbors=1).fit(X, Y)
    save(model, tmp_path / "a")
    stored = read_model(tmp_path / "a")

    assert stored.features == (Feature("size"), Feature("kind", "nominal", ("u", "v")))
    assert stored.labels == ("cat", "dog")
    assert stored.model.predict(X).equals(model.predict(X))


def test_without_names_columns_have_none(tmp_path):
    X, Y = problem()
    save(MLkNN().fit(X, Y), tmp_path / "a")
    stored = read_model(tmp_path / "a")
    assert not stored.has_names
    assert stored.labels == ("y0", "y1", "y2", "y3")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_data_is_brought_into_the_models_columns(form):
    known = (
        Feature("colour", "nominal", ("red", "green", "blue")),
        Feature("size"),
        Feature("code", "nominal", ("1", "2")),
        Feature("level"),
    )
    X = form(np.array([[0.0, 5.0, 2.0, 9.0, 0.0], [1.0, 6.0, 1.0, 9.0, 1.0]]))
    names = [
        Feature("colour", "nominal", ("blue", "red")),
        Feature("size"),
        Feature("code"),
        Feature("unknown"),
        Feature("level", "nominal", ("0.5", "1.5")),
    ]
    found = align_columns(MultilabelDataset(X, [[1], [0]], features=names), known)

    found = found.toarray() if sparse.issparse(found) else found
    assert found.tolist() == [[2, 5, 1, 0.5], [0, 6, 0, 1.5]]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_missing_values_stay_missing(form):
    known = (Feature("colour", "nominal", ("red", "green")),)
    data = MultilabelDataset(
        form(np.array([[np.nan], [0.0], [1.0]])),
        [[1], [0], [0]],
        features=[Feature("colour", "nominal", ("green", "red"))],
    )
    found = align_columns(data, known)
    found = found.toarray() if sparse.issparse(found) else found
    assert np.isnan(found[0, 0])
    assert found[1:].tolist() == [[1], [0]]


def test_what_does_not_fit_is_named():
    known = (Feature("colour", "nominal", ("red", "green")), Feature("size"))
    one = MultilabelDataset([[1.0]], [[1]], features=[Feature("size")])
    with pytest.raises(ScumbleError, match=r"lacks 1 of the 2 columns.*'colour'"):
        align_columns(one, known)
    blue = MultilabelDataset(
        [[1.0, 0], [1.0, 1]],
        [[1], [0]],
        features=[Feature("size"), Feature("colour", "nominal", ("red", "blue"))],
    )
    numbers = (Feature("colour"), Feature("size"))
    with pytest.raises(ScumbleError, match=r"Row 0 .*'red' in column 'colour'. Expected a number"):
        align_columns(blue, numbers)
    with pytest.raises(ScumbleError, match="has 1 features, but the model was fitted on 2"):
        align_columns(one, known, by_name=False)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_categories_not_seen_are_missing_and_counted(form):
    known = (Feature("colour", "nominal", ("red", "green")), Feature("size"))
    colour = Feature("colour", "nominal", ("blue", "red"))
    X = form(np.array([[1.0, 0], [2.0, 1], [3.0, 0], [4.0, np.nan]]))
    data = MultilabelDataset(X, [[1]] * 4, features=[Feature("size"), colour])
    told = r"'colour' in 2 of 4 rows, such as 'blue' in row 0\."
    with pytest.warns(ScumbleWarning, match=told):
        found = align_columns(data, known)
    found = found.toarray() if sparse.issparse(found) else found
    assert found[:, 1].tolist() == [1, 2, 3, 4]
    assert found[1, 0] == 0
    assert np.isnan(found[[0, 2, 3], 0]).all()


def coded(*texts):
    code = Feature("code", "nominal", texts)
    X = np.arange(len(texts), dtype=float).reshape(-1, 1)
    return MultilabelDataset(X, [[1]] * len(texts), features=[code])


def test_categories_that_are_numbers_are_found_as_numbers():
    known = (Feature("code", "nominal", ("1", "2", "2.0", "007", "blue", "inf_", "10")),)
    found = align_columns(coded("1.0", "2", "2.0", "7", "blue", "1e1"), known)
    assert found.ravel().tolist() == [0, 1, 2, 3, 4, 6]
    # 2.00 could be either, 1_0 is no number, and nan is none either.
    with pytest.warns(ScumbleWarning, match=r"'code' in 4 of 5 rows, such as '2\.00' in row 1"):
        found = align_columns(coded("1", "2.00", "3.0", "1_0", "nan"), known)
    assert found[0, 0] == 0
    assert np.isnan(found[1:]).all()


@pytest.mark.parametrize("form", ["dd/MM/yyyy", "MM/dd/yyyy"])
def test_dates_are_read_in_the_order_of_training(tmp_path, form):
    known = (Feature("opened", "date", date_format=form), Feature("size"))
    train = MultilabelDataset(np.arange(8.0).reshape(4, 2), [[1], [0], [1], [0]], features=known)
    save(fit_dataset(MLkNN(n_neighbors=1), train), tmp_path / "m", data=train)
    features = read_model(tmp_path / "m").features
    assert features == known

    def rows(*texts):
        opened = Feature("opened", "nominal", texts)
        X = np.column_stack([np.arange(len(texts)), np.zeros(len(texts))])
        return MultilabelDataset(X, [[1]] * len(texts), features=[opened, Feature("size")])

    days = align_columns(rows("04/03/1970", "03/04/1970 12:00"), features)[:, 0] / 86_400_000
    expected = {"dd/MM/yyyy": [62, 92.5], "MM/dd/yyyy": [92, 62.5]}[form]
    assert days.tolist() == expected
    wrong = "13/14/1970"
    with pytest.raises(ScumbleError, match=f"Row 1 .*'{wrong}'.*Expected a date such as {form}"):
        align_columns(rows("04/03/1970", wrong), features)
    other = "MM/dd/yyyy" if form.startswith("dd") else "dd/MM/yyyy"
    found = replace(train, features=(Feature("opened", "date", date_format=other), known[1]))
    with pytest.raises(ScumbleError, match=f"read as {other}, but in training as {form}"):
        align_columns(found, features)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_numbers_are_no_dates_and_dates_no_numbers(form):
    known = (Feature("size"), Feature("opened", "date", date_format="dd/MM/yyyy"))
    plain = (Feature("size"), Feature("opened"))
    X = form(np.array([[1.0, np.nan], [2.0, 20240531], [3.0, 20240601]]))
    numbers = MultilabelDataset(X, [[1]] * 3, features=plain)
    told = r"'opened' of .*3 instances.* numbers, 20240531 in row 1\. Expected dates such as dd/MM"
    with pytest.raises(ScumbleError, match=told):
        align_columns(numbers, known)
    dates = replace(numbers, features=known)
    with pytest.raises(ScumbleError, match=r"'opened' of .* dates\. Expected numbers, as in train"):
        align_columns(dates, plain)
    assert align_columns(dates, known) is dates.X

    # A model without names has seen numbers; a column without values could hold anything.
    assert align_columns(dates, plain, by_name=False) is dates.X
    empty = MultilabelDataset(form(np.array([[1.0, np.nan]])), [[1]], features=plain)
    assert align_columns(empty, known) is empty.X
    without = replace(empty, features=known)
    assert align_columns(without, plain) is without.X


def test_models_that_are_not_fitted_are_refused(tmp_path):
    with pytest.raises(ScumbleError, match="not fitted"):
        save(MLkNN(), tmp_path / "a")
    with pytest.raises(ScumbleError, match="cannot be saved"):
        save("a text", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


# What strangers may do


class Intruder:
    """Stands for a class that nobody knows."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(X.shape[0], int)

    def get_params(self, deep=True):
        return {}


def test_unknown_types_are_refused_unless_trusted(tmp_path):
    X, Y = problem()
    model = BinaryRelevance(Intruder()).fit(np.nan_to_num(X), Y)
    save(model, tmp_path / "a")
    name = f"{Intruder.__module__}.Intruder"
    with pytest.raises(ScumbleError, match=rf"not trusted: {name}.*trusted=\['{name}'\]"):
        load(tmp_path / "a")
    again = load(tmp_path / "a", trusted=[name])
    assert again.predict(np.nan_to_num(X)).tolist() == np.zeros((40, 4), int).tolist()


def rewritten(content, change, foreign=None):
    """A model file with its JSON changed, and all its checksums right."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "model.json":
                text = json.loads(part)
                change(text)
                part = json.dumps(text).encode()
            new.writestr(name, part)
        if foreign is not None:
            new.writestr("foreign.skops", foreign)
    return buffer.getvalue()


def with_texts():
    words = Feature("t", "text", ("red sky", "blue sky", "blue sea", "red"))
    X = np.column_stack([np.arange(40) % 4, np.arange(40) % 5])
    return MultilabelDataset(X, X[:, :1] > [0, 1, 2], features=[words, "x"])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    X, Y = problem()
    folder = tmp_path_factory.mktemp("models")
    models = {
        "eccru": ECCRU(variant=2, n_estimators=2, random_state=0, categorical_features=[3]),
        "ecc": EnsembleOfClassifierChains(n_estimators=2, random_state=0, categorical_features=[3]),
        "clr": catalogue.get("classifier", "clr")(),
        "mlknn": MLkNN(),
        "iblr": IBLR(features=True),
        "br": BinaryRelevance(GaussianNB()),
        "forest": BinaryRelevance(RandomForestClassifier(2, random_state=0)),
        "ridge": RidgeRanker(),
        "smooth": RidgeRanker("rbf"),
        "neighbours": NeighbourRanker(5),
        "bagging": BaggedTrees(2, random_state=0),
        "blend": BlendedRanker([RidgeRanker(), NeighbourRanker(5)]),
        "rare": RareLabelClassifier(),
    }
    for name, model in models.items():
        save(model.fit(np.nan_to_num(X), Y), folder / name)
    save(C45Classifier().fit(X, Y[:, 0]), folder / "c45")
    save(fit_dataset(BinaryRelevance(), with_texts()), folder / "texts", data=with_texts())
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "name",
    ["os.system", "builtins.eval", "scumble.data.io.read",
     "scumble.learn.trees.c45.growing.grow_trees",
     "scumble.learn.nowhere.Thing", "scumble.learn.trees.c45.np", "subprocess.Popen", "", "x"],
)  # fmt: skip
def test_a_file_cannot_name_other_classes(saved, tmp_path, name):
    def change(text):
        text["model"]["class"] = name

    (tmp_path / "a").write_bytes(rewritten(saved["ecc"], change))
    with pytest.raises(ScumbleError, match="not trusted"):
        load(tmp_path / "a")


def state(text, *path):
    """Go down to a part of the stored state."""
    part = text["model"]["of"]
    for step in path:
        part = part[step]["of"]
    return part


def replace_array(part, key, **changes):
    part[key] = {**part[key], **changes}


def disguised(codes):
    """Another of our classes that answers to ``n_values``, as the right one does."""
    return {"$": "object", "class": "scumble._validation.features.Features", "of": {"codes": codes}}


CHANGES = {
    "eccru": [
        lambda t: replace_array(state(t)["orders_"], 0, at=5),
        lambda t: state(t)["orders_"].pop(),
        lambda t: state(t).update(n_labels_=3),
        lambda t: state(t).update(orders_=[[0, 1]]),
    ],
    "ecc": [
        lambda t: replace_array(state(t, "models_"), "first", at=0),
        lambda t: replace_array(state(t, "models_"), "leaf", at=1),
        lambda t: replace_array(state(t, "models_"), "roots", at=3),
        lambda t: replace_array(state(t, "models_"), "feature", type="int64"),
        lambda t: replace_array(state(t, "models_"), "cut", shape=[1]),
        lambda t: replace_array(state(t), "orders_", at=5),
        lambda t: state(t).update(n_features_in_=2),
        lambda t: state(t).update(n_labels_=3),
        lambda t: state(t).update(orders_=[[0, 1]]),
        lambda t: state(t).pop("models_"),
    ],
    "clr": [
        lambda t: replace_array(state(t), "pairs_", at=7),
        lambda t: state(t).update(pairs_=None),
        lambda t: replace_array(state(t, "models_"), "n_classes", at=0),
    ],
    "mlknn": [
        lambda t: state(t, "space_").update(divisors=None),
        lambda t: state(t, "space_").update(n_values=None),
        lambda t: replace_array(state(t, "space_"), "values", shape=[80, 2]),
        lambda t: state(t).update(n_labels_=2**40),
        lambda t: state(t)["labels_"].update(shape=[40, 2**40]),
        lambda t: state(t)["labels_"].update(shape=[40, 1]),
        lambda t: state(t)["labels_"].update({"as": "coo"}),
        lambda t: replace_array(state(t)["labels_"], "indices", at=0),
    ],
    "ridge": [
        lambda t: replace_array(state(t), "coefficients_", shape=[4, 3]),
        lambda t: replace_array(state(t), "intercepts_", shape=[3]),
        lambda t: state(t).update(coefficients_=None),
        lambda t: state(t).update(_scaling=None),
        lambda t: state(t).update(n_labels_=3),
        lambda t: state(t).update(n_labels_="4"),
        lambda t: state(t).update(kernel="rbf", kernel_="rbf"),
        lambda t: state(t, "_scaling").update(divisors=None),
        lambda t: replace_array(state(t, "_scaling"), "divisors", shape=[3]),
        lambda t: state(t, "_scaling").update(knots=None),
        lambda t: replace_array(state(t, "_scaling"), "knots", shape=[4, 255]),
        lambda t: state(t, "_scaling", "columns").update(fill_values=None),
        lambda t: replace_array(state(t, "_scaling", "columns"), "n_categories", shape=[3]),
    ],
    "smooth": [
        lambda t: replace_array(state(t, "_kernel"), "points", shape=[80, 2]),
        lambda t: state(t, "_kernel").update(gamma=None),
        lambda t: state(t, "_kernel").update(power=1),
        lambda t: state(t, "_kernel").update(gamma=0.0),
        lambda t: state(t).update(_kernel=None),
        lambda t: replace_array(state(t), "coefficients_", shape=[39, 4]),
    ],
    "neighbours": [
        lambda t: replace_array(state(t, "space_"), "values", shape=[80, 2]),
        lambda t: replace_array(state(t, "space_"), "values", shape=[20, 4]),
        lambda t: state(t)["labels_"].update(shape=[40, 1]),
        lambda t: state(t).update(labels_=None),
        lambda t: state(t).update(n_neighbors_=40),
        lambda t: state(t).update(n_neighbors_=-1),
        lambda t: replace_array(state(t), "_weights", shape=[39]),
        lambda t: replace_array(state(t), "_shares", shape=[3]),
        lambda t: state(t).update(_scaling=None),
    ],
    "bagging": [
        lambda t: state(t).update(n_estimators=3),
        lambda t: state(t).update(n_estimators="2"),
        lambda t: state(t).update(models_=None),
        lambda t: replace_array(state(t, "models_"), "n_classes", at=0),
        lambda t: replace_array(state(t, "models_"), "feature", type="int64"),
    ],
    "blend": [
        lambda t: state(t)["rankers_"].pop(),
        lambda t: state(t)["rank_scales_"].pop(),
        lambda t: state(t)["rank_scales_"].__setitem__(0, None),
        lambda t: state(t)["rankers_"].__setitem__(0, None),
        lambda t: replace_array(state(t)["rank_scales_"][0]["of"], "starts", at=0),
        lambda t: state(t)["rank_scales_"][0]["of"].update(are_probabilities=None),
        lambda t: replace_array(state(t)["rank_scales_"][0]["of"], "rates", shape=[3]),
        lambda t: replace_array(state(t, "calibration_"), "slopes", shape=[3]),
        lambda t: state(t).update(weights=[1.0]),
        lambda t: replace_array(state(t), "weights_", shape=[3]),
        lambda t: replace_array(state(t)["rankers_"][0]["of"], "varying_labels", shape=[3]),
        lambda t: replace_array(state(t)["rankers_"][0]["of"], "is_always_present", shape=[3]),
        lambda t: replace_array(state(t)["rankers_"][1]["of"]["model"]["of"], "_shares", shape=[3]),
    ],
    "rare": [
        lambda t: replace_array(state(t), "thresholds_", shape=[3]),
        lambda t: state(t)["curves_"].pop(),
        lambda t: state(t).update(estimator_=None),
        lambda t: replace_array(state(t, "estimator_"), "varying_labels", shape=[3]),
        lambda t: replace_array(state(t, "estimator_", "model"), "intercepts_", shape=[3]),
    ],
    "c45": [
        lambda t: state(t).update(_codes=disguised(state(t)["_codes"])),
        lambda t: state(t, "_codes").update(names={"$": "tuple", "of": ["a"]}),
        lambda t: state(t).update(feature_names_in_=["a"]),
        lambda t: state(t).update(feature_names_in_=list("abcde")),
        lambda t: replace_array(state(t, "tree_"), "first", at=0),
        lambda t: replace_array(state(t, "tree_"), "counts", shape=[1, 2]),
    ],
}


def test_children_beyond_the_largest_number_are_refused():
    feature, cut = np.array([0, -1, -1]), np.array([0.5, np.nan, np.nan])
    largest = np.iinfo(np.int64).max
    for first, width in ((largest, 2), (1, largest), (largest - 1, 2), (2, 2)):
        children = (np.array([first, 0, 0]), np.array([width, 0, 0]))
        with pytest.raises(ReadError, match="the children of a tree's node do not fit"):
            check_nodes(feature, cut, *children, np.array([0]))
    check_nodes(feature, cut, np.array([1, 0, 0]), np.array([2, 0, 0]), np.array([0]))


def test_a_blend_from_before_its_weights_were_kept_asks_for_training(saved, tmp_path):
    (tmp_path / "a").write_bytes(rewritten(saved["blend"], lambda t: state(t).pop("weights_")))
    with pytest.raises(ScumbleError, match="a: this model is of an earlier version of scumble"):
        load(tmp_path / "a")


@pytest.mark.parametrize("weights", [[np.nan, 1], [0, 0], [-1, 2]])
def test_weights_of_a_blend_are_numbers_that_weigh(saved, tmp_path, weights):
    path = tmp_path / "a"
    path.write_bytes(saved["blend"])
    model = load(path)
    model.weights_ = np.array(weights, float)
    save(model, path)
    with pytest.raises(ScumbleError, match="the rankers do not fit"):
        load(path)


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name, all_ in CHANGES.items() for change in all_]
)
def test_numbers_that_point_elsewhere_are_refused(saved, tmp_path, name, change):
    (tmp_path / "a").write_bytes(rewritten(saved[name], change))
    with pytest.raises(ScumbleError, match=r"damaged|earlier version"):
        load(tmp_path / "a")


def test_a_scikit_learn_tree_is_looked_over_too(saved, tmp_path):
    model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    whole = skops.io.dumps([model])
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(buffer, "w") as new:
        for entry in old.namelist():
            part = old.read(entry)
            if entry.endswith(".npy"):
                array = np.load(io.BytesIO(part), allow_pickle=False)
                if array.dtype.names and "left_child" in array.dtype.names:
                    array["left_child"][0] = 10**9
                    stream = io.BytesIO()
                    np.save(stream, array)
                    part = stream.getvalue()
            new.writestr(entry, part)
    for content, fine in ((whole, True), (buffer.getvalue(), False)):
        bad = rewritten(
            saved["mlknn"], lambda text: text.update(model={"$": "foreign", "at": 0}), content
        )
        (tmp_path / "a").write_bytes(bad)
        if fine:
            assert load(tmp_path / "a").predict([[1.0]]) == [1]
        else:
            with pytest.raises(ScumbleError, match="scikit-learn tree do not fit"):
                load(tmp_path / "a")


def test_skops_files_of_strangers_are_refused(saved, tmp_path):
    evil = skops.io.dumps([print])
    content = rewritten(saved["mlknn"], lambda text: None, foreign=evil)
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ScumbleError, match=r"not trusted: builtins.print"):
        load(tmp_path / "a")


def test_newer_files_and_other_files_say_so(saved, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(rewritten(saved["br"], lambda t: t.update(format_version=99, scumble="9.9")))
    with pytest.raises(ScumbleError, match=r"newer version 9\.9.*Update"):
        load(path)
    path.write_bytes(rewritten(saved["br"], lambda t: t.update(format="a song")))
    with pytest.raises(ScumbleError, match="'a song'"):
        load(path)
    path.write_text("no model at all")
    with pytest.raises(ScumbleError, match="not a model of scumble"):
        load(path)
    with pytest.raises(ScumbleError, match="no such file"):
        load(tmp_path / "b")


def test_bombs_are_refused(tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", b" " * (200 << 20))
    (tmp_path / "a").write_bytes(buffer.getvalue())
    with pytest.raises(ScumbleError, match="would grow"):
        load(tmp_path / "a")
    deep = '{"format": "scumble model", "format_version": 1, "model": ' + "[" * 100_000
    with zipfile.ZipFile(tmp_path / "b", "w") as archive:
        archive.writestr("model.json", deep)
    with pytest.raises(ScumbleError, match="damaged"):
        load(tmp_path / "b")


@settings(max_examples=150)
@given(
    st.sampled_from(["ecc", "mlknn", "br", "c45", "rare", "blend", "bagging", "texts"]),
    st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=4)), min_size=1, max_size=4),
    st.one_of(st.none(), st.floats(0, 1)),
)
def test_damaged_files_end_in_a_model_or_an_error(saved, tmp_path_factory, name, edits, cut):
    content = bytearray(saved[name])
    for place, patch in edits:
        at = int(place * len(content))
        content[at : at + len(patch)] = patch
    if cut is not None:
        content = content[: int(cut * len(content))]
    path = tmp_path_factory.getbasetemp() / "damaged.model"
    path.write_bytes(content)
    try:
        load(path)
    except ScumbleError as error:
        message = str(error)
    else:
        message = str(path)
    assert str(path) in message


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 2**40), st.floats(), st.text(max_size=3),
    st.sampled_from(
        ["array", "sparse", "object", "csr", "int64", "scumble.learn.trees.c45.forest.Forest"]
    ),
    st.lists(st.integers(-1, 5), max_size=3),
)  # fmt: skip


@settings(max_examples=150)
@given(st.sampled_from(["ecc", "clr", "mlknn", "iblr", "c45", "texts"]), st.data())
def test_clever_changes_end_in_a_model_or_an_error(saved, tmp_path_factory, name, data):
    X = np.nan_to_num(problem()[0])

    def change(text):
        part = text["model"]
        for _ in range(data.draw(st.integers(0, 5))):
            inner = [v for v in (part.values() if isinstance(part, dict) else part) if v]
            inner = [v for v in inner if isinstance(v, dict | list)]
            if not inner:
                break
            part = inner[data.draw(st.integers(0, len(inner) - 1))]
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        part[keys[data.draw(st.integers(0, len(keys) - 1))]] = data.draw(VALUES)

    path = tmp_path_factory.getbasetemp() / "clever.model"
    path.write_bytes(rewritten(saved[name], change))
    try:
        model = load(path)
    except ScumbleError:
        return
    try:  # it may answer or raise, but it must not take the process down
        model.predict(with_texts() if name == "texts" else X)
    except Exception:
        return


def test_a_foreign_model_that_answers_with_a_list_of_tables(tmp_path):
    X = np.arange(12.0).reshape(-1, 1)
    data = MultilabelDataset(X, np.column_stack([X < 6, X >= 4]))
    fitted = fit_dataset(DecisionTreeClassifier(max_depth=1), data)
    save(fitted, tmp_path / "tree.model", data=data)
    answers = predict_dataset(read_model(tmp_path / "tree.model"), data)
    expected = np.column_stack([table[:, 1] for table in fitted.predict_proba(X)])
    np.testing.assert_array_equal(answers.confidences, expected)
    assert (answers.labels.toarray() == fitted.predict(X)).all()
