"""Text columns: their words as numbers, learnt from training rows alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from scumble._core.arrays import Array, get_column
from scumble._core.errors import DataError, ParameterTypeError
from scumble._core.frames import frame_columns, is_frame
from scumble.data import Feature, MultilabelDataset

#: A word must stand in so many training rows: one that stands in a single row tells nothing of
#: others.
FEWEST_ROWS = 2
#: So many words of a column are learnt, the most frequent ones.
MOST_WORDS = 20_000
#: What a word is: two letters or digits at least.
WORD = r"(?u)\b\w\w+\b"


@dataclass(frozen=True, eq=False)
class TextColumns:
    """The words of a data set's text columns, and how much each of them says.

    This is the one place where texts become numbers. Words and weights are those of the rows given
    to `of`; folds, experiments and models give it their training rows, so that nothing of a test
    row is known before it is judged.

    Attributes
    ----------
    names : tuple of str
        The text columns.
    words : tuple of tuple of str
        The words of each column that stand in at least two of the rows (in one, where no word
        stands in two), 20,000 at most.
    weights : tuple of ndarray
        The inverse document frequency of each word.

    Notes
    -----
    TF-IDF as scikit-learn's ``TfidfVectorizer`` computes it, with ``sublinear_tf=True``: a word
    that stands *t* times in a text counts (1 + ln t) times its weight, and the numbers of a text
    have length 1. Words are in lower case, two letters or digits at least. A missing text has no
    words.

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
        """Learn the words of all text columns of these rows.

        Parameters
        ----------
        data : MultilabelDataset
            Training rows.

        Returns
        -------
        TextColumns
            None of them where the data has no text columns.
        """
        names = tuple(data.features[at].name for at in data.text_features)
        learnt = [_learn(column_texts(data, name)) for name in names]
        return cls(names, tuple(words for words, _ in learnt), tuple(idf for _, idf in learnt))

    def transform(self, data: MultilabelDataset) -> MultilabelDataset:
        """Put a number for each word in the place of texts.

        Parameters
        ----------
        data : MultilabelDataset
            Any rows with the columns learnt from. Words not learnt are passed over.

        Returns
        -------
        MultilabelDataset
            Its other features, and behind them the words, sparse; the data itself where there are
            no text columns.
        """
        if not self.names:
            return data
        kept = [at for at, feature in enumerate(data.features) if feature.name not in self.names]
        taken = {data.features[at].name for at in kept}
        pairs = zip(self.names, self.words, strict=True)
        titles = [f"{name}: {word}" for name, known in pairs for word in known]
        words = [Feature(_free_name(title, taken)) for title in titles]
        features = (*(data.features[at] for at in kept), *words)
        X = self.beside(data.X[:, kept], data)
        # All text columns became numbers, so other ones must not be left.
        return MultilabelDataset(
            X, data.Y, features=features, labels=data.labels, name=data.name,
            weights=data.weights, label_parents=data.label_parents,
        )  # fmt: skip

    def beside(self, X: Any, data: MultilabelDataset) -> sparse.csr_array:
        """Put the words of a data set's texts beside other columns of its rows."""
        known = zip(self.names, self.words, self.weights, strict=True)
        parts = [_weigh(column_texts(data, name), words, idf) for name, words, idf in known]
        return sparse.csr_array(sparse.hstack([sparse.csr_array(X), *parts], format="csr"))

    def wrap_model(self, model: Any, data: MultilabelDataset) -> Any:
        """Let a classifier that was fitted on words read texts.

        Parameters
        ----------
        model : estimator
            Fitted on what `apply` gave.
        data : MultilabelDataset
            The training rows as they were before.

        Returns
        -------
        TextModel
            The classifier itself where there are no text columns.
        """
        return TextModel(self, model, data.features) if self.names else model


class TextModel(ClassifierMixin, BaseEstimator):
    """A fitted classifier together with the words of the text columns it reads.

    `fit_dataset` makes one of data with text columns, and `save` stores it whole: it judges new
    rows as they come, texts and all.

    Parameters
    ----------
    texts : TextColumns
        The words, learnt from the training rows.
    model : estimator
        The classifier, fitted on numbers.
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
        # Plain values, so that a file can hold them; of texts not the training rows' own.
        self.columns = tuple(
            (f.name, f.kind, () if f.kind == "text" else f.categories, f.date_format)
            for f in features
        )

    @property
    def features(self) -> tuple[Feature, ...]:
        """The columns it was fitted on; the texts themselves are not kept."""
        return tuple(
            Feature(name, kind, known, date_format=form) for name, kind, known, form in self.columns
        )

    @property
    def n_features_in_(self) -> int:
        """Number of columns, a text being one."""
        return len(self.columns)

    @property
    def n_labels_(self) -> int | None:
        """Number of labels, where the classifier tells."""
        return getattr(self.model, "n_labels_", None)

    @property
    def classes_(self) -> Any:
        """What the classifier tells of its labels."""
        return self.model.classes_

    def fit(self, X: Any, Y: Any) -> TextModel:
        """Refuse: a model of texts is made by `fit_dataset`, from a data set."""
        raise ParameterTypeError(
            "A TextModel is fitted already. Fit another with "
            "fit_dataset(classifier, data), whose text columns become words."
        )

    def predict(self, rows: Any) -> Any:
        """Tell which labels each row has.

        Parameters
        ----------
        rows : MultilabelDataset or DataFrame
            Rows with the columns seen when fitting, found by name.

        Returns
        -------
        csr_array or ndarray of shape (n_samples, n_labels)
            As the classifier gives them.
        """
        return self.model.predict(self.read(rows))

    def predict_proba(self, rows: Any) -> Any:
        """Tell how sure it is that each row has each label.

        Parameters
        ----------
        rows : MultilabelDataset or DataFrame
            Rows with the columns seen when fitting, found by name.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            As the classifier gives them.
        """
        return self.model.predict_proba(self.read(rows))

    def read(self, rows: Any) -> Any:
        """Bring rows into the numbers the classifier was fitted on.

        Parameters
        ----------
        rows : MultilabelDataset or DataFrame
            Rows with the columns seen when fitting, found by name.

        Returns
        -------
        csr_array or ndarray of shape (n_samples, n_columns)
            Sparse where the classifier takes it.
        """
        from scumble.learn.predictions import adapt_features
        from scumble.learn.storage.columns import align_columns

        data = self._as_dataset(rows)
        others = tuple(feature for feature in self.features if feature.kind != "text")
        lacking = [name for name in self.texts.names if name not in data.feature_names]
        if lacking:
            raise DataError(
                f"{data!r} lacks the text column {lacking[0]!r} the model was fitted on. Names "
                "must be the same, order does not matter."
            )
        X = self.texts.beside(align_columns(data, others), data)
        return adapt_features(self.model, X)

    def _as_dataset(self, rows: Any) -> MultilabelDataset:
        if isinstance(rows, MultilabelDataset):
            return rows
        if not is_frame(rows):
            raise ParameterTypeError(
                "A model of texts takes a MultilabelDataset or a DataFrame with the columns "
                f"{', '.join(name for name, *_ in self.columns[:5])}. "
                f"Got {type(rows).__name__} instead."
            )
        names, _ = frame_columns(rows, caller="TextModel")
        known = [name for name, *_ in self.columns]
        others = [name for name in names if name not in known]
        return MultilabelDataset.from_frame(rows, label_columns=[], ignore=others, keep=known)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"TextModel({', '.join(self.texts.names)}: {self.model!r})"


def column_texts(data: MultilabelDataset, name: str) -> list[str]:
    """Give the texts of a column, row by row; a missing one is empty."""
    at = data.feature_names.index(name)
    feature, cells = data.features[at], get_column(data.X, at)
    if feature.kind == "date":
        raise DataError(
            f"Column {name!r} of {data!r} holds dates. Expected texts, as when fitting."
        )
    if not feature.holds_codes:  # all texts look like numbers here
        return ["" if np.isnan(number) else f"{number:.15g}" for number in cells.tolist()]
    codes = np.where(np.isnan(cells), len(feature.categories), cells).astype(np.intp)
    known = [*feature.categories, ""]
    return [known[code] for code in codes.tolist()]


def _vectorizer(**how: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, token_pattern=WORD, **how)


def _learn(texts: list[str]) -> tuple[tuple[str, ...], Array]:
    """Find the words of texts, in their order, and how much each says."""
    for fewest in (FEWEST_ROWS, 1):
        found = _vectorizer(min_df=fewest, max_features=MOST_WORDS)
        try:
            found.fit(texts)
        except ValueError:  # no word is left
            continue
        return tuple(found.get_feature_names_out().tolist()), np.asarray(found.idf_, np.float64)
    return (), np.empty(0)


def _weigh(texts: list[str], words: tuple[str, ...], weights: Array) -> sparse.csr_array:
    """Give a number for each word of each text."""
    if not words:
        return sparse.csr_array((len(texts), 0))
    ready = _vectorizer(vocabulary={word: at for at, word in enumerate(words)})
    ready.idf_ = weights
    return sparse.csr_array(ready.transform(texts))


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
