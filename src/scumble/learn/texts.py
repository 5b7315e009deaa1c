"""Text columns as TF-IDF features, fitted to training rows alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from scumble._core.arrays import Array, get_column
from scumble._core.errors import DataError, ParameterTypeError
from scumble._validation.frames import frame_columns, is_frame
from scumble.data import Feature, MultilabelDataset

#: Smallest number of training rows that contain a word: a word of a single row says nothing about
#: other rows.
MIN_ROWS = 2
#: Largest number of words of a column; the most frequent ones are used.
MAX_WORDS = 20_000
#: Regular expression of a word: at least two letters or digits.
WORD = r"(?u)\b\w\w+\b"


@dataclass(frozen=True, eq=False)
class TextColumns:
    """The vocabulary of the text columns of a data set, with the weights of its words.

    Texts become numbers in this class only. Words and weights are those of the rows passed to `of`.
    Cross-validation, experiments and models pass training rows, so that no information from test
    rows is used.

    Attributes
    ----------
    names : tuple of str
        Names of the text columns.
    words : tuple of tuple of str
        The words of each column that at least two rows contain (one row, if there are no such
        words), at most 20,000.
    weights : tuple of ndarray
        The inverse document frequency of each word.

    Notes
    -----
    TF-IDF of scikit-learn's ``TfidfVectorizer`` with ``sublinear_tf=True``: a word that occurs *t*
    times in a text has (1 + ln t) times its weight, and each row of TF-IDF features has length 1.
    Words are in lower case and have at least two letters or digits. A missing text has no words.

    See Also
    --------
    TextModel : A fitted classifier that reads texts.

    Examples
    --------
    >>> from scumble.data import Feature, MultilabelDataset
    >>> from scumble.learn import TextColumns
    >>> subject = Feature("subject", "text", ("no sound", "no picture", "sound of no picture"))
    >>> data = MultilabelDataset([[0], [1], [2]], [["a"], ["b"], ["a", "b"]], features=[subject])
    >>> texts = TextColumns.of(data[:2])
    >>> texts.words
    (('no',),)
    >>> numbers = TextColumns.of(data).transform(data[:1])
    >>> numbers.feature_names, numbers.X.toarray().round(2)
    (('subject: no', 'subject: picture', 'subject: sound'), array([[0.61, 0.  , 0.79]]))
    """

    names: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    weights: tuple[Array, ...]

    @classmethod
    def of(cls, data: MultilabelDataset) -> TextColumns:
        """Return the vocabulary of all text columns of a data set.

        Parameters
        ----------
        data : MultilabelDataset
            Training rows.

        Returns
        -------
        TextColumns
            Without columns if the data has no text columns.
        """
        names = tuple(data.features[index].name for index in data.text_features)
        words = []
        weights = []
        for name in names:
            column_words, column_weights = _fit_vocabulary(column_texts(data, name))
            words.append(column_words)
            weights.append(column_weights)
        return cls(names, tuple(words), tuple(weights))

    def transform(self, data: MultilabelDataset) -> MultilabelDataset:
        """Replace texts by TF-IDF features.

        Parameters
        ----------
        data : MultilabelDataset
            Rows with the text columns of the training rows. Words outside the vocabulary are
            ignored.

        Returns
        -------
        MultilabelDataset
            The other features, followed by a sparse feature per word; the data itself if there are
            no text columns.
        """
        if not self.names:
            return data
        other_columns = [
            index for index, feature in enumerate(data.features) if feature.name not in self.names
        ]
        features = [data.features[index] for index in other_columns]
        used_names = {feature.name for feature in features}
        for name, words in zip(self.names, self.words, strict=True):
            features += [Feature(_unused_name(f"{name}: {word}", used_names)) for word in words]
        X = self.append_words(data.X[:, other_columns], data)
        return MultilabelDataset(
            X, data.Y, features=tuple(features), labels=data.labels, name=data.name,
            weights=data.weights, label_parents=data.label_parents,
        )  # fmt: skip

    def append_words(self, X: Any, data: MultilabelDataset) -> sparse.csr_array:
        """Return other columns of a data set's rows, followed by the TF-IDF of its texts."""
        blocks = [sparse.csr_array(X)]
        for name, words, weights in zip(self.names, self.words, self.weights, strict=True):
            blocks.append(_tf_idf(column_texts(data, name), words, weights))
        return sparse.csr_array(sparse.hstack(blocks, format="csr"))

    def wrap_model(self, model: Any, data: MultilabelDataset) -> Any:
        """Wrap a classifier that was fitted to TF-IDF features, so that it takes texts.

        Parameters
        ----------
        model : estimator
            A classifier fitted to the result of `transform`.
        data : MultilabelDataset
            The training rows before `transform`.

        Returns
        -------
        TextModel
            Or the classifier itself if there are no text columns.
        """
        if self.names:
            return TextModel(self, model, data.features)
        return model


class TextModel(ClassifierMixin, BaseEstimator):
    """A fitted classifier together with the vocabulary of its text columns.

    `fit_dataset` returns one for data with text columns, and `save` stores both parts. It predicts
    new rows with texts.

    Parameters
    ----------
    texts : TextColumns
        The vocabulary of the training rows.
    model : estimator
        The classifier, fitted to TF-IDF features.
    features : sequence of Feature
        The columns of the training rows before their texts became numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from scumble import MultilabelDataset
    >>> from scumble.learn import BinaryRelevance, fit_dataset
    >>> tickets = pd.DataFrame({
    ...     "subject": ["no sound", "sound is low", "no picture", "picture is dark"],
    ...     "tags": ["sound", "sound", "picture", "picture"],
    ... })
    >>> data = MultilabelDataset.from_frame(
    ...     tickets, label_columns="tags", label_separator=";", text="subject"
    ... )
    >>> model = fit_dataset(BinaryRelevance(), data)
    >>> model.predict(pd.DataFrame({"subject": ["The sound!"]})).toarray()  # picture, sound
    array([[False,  True]])
    """

    def __init__(self, texts: TextColumns, model: Any, features: Any) -> None:
        self.texts = texts
        self.model = model
        # Tuples of texts, which a file can store. The texts of the training rows are left out.
        columns = []
        for feature in features:
            categories = () if feature.kind == "text" else feature.categories
            columns.append((feature.name, feature.kind, categories, feature.date_format))
        self.columns = tuple(columns)

    @property
    def features(self) -> tuple[Feature, ...]:
        """The columns of the training rows, without the texts themselves."""
        return tuple(
            Feature(name, kind, categories, date_format=date_format)
            for name, kind, categories, date_format in self.columns
        )

    @property
    def n_features_in_(self) -> int:
        """Number of columns; a text is one column."""
        return len(self.columns)

    @property
    def n_labels_(self) -> int | None:
        """Number of labels; None if the classifier does not have this attribute."""
        return getattr(self.model, "n_labels_", None)

    @property
    def classes_(self) -> Any:
        """The ``classes_`` of the classifier."""
        return self.model.classes_

    def fit(self, X: Any, y: Any) -> TextModel:
        """Raise an error: `fit_dataset` creates a `TextModel` from a data set."""
        raise ParameterTypeError(
            "A TextModel is fitted already. Fit another with "
            "fit_dataset(classifier, data), whose text columns become words."
        )

    def predict(self, rows: Any) -> Any:
        """Predict the labels of each row.

        Parameters
        ----------
        rows : MultilabelDataset or DataFrame
            Rows with the columns of the training rows, in any order.

        Returns
        -------
        csr_array or ndarray of shape (n_samples, n_labels)
            The predictions of the classifier.
        """
        return self.model.predict(self.read(rows))

    def predict_proba(self, rows: Any) -> Any:
        """Return the score of each row and label.

        Parameters
        ----------
        rows : MultilabelDataset or DataFrame
            Rows with the columns of the training rows, in any order.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            The scores of the classifier.
        """
        return self.model.predict_proba(self.read(rows))

    def read(self, rows: Any) -> Any:
        """Return rows as the features that the classifier was fitted to.

        Parameters
        ----------
        rows : MultilabelDataset or DataFrame
            Rows with the columns of the training rows, in any order.

        Returns
        -------
        csr_array or ndarray of shape (n_samples, n_columns)
            Sparse if the classifier takes sparse features.
        """
        from scumble.learn.predictions import adapt_features
        from scumble.learn.storage.columns import align_columns

        data = self._as_dataset(rows)
        missing = [name for name in self.texts.names if name not in data.feature_names]
        if missing:
            raise DataError(
                f"{data!r} lacks the text column {missing[0]!r} the model was fitted on. Names "
                "must be the same, order does not matter."
            )
        other_features = tuple(feature for feature in self.features if feature.kind != "text")
        X = self.texts.append_words(align_columns(data, other_features), data)
        return adapt_features(self.model, X)

    def _as_dataset(self, rows: Any) -> MultilabelDataset:
        """Return a data set, or the training columns of a frame as a data set without labels."""
        if isinstance(rows, MultilabelDataset):
            return rows
        if not is_frame(rows):
            raise ParameterTypeError(
                "A model of texts takes a MultilabelDataset or a DataFrame with the columns "
                f"{', '.join(name for name, *_ in self.columns[:5])}. "
                f"Got {type(rows).__name__} instead."
            )
        names, _ = frame_columns(rows, caller="TextModel")
        columns = [name for name, *_ in self.columns]
        ignored = [name for name in names if name not in columns]
        return MultilabelDataset.from_frame(rows, label_columns=[], ignore=ignored, keep=columns)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"TextModel({', '.join(self.texts.names)}: {self.model!r})"


def column_texts(data: MultilabelDataset, name: str) -> list[str]:
    """Return the text of a column for each row; a missing one is empty."""
    index = data.feature_names.index(name)
    feature = data.features[index]
    cells = get_column(data.X, index)
    if feature.kind == "date":
        raise DataError(
            f"Column {name!r} of {data!r} holds dates. Expected texts, as when fitting."
        )
    if not feature.holds_codes:  # a reader took texts such as "12" for numbers
        return ["" if np.isnan(number) else f"{number:.15g}" for number in cells.tolist()]
    codes = np.where(np.isnan(cells), len(feature.categories), cells).astype(np.intp)
    texts = [*feature.categories, ""]
    return [texts[code] for code in codes.tolist()]


def _vectorizer(**options: Any) -> Any:
    """Return scikit-learn's vectorizer with the options that all text columns share."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, token_pattern=WORD, **options)


def _fit_vocabulary(texts: list[str]) -> tuple[tuple[str, ...], Array]:
    """Return the words of texts in alphabetical order, and their inverse document frequencies."""
    for min_rows in (MIN_ROWS, 1):
        vectorizer = _vectorizer(min_df=min_rows, max_features=MAX_WORDS)
        try:
            vectorizer.fit(texts)
        except ValueError:  # no word occurs in at least `min_rows` rows
            continue
        words = tuple(vectorizer.get_feature_names_out().tolist())
        return words, np.asarray(vectorizer.idf_, np.float64)
    return (), np.empty(0)


def _tf_idf(texts: list[str], words: tuple[str, ...], weights: Array) -> sparse.csr_array:
    """Return the TF-IDF features of texts: a row per text and a column per word."""
    if not words:
        return sparse.csr_array((len(texts), 0))
    vectorizer = _vectorizer(vocabulary={word: index for index, word in enumerate(words)})
    vectorizer.idf_ = weights
    return sparse.csr_array(vectorizer.transform(texts))


def _unused_name(name: str, used_names: set[str]) -> str:
    """Return a name with underscores appended until it is unused, and add it to the used ones."""
    while name in used_names:
        name += "_"
    used_names.add(name)
    return name
