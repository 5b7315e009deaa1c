"""Text columns: words learnt from training rows, inside folds and inside stored models."""

import json
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import KNeighborsClassifier

import scumble
from scumble import MultilabelDataset, catalogue
from scumble._core.errors import DataError, ParameterTypeError, ScumbleError, ScumbleWarning
from scumble.advice import CANDIDATES
from scumble.data import Feature
from scumble.evaluate import cross_validate, run_fold
from scumble.learn import (
    BinaryRelevance,
    MLkNN,
    RareLabelClassifier,
    TextColumns,
    TextModel,
    fit_dataset,
    load,
    predict_dataset,
    read_model,
    save,
)
from scumble.resample import MLSMOTE, make_chain
from tests.learn.storage.test_storage import rewritten

TOPICS = {
    "printer": ("paper", "ink", "jam"),
    "login": ("password", "locked", "reset"),
    "legal": ("contract", "lawyer", "privacy"),
}
SHARES = (0.6, 0.5, 0.15)


def ticket_frame(n=90, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        tags = [tag for tag, share in zip(TOPICS, SHARES, strict=True) if rng.random() < share]
        words = [word for tag in tags for word in rng.choice(TOPICS[tag], 2)]
        words += list(rng.choice(["please", "help", "today", "the"], 3))
        rng.shuffle(words)
        rows.append((" ".join(words), rng.choice(["low", "high"]), rng.random(), ";".join(tags)))
    return pd.DataFrame(rows, columns=["subject", "priority", "amount", "tags"])


def tickets(n=90, seed=0):
    return MultilabelDataset.from_frame(
        ticket_frame(n, seed), label_columns="tags", label_separator=";", text="subject", name="t"
    )


def test_numbers_are_those_of_scikit_learn_on_the_training_rows():
    frame, data = ticket_frame(), tickets()
    train, test = np.arange(60), np.arange(60, 90)
    texts = TextColumns.of(data[train])
    twin = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(frame["subject"][train])
    assert texts.words == (tuple(twin.get_feature_names_out()),)
    for rows in (train, test):
        numbers = texts.transform(data[rows])
        expected = twin.transform(frame["subject"][rows]).toarray()
        np.testing.assert_array_equal(numbers.X[:, 2:].toarray(), expected)
        np.testing.assert_array_equal(numbers.X[:, :2].toarray(), data.X[rows][:, 1:])
        assert numbers.feature_names[:3] == ("priority", "amount", f"subject: {texts.words[0][0]}")
        assert numbers.categorical_features == {0: 2}
        assert numbers.labels == data.labels
        assert (numbers.Y != data.Y[rows]).nnz == 0


def test_data_without_texts_is_not_touched():
    data = MultilabelDataset([[1.0], [2.0]], [[1], [0]])
    texts = TextColumns.of(data)
    assert texts.transform(data) is data
    model = MLkNN(n_neighbors=1)
    assert texts.wrap_model(model, data) is model
    assert not isinstance(fit_dataset(model, data), TextModel)


def text_set(texts, labels):
    known = sorted({text for text in texts if text is not None})
    codes = [[np.nan if text is None else known.index(text)] for text in texts]
    return MultilabelDataset(codes, labels, features=[Feature("t", "text", tuple(known))])


def test_texts_without_words_missing_ones_and_names_that_meet():
    data = text_set(["a b", "!", None], [[1], [0], [1]])
    assert TextColumns.of(data).words == ((),)
    assert TextColumns.of(data).transform(data).X.shape == (3, 0)
    once = text_set(["red", None], [[1], [0]])
    assert TextColumns.of(once).words == (("red",),)  # no word stands twice
    assert TextColumns.of(once).transform(once).X.toarray().tolist() == [[1.0], [0.0]]
    features = [Feature("t: red"), Feature("t", "text", ("red",))]
    both = MultilabelDataset([[5.0, 0.0], [6.0, 0.0]], [[1], [0]], features=features)
    assert TextColumns.of(both).transform(both).feature_names == ("t: red", "t: red_")


def test_nothing_to_learn_from_is_said():
    with pytest.raises(DataError, match=r"no column to learn from.*text='NAME'"):
        fit_dataset(BinaryRelevance(), MultilabelDataset(np.empty((3, 0)), [[1], [0], [1]]))


def test_weights_and_sparse_neighbours_stay():
    data = tickets(20)
    weights = np.arange(20.0)
    heavy = MultilabelDataset(data.X, data.Y, features=data.features, weights=weights)
    np.testing.assert_array_equal(TextColumns.of(heavy).transform(heavy).weights, weights)
    from scipy import sparse

    thin = MultilabelDataset(sparse.csr_array(data.X), data.Y, features=data.features)
    texts = TextColumns.of(data)
    np.testing.assert_array_equal(
        texts.transform(thin).X.toarray(), texts.transform(data).X.toarray()
    )
    assert TextColumns.of(thin).words == texts.words


def test_no_word_of_a_test_row_is_known_before_it_is_judged():
    data = tickets()
    train, test = data[:60], data[60:]
    fold = run_fold(train, test, BinaryRelevance())
    changed = text_set(["zebra " * 3] * 30, np.eye(3, dtype=int)[np.arange(30) % 3])
    subject = Feature("subject", "text", changed.features[0].categories)
    X = np.column_stack([changed.X, test.X[:, 1:]])
    other = MultilabelDataset(X, test.Y, features=[subject, *test.features[1:]], labels=test.labels)
    again = run_fold(train, other, BinaryRelevance())
    assert again.training == fold.training
    assert not any("zebra" in name for name in again.training.feature_names)


def test_a_word_shared_by_a_training_and_a_test_row_alone_gives_nothing_away():
    """Two rows share each word, and their label; one of them is always held out.

    Whoever learnt the words of both parts together would know each word, and every label by it.
    """
    rng = np.random.default_rng(0)
    half = 60
    truth = rng.integers(0, 2, half)
    texts = [f"the word{at % half:02}" for at in range(2 * half)]
    data = text_set(texts, np.tile(truth, 2)[:, None])
    folds = [
        (np.arange(half), np.arange(half, 2 * half)),
        (np.arange(half, 2 * half), np.arange(half)),
    ]
    found = cross_validate(data, KNeighborsClassifier(1), splitter=folds, random_state=0)
    assert [fold.evaluation["accuracy"] for fold in found.folds] != [1.0, 1.0]
    for train, test in folds:
        fold = run_fold(data[train], data[test], KNeighborsClassifier(1))
        assert fold.training.feature_names == ("t: the",)
        assert (
            len(set(fold.predictions.toarray().ravel().tolist())) == 1
        )  # nothing tells rows apart
    together = TextColumns.of(data)
    assert len(together.words[0]) == half + 1  # the leak that there is none of


@pytest.mark.parametrize("name", sorted(catalogue.names("resampler")))
def test_every_resampler_meets_numbers_inside_a_fold(name):
    data = tickets()
    chain = make_chain(name)
    for step in chain:
        if "random_state" in step.get_params():
            step.set_params(random_state=0)
    fold = run_fold(data[:60], data[60:], BinaryRelevance(), chain, random_state=0)
    assert not fold.resampled.text_features
    assert fold.resampled.features == fold.training.features
    assert fold.evaluation["micro_f1"] > 0.5


def test_distances_between_raw_texts_are_refused_and_clones_are_not():
    data = tickets()
    with pytest.raises(DataError, match=r"the texts of column 'subject' have none.*fit_dataset"):
        MLSMOTE().resample(data)
    more = make_chain("mlros", percent=20, random_state=0)[0].resample(data)
    assert len(more) > len(data)
    assert more.features == data.features


def test_one_seed_one_answer_for_any_number_of_threads():
    data = tickets()
    models = [RareLabelClassifier(n_jobs=n) for n in (1, 3)]
    one, two = (
        cross_validate(data, model, "mlsmote", splitter="1x2", random_state=3) for model in models
    )
    assert [f.evaluation["macro_f1"] for f in one.folds] == [
        f.evaluation["macro_f1"] for f in two.folds
    ]
    assert one["macro_f1"].mean > 0.8


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "tickets.model"
    data = tickets()
    save(fit_dataset(RareLabelClassifier(), data, [MLSMOTE(random_state=0)]), path, data=data)
    return path


def new_rows():
    frame = ticket_frame(40, seed=1)
    frame.loc[0, "subject"] = "Zanzibar, unheard of"
    return frame


def test_a_stored_model_reads_texts_of_a_plain_table(stored, tmp_path):
    frame = new_rows()
    path = tmp_path / "new.csv"
    frame.assign(extra=range(40))[["extra", "amount", "subject", "priority"]].to_csv(
        path, index=False
    )
    kept = read_model(stored)
    answers = predict_dataset(kept, scumble.read(path, labels=()))
    model = kept.model
    assert isinstance(model, TextModel)
    np.testing.assert_array_equal(model.predict(frame).toarray(), answers.labels.toarray())
    np.testing.assert_array_equal(model.predict_proba(pl.from_pandas(frame)), answers.confidences)
    truth = MultilabelDataset.from_frame(
        frame, label_columns="tags", label_separator=";", text="subject"
    )
    assert scumble.evaluate.evaluate(truth.Y, answers.labels)["macro_f1"] > 0.8
    np.testing.assert_array_equal(model.predict(truth).toarray(), answers.labels.toarray())


def test_a_stored_model_is_the_fitted_one_and_holds_no_training_text(stored, tmp_path):
    data = tickets()
    fitted = fit_dataset(RareLabelClassifier(), data, [MLSMOTE(random_state=0)])
    again = load(stored)
    rows = new_rows()
    np.testing.assert_array_equal(fitted.predict_proba(rows), again.predict_proba(rows))
    assert repr(again) == "TextModel(subject: RareLabelClassifier(categorical_features={0: 2}))"
    save(again, tmp_path / "b")
    text = json.loads(zipfile.ZipFile(stored).read("model.json"))
    told = json.dumps(text)
    assert not any(subject in told for subject in ticket_frame()["subject"])
    assert text["features"][0] == {"name": "subject", "kind": "text"}
    assert read_model(tmp_path / "b").features == read_model(stored).features


def test_dates_and_numbers_are_read_as_when_fitting(tmp_path):
    frame = ticket_frame(60).assign(created=[f"2024-{at % 12 + 1:02}-01" for at in range(60)])
    with pytest.warns(ScumbleWarning, match="'created' holds dates"):
        data = MultilabelDataset.from_frame(
            frame, label_columns="tags", label_separator=";", text="subject"
        )
    model = fit_dataset(BinaryRelevance(), data)
    rows = frame.head(3).assign(subject=[11, 12, 13])
    assert model.predict(rows).shape == (3, 3)
    with pytest.raises(DataError, match=r"'created'.*Expected a date such as"):
        model.predict(frame.head(1).assign(created="soon"))


@pytest.mark.parametrize(
    ("rows", "error", "reason"),
    [
        (np.zeros((2, 3)), ParameterTypeError, "takes a MultilabelDataset or a DataFrame"),
        (pd.DataFrame({"priority": ["low"], "amount": [1.0]}), DataError, "no column 'subject'"),
        (MultilabelDataset([[1.0]], [[1]]), DataError, "lacks the text column 'subject'"),
    ],
)
def test_rows_that_do_not_fit_are_refused(stored, rows, error, reason):
    with pytest.raises(error, match=reason):
        load(stored).predict(rows)
    with pytest.raises(ParameterTypeError, match="fitted already"):
        load(stored).fit([[1.0]], [[1]])


def _texts(text):
    return text["model"]["of"]["texts"]["of"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: _texts(text)["words"]["of"][0]["of"].append("more"),
        lambda text: _texts(text)["words"]["of"][0]["of"].__setitem__(0, 5),
        lambda text: _texts(text)["words"]["of"][0]["of"].__setitem__(0, "jam"),
        lambda text: _texts(text)["words"].__setitem__("of", []),
        lambda text: _texts(text)["names"].__setitem__("of", ["else"]),
        lambda text: _texts(text)["weights"].__setitem__("of", [None]),
        lambda text: text["model"]["of"].__setitem__("texts", None),
        lambda text: text["model"]["of"].__setitem__("columns", 5),
    ],
)
def test_words_that_do_not_fit_are_refused(stored, tmp_path, change):
    (tmp_path / "a").write_bytes(rewritten(stored.read_bytes(), change))
    with pytest.raises(ScumbleError):
        load(tmp_path / "a")


def test_advice_judges_texts_on_folds_and_trains_a_model_that_reads_them():
    data = tickets()
    rare = CANDIDATES[0]
    assert not rare.has_out_of_sample_scores(data)
    assert rare.has_out_of_sample_scores(TextColumns.of(data).transform(data))
    after = next(one for one in CANDIDATES if one.resampler == "mlsmote")
    model = after.fit(data, random_state=0)
    assert isinstance(model, TextModel)
    assert model.predict(new_rows()).shape == (40, 3)
    found = scumble.advice.diagnose(data)
    assert found.identifiers == ()
    assert found.leaks == ()


def test_a_category_the_model_has_not_seen_is_missing():
    data = tickets()
    model = fit_dataset(BinaryRelevance(), data)
    rows = ticket_frame(5).assign(priority=["low", "high", "low", "urgent", "low"])
    expected = model.predict(rows.assign(priority=["low", "high", "low", None, "low"])).toarray()
    with pytest.warns(
        ScumbleWarning, match=r"'priority' in 1 of 5 rows, such as 'urgent' in row 3"
    ):
        assert (model.predict(rows).toarray() == expected).all()
    with pytest.warns(ScumbleWarning, match=r"'priority' in 5 of 5 rows, such as '7' in row 0"):
        model.predict(rows.assign(priority=7))
